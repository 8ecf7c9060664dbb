//! What the store tells about a past, as text that a person can check: sessions, chains, seats, turns, events.
//!
//! Reads the store as any surface would. Ids are replaced by the order in which things appeared.

use std::collections::BTreeMap;
use std::time::Duration;
use towline_core::id::SessionKey;
use towline_core::seat::Seat;
use towline_core::session::{Session, SessionTurn};
use towline_store::{DataFolder, EventRow, Store};
use towline_testkit::{Pane, TestEnv, wait};

/// Folds what is left and tells everything. Panes are called by the names given to them.
pub fn told(env: &TestEnv, panes: &[(&str, &Pane)]) -> String {
    env.tow(&["work", "--quiet"]).ok();
    let store = Store::read(&DataFolder::at(env.data_dir()), Duration::from_secs(2)).unwrap();
    let store = store.expect("nothing was ever recorded");
    assert_eq!(store.complaints().unwrap(), Vec::<String>::new());
    // Read once, and seats after them: hooks may go on meanwhile, and a seat is saved with its session.
    let sessions = store.sessions().unwrap();
    let names = Names::new(&store, &sessions, panes);
    sessions.iter().map(|session| tell_session(&store, session, &names)).collect::<Vec<_>>().join("\n")
}

/// Tells until the text fits.
#[track_caller]
pub fn wait_told(env: &TestEnv, panes: &[(&str, &Pane)], fits: impl Fn(&str) -> bool) -> String {
    wait::until_evident("the store to tell what is expected", wait::PATIENCE, || {
        let text = told(env, panes);
        if fits(&text) { Ok(text) } else { Err(text) }
    })
}

/// What things are called instead of their ids.
struct Names {
    sessions: BTreeMap<SessionKey, String>,
    seats: BTreeMap<String, String>,
}

impl Names {
    fn new(store: &Store, sessions: &[Session], panes: &[(&str, &Pane)]) -> Names {
        let numbered =
            sessions.iter().enumerate().map(|(n, session)| (session.key.clone(), format!("#{}", n + 1)));
        let call = |seat: Seat| {
            let id = seat.place.pane.clone().unwrap_or_default();
            let named = panes.iter().find(|(_, pane)| pane.id == id).map(|(name, _)| (*name).to_owned());
            let kind = seat.place.kind.name();
            (seat.place.key, named.unwrap_or_else(|| format!("a {kind} seat")))
        };
        let seats = store.seats().unwrap().into_iter().map(call).collect();
        Names { sessions: numbered.collect(), seats }
    }
}

fn tell_session(store: &Store, session: &Session, names: &Names) -> String {
    let seat = session.seat.as_ref().map_or("no seat", |key| names.seats[key].as_str());
    let after =
        session.previous.as_ref().map_or(String::new(), |key| format!(" after {}", names.sessions[key]));
    let ended = session.ended.map_or(String::new(), |(_, by)| format!(" ({by:?})"));
    let project = session.project.as_ref().map_or("?", |traces| traces.display_name());
    let head = format!(
        "{} {} {:?} by {:?} in {seat}{after}: {}{ended}, {project}, {} compactions",
        names.sessions[&session.key],
        session.key.agent,
        session.presence,
        session.started_by,
        session.state.name(),
        session.compactions,
    );
    let turns = store.hook_turns(&session.key).unwrap();
    let turns: String = turns.iter().map(tell_turn).collect();
    let events = store.events(&session.key).unwrap();
    let own = tell_events(events.iter().filter(|event| event.subagent.is_none()));
    let helpers = tell_events(events.iter().filter(|event| event.subagent.is_some()));
    let helpers = if helpers.is_empty() { helpers } else { format!("  in a subagent: {helpers}\n") };
    format!("{head}\n{turns}  {own}\n{helpers}")
}

/// A session and its helpers go on side by side: only what one of them did is in an order that can be relied on.
fn tell_events<'a>(events: impl Iterator<Item = &'a EventRow>) -> String {
    let kinds = events
        // The client repeats a dialog as a notice if nobody answers for six seconds: that depends on the machine.
        .filter(|event| event.kind != "attention_asked")
        // An empty set of memories counts as given too, from the first prompt after a process in the background has
        // created the archive: which prompt that is depends on the machine.
        .filter(|event| event.kind != "memory_given")
        .map(|event| {
            event.tool.as_ref().map_or(event.kind.clone(), |tool| format!("{}({tool})", event.kind))
        });
    kinds.collect::<Vec<_>>().join(" ")
}

fn tell_turn(turn: &SessionTurn) -> String {
    let outcome = turn.ended.map_or("open", |(_, outcome)| outcome.name());
    let prompt: String = turn.prompt.as_str().chars().take(30).collect();
    format!(
        "  turn {} {:?} {outcome}, {} tools, {} failed: {}\n",
        turn.ordinal,
        turn.origin,
        turn.tool_calls,
        turn.tool_failures,
        prompt.replace('\n', " ")
    )
}
