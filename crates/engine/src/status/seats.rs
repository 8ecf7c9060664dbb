//! The seats as the store has them: one list for every surface.
//!
//! Reads the store, and whether the process in a second pane of a session is still there. Applying the journal and probing
//! the seats is `ingest::live`.

use super::scan::{self, Stray};
use towline_core::seat::SeatLocation;
use towline_core::session::Session;
use towline_core::shown::{SeatView, by_urgency};
use towline_store::{Store, StoreError, shared};
use towline_terminal::process::Process;

/// How thoroughly the seats are probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glance {
    /// Cheap enough for a refresh every few seconds.
    Cheap,
    /// For a command that the user waits for.
    Thorough,
}

/// The seats of an open store whose journal is applied, without probing.
pub fn seats_of(store: &Store) -> Result<Vec<SeatView>, StoreError> {
    let sitting = sitting(store)?;
    let strays = scan::remembered(store.home(), &places(&sitting));
    let mut shown = shown(&sitting, &strays);
    by_urgency(&mut shown);
    Ok(shown)
}

pub fn places(sitting: &[(Session, SeatLocation)]) -> Vec<SeatLocation> {
    sitting.iter().map(|(_, place)| place.clone()).collect()
}

pub fn shown(sitting: &[(Session, SeatLocation)], strays: &[Stray]) -> Vec<SeatView> {
    sitting.iter().map(|(session, place)| show(session, place)).chain(strays.iter().map(scan::show)).collect()
}

/// The live sessions, as far as the store knows.
#[derive(Default)]
pub struct Seated {
    pub sitting: Vec<(Session, SeatLocation)>,
    /// Sessions whose seat another session has taken: they ended without a hook.
    pub displaced: Vec<Session>,
}

/// The seats of live sessions; a session that is open in two panes is listed twice.
pub fn sitting(store: &Store) -> Result<Vec<(Session, SeatLocation)>, StoreError> {
    let mut sitting = seated(store)?.sitting;
    let is_shared = |(session, _): &&(Session, SeatLocation)| shared::is_shared(store.home(), &session.key);
    let open_twice: Vec<Session> =
        sitting.iter().filter(is_shared).map(|(session, _)| session.clone()).collect();
    for session in open_twice {
        for key in store.seats_of(&session.key)?.into_iter().filter(|key| session.seat.as_ref() != Some(key))
        {
            let there = |place: &SeatLocation| {
                Process::read(place.pid).is_some_and(|process| process.started == place.started)
            };
            if let Some(place) = store.seat(&key)?.map(|seat| seat.place).filter(there) {
                sitting.push((Session { seat: Some(key), ..session.clone() }, place));
            }
        }
    }
    Ok(sitting)
}

pub fn seated(store: &Store) -> Result<Seated, StoreError> {
    let mut seated = Seated::default();
    for session in store.live_sessions()? {
        let Some(seat) = session.seat.as_deref().map(|key| store.seat(key)).transpose()?.flatten() else {
            continue;
        };
        match seat.current {
            Some(current) if current == session.key => seated.sitting.push((session, seat.place)),
            Some(_) => seated.displaced.push(session),
            None => {}
        }
    }
    Ok(seated)
}

pub fn show(session: &Session, place: &SeatLocation) -> SeatView {
    let project = session.project.as_ref();
    SeatView {
        seat: session.seat.clone().unwrap_or_default(),
        agent: session.key.agent.to_string(),
        session: Some(session.key.to_string()),
        state: session.state,
        by_screen: false,
        since: session.since,
        seen: session.seen,
        project: project.map(|traces| traces.display_name().to_owned()),
        branch: project.and_then(|traces| traces.branch.clone()),
        prompt: session.prompt.as_ref().map(|prompt| prompt.as_str().to_owned()),
        model: session.model.clone(),
        tool: session.asked.as_ref().map(|asked| asked.tool.as_str().to_owned()),
        subagents: session.background.max(u32::try_from(session.subagents.len()).unwrap_or(u32::MAX)),
        tasks: session.tasks,
        until: session.limited_until,
        context_percent: None,
        pane: place.pane.clone(),
        server: place.server.clone(),
    }
}
