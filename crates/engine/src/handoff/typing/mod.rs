//! Typing into an agent's seat in a person's place: intents are made here, and one short-lived process types them.
//!
//! Whoever makes an intent does not wait for it. Whether it may be typed is decided in `core`, from what is known and seen
//! at that moment; nothing is typed twice, and nothing without its row saying so before.

mod pause;

pub use pause::{lift, pause, paused};

use crate::runtime::config::settings;
use crate::runtime::env::Env;
use crate::runtime::failure::Failure;
use crate::runtime::spawn;
use towline_core::event::{Event, Happening};
use towline_core::id::{SessionKey, Uid};
use towline_core::typing::{Intent, Rules, Stage, Wish};
use towline_store::journal::{self, AppendError, Record};

/// Accepts an intent for the session, and sees to it that somebody types it. Returns its id.
pub fn make(env: &Env, session: &SessionKey, wish: Wish) -> Result<Uid, AppendError> {
    let seat = wish.seat.clone();
    let made = event(env, session, Happening::IntentMade { wish });
    let uid = made.uid;
    journal::append(&env.home, &[Record::Event(made)])?;
    spawn::type_detached(&seat);
    Ok(uid)
}

/// What becomes of an intent, as an event of the session that it is typed into.
pub fn accept_move(
    env: &Env,
    session: &SessionKey,
    (intent, to): (&Intent, Stage),
    why: Option<String>,
) -> Result<(), Failure> {
    accept(env, [moved(env, session, (intent, to), why)])
}

pub fn moved(env: &Env, session: &SessionKey, (intent, to): (&Intent, Stage), why: Option<String>) -> Event {
    event(env, session, Happening::IntentMoved { intent: intent.uid, to, why })
}

/// All of them in one write.
pub fn accept(env: &Env, events: impl IntoIterator<Item = Event>) -> Result<(), Failure> {
    let records: Vec<Record> = events.into_iter().map(Record::Event).collect();
    journal::append(&env.home, &records).map_err(|error| Failure::new(&error).hint("Run `tow doctor`."))
}

/// What the user wants now: read anew each time, since a pause counts at the last moment too.
pub fn rules(env: &Env) -> Rules {
    let typing = settings(env).typing;
    Rules {
        enabled: typing.enabled,
        pause: paused(&env.home, env.now),
        quiet_ms: typing.quiet_ms,
        without: typing.without,
    }
}

/// An event of ours in this session.
pub fn event(env: &Env, session: &SessionKey, happening: Happening) -> Event {
    Event {
        uid: env.uid(),
        at: env.now,
        session: session.clone(),
        subagent: None,
        turn: None,
        happening,
        scene: None,
    }
}
