//! Typing into an agent's seat in a person's place: intents are made here, and one short-lived process types them.
//!
//! Whoever makes an intent does not wait for it. Whether it may be typed is decided in `core`, from what is known and seen
//! at that moment; nothing is typed twice, and nothing without its row saying so before.

mod attempt;
mod hands;
mod patience;
mod pause;
mod queue;
mod sight;

pub use pause::{lift, pause, paused};
pub use queue::{forget_locks, work_off};

use crate::edge::Edge;
use crate::failure::Failure;
use crate::tell::settings;
use crate::work;
use towline_core::event::{Event, Happening};
use towline_core::id::{SessionKey, Uid};
use towline_core::typing::{Intent, Rules, Stage, Wish};
use towline_store::journal::{self, AppendError, Record};

/// Accepts an intent for the session, and sees to it that somebody types it. Returns its id.
pub fn make(edge: &Edge, session: &SessionKey, wish: Wish) -> Result<Uid, AppendError> {
    let seat = wish.seat.clone();
    let made = event(edge, session, Happening::IntentMade { wish });
    let uid = made.uid;
    journal::append(&edge.home, &[Record::Event(made)])?;
    work::type_detached(&seat);
    Ok(uid)
}

/// What becomes of an intent, as an event of the session that it is typed into.
pub fn accept_move(
    edge: &Edge,
    session: &SessionKey,
    (intent, to): (&Intent, Stage),
    why: Option<String>,
) -> Result<(), Failure> {
    accept(edge, [moved(edge, session, (intent, to), why)])
}

fn moved(edge: &Edge, session: &SessionKey, (intent, to): (&Intent, Stage), why: Option<String>) -> Event {
    event(edge, session, Happening::IntentMoved { intent: intent.uid, to, why })
}

/// All of them in one write.
fn accept(edge: &Edge, events: impl IntoIterator<Item = Event>) -> Result<(), Failure> {
    let records: Vec<Record> = events.into_iter().map(Record::Event).collect();
    journal::append(&edge.home, &records).map_err(|error| Failure::new(&error).hint("Run `tow doctor`."))
}

/// What the user wants now: read anew each time, since a pause counts at the last moment too.
pub fn rules(edge: &Edge) -> Rules {
    let typing = settings(edge).typing;
    Rules {
        enabled: typing.enabled,
        pause: paused(&edge.home, edge.now),
        quiet_ms: typing.quiet_ms,
        without: typing.without,
    }
}

/// An event of ours in this session.
pub fn event(edge: &Edge, session: &SessionKey, happening: Happening) -> Event {
    Event {
        uid: edge.uid(),
        at: edge.now,
        session: session.clone(),
        subagent: None,
        turn: None,
        happening,
        scene: None,
    }
}

#[cfg(test)]
mod tests;
