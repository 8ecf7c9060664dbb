//! The parent links of a transcript's entries, from the last one back to the first.
//!
//! Stops at a missing parent, and never follows a cycle.

use super::Unrepairable;
use super::line::RepairLine;
use std::collections::{BTreeMap, BTreeSet};

/// The entries of the current conversation, oldest first.
#[derive(Debug)]
pub struct Chain<'l, 'a> {
    pub entries: Vec<&'l RepairLine<'a>>,
}

impl<'l, 'a> Chain<'l, 'a> {
    pub fn of(lines: &'l [RepairLine<'a>]) -> Result<Chain<'l, 'a>, Unrepairable> {
        let mut by_id: BTreeMap<&str, Vec<&RepairLine<'_>>> = BTreeMap::new();
        for line in lines {
            by_id.entry(line.uuid.as_deref().unwrap_or("")).or_default().push(line);
        }
        let last = lines.iter().rev().find(|line| line.uuid.is_some() && !line.is_sidechain);
        let (mut entries, mut seen) = (vec![], BTreeSet::new());
        let mut next = last.ok_or(Unrepairable::NoChain)?.uuid.as_deref();
        while let Some(lines) = next.and_then(|id| by_id.get(id)) {
            let (line, uuid) = (lines[0], next.unwrap_or(""));
            if lines.len() > 1 {
                return Err(Unrepairable::Twice { uuid: uuid.to_owned() });
            }
            if !seen.insert(uuid) {
                return Err(Unrepairable::Circle { uuid: uuid.to_owned() });
            }
            entries.push(line);
            next = line.parent.as_deref();
        }
        entries.reverse();
        if entries.len() < 2 { Err(Unrepairable::NoChain) } else { Ok(Chain { entries }) }
    }
}

/// Defects in the links of all entries of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    twice: BTreeSet<String>,
    /// Entries whose parent is missing.
    orphans: BTreeSet<String>,
    circles: BTreeSet<String>,
}

impl Faults {
    pub fn messages(&self) -> Vec<String> {
        let some =
            |set: &BTreeSet<String>, words: &str| (!set.is_empty()).then(|| format!("{} {words}", set.len()));
        let all = [
            some(&self.twice, "ids are there twice, outside the conversation"),
            some(&self.orphans, "entries follow one that is not in the file"),
            some(&self.circles, "entries outside the conversation go round in a circle"),
        ];
        all.into_iter().flatten().collect()
    }
}

pub fn faults(lines: &[RepairLine<'_>]) -> Faults {
    let mut faults = Faults::default();
    let mut parents: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for line in lines {
        let Some(uuid) = line.uuid.as_deref() else { continue };
        if parents.insert(uuid, line.parent.as_deref()).is_some() {
            faults.twice.insert(uuid.to_owned());
        }
    }
    for (uuid, parent) in &parents {
        match parent {
            Some(parent) if !parents.contains_key(parent) => faults.orphans.insert((*uuid).to_owned()),
            Some(_) | None => false,
        };
    }
    faults.circles = circles(&parents);
    faults
}

/// All entries whose parents lead into a cycle: those that no entry without a parent leads to.
fn circles(parents: &BTreeMap<&str, Option<&str>>) -> BTreeSet<String> {
    let mut children: BTreeMap<Option<&str>, Vec<&str>> = BTreeMap::new();
    for (id, parent) in parents {
        let parent = parent.filter(|parent| parents.contains_key(parent));
        children.entry(parent).or_default().push(id);
    }
    let mut open = children.remove(&None).unwrap_or_default();
    while let Some(id) = open.pop() {
        open.extend(children.remove(&Some(id)).unwrap_or_default());
    }
    children.into_values().flatten().map(str::to_owned).collect()
}
