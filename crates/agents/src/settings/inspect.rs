//! How our entries in a settings file stand, for `tow doctor`.
//!
//! Looks only: it proposes nothing and mends nothing.

use super::json;
use super::ours::{self, Fit, Sighting};
use super::plan::opened;
use super::refusal::Refusal;
use super::status_line::{self, LineStanding};
use super::target::Target;

/// The state of our entries in one settings file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inspection {
    /// Events for which no entry of ours stands in the file.
    pub missing: Vec<&'static str>,
    /// Entries of ours that `tow install` would change or remove.
    pub stale: Vec<(Entry, Fault)>,
    /// Entries that are as they should be.
    pub right: Vec<Entry>,
    /// The key in this file that silences all hooks, if it is set.
    pub silenced_by: Option<&'static str>,
    /// How the line stands that the agent draws for the person, where it has one.
    pub line: Option<LineStanding>,
}

/// One entry of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The event that it waits for.
    pub event: String,
    /// Position of its group in the event's list.
    pub group: usize,
    /// Its position in the group.
    pub index: usize,
    /// The entry as it stands in the file.
    pub text: String,
}

/// What is wrong with an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// An older form, another path or another timeout.
    Outdated,
    /// Its matcher is not the one we want: it runs too seldom, or too often.
    Confined,
    /// The event is not one that we register.
    Unwanted,
    /// A second entry for the same event.
    Duplicate,
}

impl Inspection {
    /// Whether `tow install` would change nothing and the agent is free to run what stands there.
    pub fn is_sound(&self) -> bool {
        self.missing.is_empty() && self.stale.is_empty() && self.silenced_by.is_none()
    }
}

impl Target {
    /// Compares the file's entries with the ones we want.
    pub fn inspect(&self, existing: Option<&[u8]>) -> Result<Inspection, Refusal> {
        let text = opened(self, existing)?;
        let line = status_line::standing(self, &text);
        let mut found = Inspection { silenced_by: silenced_by(self, &text), line, ..Inspection::default() };
        for seen in ours::sightings(self, &text) {
            let entry = entry(&text, &seen);
            let is_second = found.right.iter().any(|right| right.event == seen.event);
            match (seen.fit, is_second) {
                (Fit::Right, false) => found.right.push(entry),
                (Fit::Right, true) => found.stale.push((entry, Fault::Duplicate)),
                (Fit::Outdated, _) => found.stale.push((entry, Fault::Outdated)),
                (Fit::Confined, _) => found.stale.push((entry, Fault::Confined)),
                (Fit::Unwanted, _) => found.stale.push((entry, Fault::Unwanted)),
            }
        }
        found.missing =
            self.all_wanted().iter().map(|wanted| wanted.event()).filter(|event| !found.has(event)).collect();
        Ok(found)
    }
}

impl Inspection {
    fn has(&self, event: &str) -> bool {
        let stale = self.stale.iter().map(|(entry, _)| entry);
        self.right.iter().chain(stale).any(|entry| entry.event == event)
    }
}

fn silenced_by(target: &Target, text: &str) -> Option<&'static str> {
    let key = target.off_switch()?;
    let value = json::member(text, &json::root(text), key)?;
    (&text[value.value] == "true").then_some(key)
}

fn entry(text: &str, seen: &Sighting) -> Entry {
    Entry {
        event: seen.event.clone(),
        group: seen.group,
        index: seen.index,
        text: text[seen.handler.clone()].to_owned(),
    }
}
