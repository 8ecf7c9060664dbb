//! Creates the events that Towline itself records. Only appends to the journal; applies nothing.

use super::env::Env;
use super::failure::{Failure, chain};
use super::faults::record_here;
use towline_core::event::{Event, EventKind};
use towline_core::fault::FaultKind;
use towline_core::id::SessionKey;
use towline_store::journal::{self, AppendError, JournalRecord};

/// A new event of this session, at the current time.
pub fn event(env: &Env, session: &SessionKey, happening: EventKind) -> Event {
    let session = session.clone();
    Event { uid: env.uid(), at: env.now, session, subagent: None, turn: None, happening, scene: None }
}

/// Appends the events of a user's command to the journal in one write, and syncs it.
pub fn accept(env: &Env, events: impl IntoIterator<Item = Event>) -> Result<(), Failure> {
    append(env, events)?;
    sync(env);
    Ok(())
}

/// Makes sure that the journal is on the disk; a failure becomes a fault.
pub fn sync(env: &Env) {
    if let Err(error) = journal::sync(&env.home) {
        record_here(env, FaultKind::Journal, format!("could not sync the journal: {error}"));
    }
}

/// Appends the events in one write; a failure becomes a fault. Returns whether they were appended.
pub fn append_or_fault(env: &Env, events: impl IntoIterator<Item = Event>) -> bool {
    let appended = append(env, events);
    if let Err(error) = &appended {
        record_here(env, FaultKind::Journal, chain(error));
    }
    appended.is_ok()
}

fn append(env: &Env, events: impl IntoIterator<Item = Event>) -> Result<(), AppendError> {
    let records: Vec<JournalRecord> = events.into_iter().map(JournalRecord::Event).collect();
    if records.is_empty() { Ok(()) } else { journal::append(&env.home, &records) }
}
