//! How the entries of a transcript follow each other: from the last one back to the first.
//!
//! Ends at what is not there, and never goes round in a circle.

use super::Unrepairable;
use super::line::Line;
use std::collections::{BTreeMap, BTreeSet};

/// The entries of the conversation as it stands, oldest first.
#[derive(Debug)]
pub struct Chain<'l, 'a> {
    pub entries: Vec<&'l Line<'a>>,
}

impl<'l, 'a> Chain<'l, 'a> {
    pub fn of(lines: &'l [Line<'a>]) -> Result<Chain<'l, 'a>, Unrepairable> {
        let mut by_id: BTreeMap<&str, Vec<&Line<'_>>> = BTreeMap::new();
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

/// What is wrong with how a file's entries are linked, wherever they stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    twice: BTreeSet<String>,
    /// Entries that follow one that is not there.
    orphans: BTreeSet<String>,
    circles: BTreeSet<String>,
}

impl Faults {
    pub fn in_words(&self) -> Vec<String> {
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

pub fn faults(lines: &[Line<'_>]) -> Faults {
    let mut found = Faults::default();
    let mut parents: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for line in lines {
        let Some(uuid) = line.uuid.as_deref() else { continue };
        if parents.insert(uuid, line.parent.as_deref()).is_some() {
            found.twice.insert(uuid.to_owned());
        }
    }
    for (uuid, parent) in &parents {
        match parent {
            Some(parent) if !parents.contains_key(parent) => found.orphans.insert((*uuid).to_owned()),
            Some(_) | None => false,
        };
    }
    found.circles = circles(&parents);
    found
}

/// Every entry from which one never comes to a beginning.
fn circles(parents: &BTreeMap<&str, Option<&str>>) -> BTreeSet<String> {
    let mut ends: BTreeSet<&str> = BTreeSet::new();
    let mut turning = BTreeSet::new();
    for start in parents.keys() {
        let (mut path, mut next) = (vec![], Some(*start));
        let mut on_path = BTreeSet::new();
        while let Some(id) = next {
            if ends.contains(id) || !parents.contains_key(id) {
                break;
            }
            if turning.contains(id) || !on_path.insert(id) {
                turning.extend(path.iter().copied());
                break;
            }
            path.push(id);
            next = parents.get(id).copied().flatten();
        }
        ends.extend(path.into_iter().filter(|id| !turning.contains(id)));
    }
    turning.into_iter().map(str::to_owned).collect()
}
