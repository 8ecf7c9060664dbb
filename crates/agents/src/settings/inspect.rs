//! The state of our entries in a settings file, for `tow doctor`.
//!
//! Reads only: proposes nothing and repairs nothing.

use super::apply::{self, RetryPace};
use super::json;
use super::ours::{self, EntryFault};
use super::page::OwnedFileState;
use super::plan::opened;
use super::refusal::{EditRefusal, RefusalCause};
use super::status_line::{self, StatusLineState};
use super::subject::ManagedContent;
use super::target::{HookEntry, Target};

/// The state of our entries in one settings file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inspection {
    /// Events without an entry of ours in the file.
    pub missing: Vec<&'static str>,
    /// Entries of ours that `tow install` would change or remove.
    pub stale: Vec<(FileEntry, EntryFault)>,
    pub right: Vec<FileEntry>,
    /// The key in this file that disables all hooks, if it is set.
    pub silenced_by: Option<&'static str>,
    /// The state of the status line, if the agent has one.
    pub line: Option<StatusLineState>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    pub event: String,
    /// Position of its group in the event's list.
    pub group: usize,
    /// Its position in the group.
    pub index: usize,
    /// The entry as written in the file.
    pub text: String,
}

impl Inspection {
    /// Whether `tow install` would change nothing and the agent will run the entries.
    pub fn is_up_to_date(&self) -> bool {
        self.missing.is_empty() && self.stale.is_empty() && self.silenced_by.is_none()
    }

    fn has(&self, event: &str) -> bool {
        let stale = self.stale.iter().map(|(entry, _)| entry);
        self.right.iter().chain(stale).any(|entry| entry.event == event)
    }
}

impl Target {
    /// The current state of our entries in the file.
    pub fn inspect_file(&self, pace: RetryPace) -> Result<Inspection, EditRefusal> {
        self.inspect(apply::settled_bytes(self, pace)?.as_deref())
    }

    /// Restricts the target to the events that already have an entry.
    pub fn only_existing_events(mut self, found: &Inspection) -> Self {
        self.wanted.retain(|wanted| !found.missing.contains(&wanted.event()));
        self
    }

    /// Compares the file's entries with the wanted ones.
    pub fn inspect(&self, existing: Option<&[u8]>) -> Result<Inspection, EditRefusal> {
        if let Some(script) = &self.script {
            return self.inspect_script(script.standing(existing));
        }
        let text = opened(self, existing)?;
        let line = status_line::standing(self, &text);
        let mut inspection =
            Inspection { silenced_by: silenced_by(self, &text), line, ..Inspection::default() };
        for own in ours::own_entries(self, &text) {
            let (group, index, shown) = (own.group, own.index, text[own.handler].to_owned());
            let entry = FileEntry { event: own.event.clone(), group, index, text: shown };
            let is_second = inspection.right.iter().any(|right| right.event == own.event);
            match own.fault.or(is_second.then_some(EntryFault::Duplicate)) {
                None => inspection.right.push(entry),
                Some(fault) => inspection.stale.push((entry, fault)),
            }
        }
        let events = self.all_wanted().iter().map(|wanted| wanted.event());
        inspection.missing = events.filter(|event| !inspection.has(event)).collect();
        Ok(inspection)
    }
}

impl Target {
    /// The script stands for all entries: one that the user changed is theirs, and stays.
    fn inspect_script(&self, standing: OwnedFileState) -> Result<Inspection, EditRefusal> {
        let events = || self.all_wanted().iter().map(HookEntry::event);
        let entry =
            |event: &str| FileEntry { event: event.to_owned(), group: 0, index: 0, text: String::new() };
        let mut inspection = Inspection::default();
        match standing {
            OwnedFileState::Absent => inspection.missing = events().collect(),
            OwnedFileState::Right | OwnedFileState::Changed => {
                inspection.right = events().map(entry).collect()
            }
            OwnedFileState::Outdated => {
                inspection.stale = events().map(|event| (entry(event), EntryFault::Outdated)).collect();
            }
            OwnedFileState::Foreign => return Err(self.refuse(RefusalCause::NotOurs)),
        }
        Ok(inspection)
    }
}

fn silenced_by(target: &Target, text: &str) -> Option<&'static str> {
    let key = target.off_switch?;
    let value = json::member(text, &json::root(text), key)?;
    (&text[value.value] == "true").then_some(key)
}
