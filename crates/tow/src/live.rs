//! The seats as they are now: folded up to date, looked at for what no hook told, one list for every surface.
//!
//! Decides nothing: what is shown of a seat and in which order is `core`'s, and what an agent is doing is `step`'s. What
//! was seen goes through the journal like everything else.

use crate::failure::Failure;
use crate::scope::Scope;
use crate::sight;
use std::time::Duration;
use towline_core::arbiter::judge;
use towline_core::event::{Event, Happening};
use towline_core::id::SessionKey;
use towline_core::seat::Place;
use towline_core::session::Session;
use towline_core::shown::{Shown, by_urgency};
use towline_store::journal::{self, Record};
use towline_store::lock::{FoldLock, pauses};
use towline_store::{Pace, Store, StoreError};

/// How long a person waits for a fold that somebody else is doing, before they are shown what is there.
const PATIENCE: Duration = Duration::from_millis(300);

/// All seats in which a session sits, what needs a person first.
pub fn seats(scope: &Scope) -> Result<Vec<Shown>, Failure> {
    match open(scope)? {
        Some(store) => seats_of(&store).map_err(failed),
        None => Ok(vec![]),
    }
}

/// The same of a store that is open and folded.
pub fn seats_of(store: &Store) -> Result<Vec<Shown>, StoreError> {
    let mut shown: Vec<Shown> = sitting(store)?.iter().map(|(session, place)| show(session, place)).collect();
    by_urgency(&mut shown);
    Ok(shown)
}

/// The session that sits in this seat, and the place as it was found.
pub fn sitting_at(scope: &Scope, seat: &str) -> Result<(Session, Place), Failure> {
    let store = open(scope)?;
    let sitting = store.map(|store| sitting(&store)).transpose().map_err(failed)?.unwrap_or_default();
    let found = sitting.into_iter().find(|(_, place)| place.key == seat);
    found.ok_or_else(|| Failure::input(format!("nobody sits at {seat} any more")).hint("Run `tow status`."))
}

/// The store with everything folded that could be; `None` if nothing was ever recorded.
pub fn open(scope: &Scope) -> Result<Option<Store>, Failure> {
    let home = &scope.edge.home;
    if !home.journal().exists() {
        return Ok(None);
    }
    let lock = FoldLock::take_within(home, pauses(PATIENCE)).map_err(|error| {
        Failure::about(format!("could not use {}", home.folder().display()), &error).hint("Run `tow doctor`.")
    })?;
    let Some(lock) = lock else { return Store::read(home, PATIENCE).map_err(failed) };
    let has_time = || scope.edge.elapsed() < PATIENCE;
    let pace =
        Pace { has_time: &has_time, now: scope.edge.now, new_machine: scope.edge.uid(), patience: PATIENCE };
    match Store::open_and_fold(home, &lock, &pace) {
        // What is there can still be shown.
        Err(StoreError::Newer { .. } | StoreError::Busy { .. }) => {
            Store::read(home, PATIENCE).map_err(failed)
        }
        Err(error) => Err(failed(error)),
        Ok((store, _)) => {
            if observe(scope, &store)? {
                let _caught_up = store.fold(&pace).map_err(failed)?;
            }
            Ok(Some(store))
        }
    }
}

/// Looks at every seat for what no hook told, and accepts it as events. Whether there was anything.
fn observe(scope: &Scope, store: &Store) -> Result<bool, Failure> {
    let mut records = vec![];
    for (session, place) in sitting(store).map_err(failed)? {
        let verdict = judge(&session, &sight::of(&session, &place, scope.edge.now));
        if let Some(what) = verdict.observed {
            let happening = Happening::Observed { what, as_of: session.last_event_at, until: None };
            records.push(Record::Event(event(scope, session.key, happening)));
        }
    }
    accept(scope, &records)?;
    Ok(!records.is_empty())
}

/// An event that did not come from an agent.
pub fn event(scope: &Scope, session: SessionKey, happening: Happening) -> Event {
    Event {
        uid: scope.edge.uid(),
        at: scope.edge.now,
        session,
        subagent: None,
        turn: None,
        happening,
        scene: None,
    }
}

pub fn accept(scope: &Scope, records: &[Record]) -> Result<(), Failure> {
    if records.is_empty() {
        return Ok(());
    }
    journal::append(&scope.edge.home, records).map_err(|error| Failure::new(&error).hint("Run `tow doctor`."))
}

/// The sessions that sit in their seat now: one that was followed by another there is not shown.
fn sitting(store: &Store) -> Result<Vec<(Session, Place)>, StoreError> {
    let mut found = vec![];
    for session in store.live_sessions()? {
        let Some(seat) = session.seat.as_deref().map(|key| store.seat(key)).transpose()?.flatten() else {
            continue;
        };
        if seat.current.as_ref() == Some(&session.key) {
            found.push((session, seat.place));
        }
    }
    Ok(found)
}

fn show(session: &Session, place: &Place) -> Shown {
    let project = session.project.as_ref();
    Shown {
        seat: session.seat.clone().unwrap_or_default(),
        agent: session.key.agent.to_string(),
        session: session.key.to_string(),
        state: session.state,
        since: session.since,
        seen: session.seen,
        project: project.map(|traces| traces.display_name().to_owned()),
        branch: project.and_then(|traces| traces.branch.clone()),
        prompt: session.prompt.as_ref().map(|prompt| prompt.as_str().to_owned()),
        model: session.model.clone(),
        pane: place.pane.clone(),
        server: place.server.clone(),
    }
}

fn failed(error: StoreError) -> Failure {
    Failure::new(&error).hint("Run `tow doctor`.")
}
