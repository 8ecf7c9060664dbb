//! Intents to type into an agent's terminal on the user's behalf; a short-lived process types them.
//!
//! Callers do not wait for the typing. `core` decides whether an intent may be typed, from the state at that
//! moment. No intent is typed twice, and none before its row records the attempt.

mod pause;

pub use pause::{pause, paused, resume_typing};

use crate::runtime::record::{accept, event};
use crate::runtime::{Env, Failure, settings, spawn};
use towline_core::event::EventKind;
use towline_core::id::{SessionKey, Uid};
use towline_core::typing::{Intent, IntentRequest, IntentStage, TypingRules};
use towline_store::journal::{self, AppendError, JournalRecord};

/// Records an intent for the session and starts the process that types it. Returns the intent's id.
pub fn make(env: &Env, session: &SessionKey, wish: IntentRequest) -> Result<Uid, AppendError> {
    let seat = wish.seat.clone();
    let made = event(env, session, EventKind::IntentMade { wish });
    let uid = made.uid;
    journal::append(&env.home, &[JournalRecord::Event(made)])?;
    spawn::type_detached(&seat);
    Ok(uid)
}

/// Records an intent's new stage as an event of the session that it is typed into.
pub fn accept_move(
    env: &Env,
    session: &SessionKey,
    intent: &Intent,
    to: IntentStage,
    why: Option<String>,
) -> Result<(), Failure> {
    accept(env, [event(env, session, EventKind::IntentMoved { intent: intent.uid, to, why })])
}

/// The user's typing settings, read again each time: a pause counts until the last moment.
pub fn rules(env: &Env) -> TypingRules {
    let typing = settings(env).typing.into_inner();
    TypingRules {
        enabled: typing.enabled,
        pause: paused(&env.home, env.now),
        quiet_ms: typing.quiet_ms,
        without: typing.without,
    }
}
