//! Creates the events that Towline itself records. Only appends to the journal; applies nothing.

use super::env::Env;
use super::failure::{Failure, chain};
use super::faults::record_here;
use towline_core::event::{Event, EventKind};
use towline_core::fault::FaultKind;
use towline_core::id::SessionKey;
use towline_store::journal::{self, JournalRecord};

/// A new event of this session, at the current time.
pub fn event(env: &Env, session: SessionKey, happening: EventKind) -> Event {
    Event { uid: env.uid(), at: env.now, session, subagent: None, turn: None, happening, scene: None }
}

/// Appends the records to the journal in one write.
pub fn accept(env: &Env, records: &[JournalRecord]) -> Result<(), Failure> {
    if records.is_empty() {
        return Ok(());
    }
    journal::append(&env.home, records).map_err(|error| Failure::new(&error).hint("Run `tow doctor`."))
}

/// Appends the events in one write; a failure becomes a fault. Returns whether they were appended.
pub fn append_or_fault(env: &Env, events: impl IntoIterator<Item = Event>) -> bool {
    let records: Vec<JournalRecord> = events.into_iter().map(JournalRecord::Event).collect();
    let appended = if records.is_empty() { Ok(()) } else { journal::append(&env.home, &records) };
    if let Err(error) = &appended {
        record_here(env, FaultKind::Journal, chain(error));
    }
    appended.is_ok()
}
