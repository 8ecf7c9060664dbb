//! Resumes sessions when a usage limit ends: a process that sleeps until then and exits with the last one.
//!
//! At most one exists, by a lock that dies with it; it wakes one session at a time, by an ordinary intent.
//! The typist does the typing, and skips sessions that are paused, busy or in use by the user.

use crate::handoff::typing;
use crate::ingest::live::{self, Glance};
use crate::runtime::{Env, Failure, settings};
use crate::status::probe::SAID_WITHIN_MS;
use std::time::Duration;
use towline_core::id::Uid;
use towline_core::session::{Session, SessionState};
use towline_core::time::Timestamp;
use towline_core::typing::{IntentPurpose, IntentRequest};
use towline_core::waking::{NextWake, next};
use towline_store::lock::wait_for;
use towline_store::{IntentFilter, Store};

/// Upper bound of a sleep: machines suspend, clocks jump, and users change their settings.
const LONGEST_SLEEP_MS: i64 = 30_000;

/// Pause while an answer is expected at any moment.
const SOON_MS: u64 = 500;

/// Poll interval for the end of a typed intent.
const LOOK_MS: u64 = 200;

/// Waits and wakes until no session is left. A process that finds the lock taken leaves its session to the
/// holder, which checks again after releasing it.
pub fn watch(begun: &Env) -> Result<(), Failure> {
    let failed = |error| Failure::about("could not take the lock of those who wake", &error);
    while !matches!(look(begun)?, Todo::Nothing) {
        let Some(lock) = wait_for(&begun.home.wake_lock(), []).map_err(failed)? else { return Ok(()) };
        while step(begun)? {}
        drop(lock);
    }
    Ok(())
}

/// Returns whether something is left to wait for.
fn step(begun: &Env) -> Result<bool, Failure> {
    match look(begun)? {
        Todo::Nothing => return Ok(false),
        Todo::Sleep(ms) => rest(ms),
        Todo::Wake(session, words) => wake(begun, &session, &words)?,
    }
    Ok(true)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the end of a limit is a time, and what was typed is told by no call"
)]
fn rest(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

enum Todo {
    Nothing,
    Sleep(u64),
    Wake(Box<Session>, String),
}

/// Settings and sessions are read anew each time.
fn look(begun: &Env) -> Result<Todo, Failure> {
    let env = begun.later();
    let (config, now) = (settings(&env), env.now);
    if !config.resumes_after_limits() || !env.home.journal().exists() {
        return Ok(Todo::Nothing);
    }
    // No hook reports when a limit ends: it is read from the transcripts.
    live::seats(&env, Glance::Cheap)?;
    let Some(store) = live::apply(&env)? else { return Ok(Todo::Sleep(SOON_MS)) };
    let sessions = store.live_sessions()?;
    if sessions.iter().any(|session| is_end_awaited(session, now)) {
        return Ok(Todo::Sleep(SOON_MS));
    }
    let woken = |session: &Session| last_waking(&store, session);
    Ok(match next(&sessions, &woken, now) {
        NextWake::Nothing => Todo::Nothing,
        NextWake::Wait(at) => Todo::Sleep(at.since_ms(now).clamp(1, LONGEST_SLEEP_MS).unsigned_abs()),
        NextWake::Wake(session) => Todo::Wake(Box::new(session.clone()), config.limits.into_inner().words),
    })
}

/// Whether its transcript may still come to say when the limit ends.
fn is_end_awaited(session: &Session, now: Timestamp) -> bool {
    let is_open = session.state == SessionState::Limited && session.limited_until.is_none();
    is_open && session.seat.is_some() && now.since_ms(session.since) < SAID_WITHIN_MS
}

/// Time of the last attempt. If it cannot be read, a time in the future prevents typing on a guess.
fn last_waking(store: &Store, session: &Session) -> Option<Timestamp> {
    let wanted = IntentFilter { session: Some(&session.key), limit: u32::MAX, ..IntentFilter::default() };
    let Ok(intents) = store.intents(&wanted) else { return Some(Timestamp(i64::MAX / 2)) };
    intents
        .iter()
        .filter(|intent| intent.wish.purpose == IntentPurpose::Resume)
        .map(|intent| intent.made_at)
        .max()
}

/// Wakes one session, and returns once the outcome is known.
fn wake(begun: &Env, session: &Session, words: &str) -> Result<(), Failure> {
    let env = begun.later();
    let limit_ms = settings(&env).typing.limit_ms;
    let Some(seat) = &session.seat else { return Ok(()) };
    let wish = IntentRequest::new(seat, IntentPurpose::Resume, words, env.now.plus_ms(limit_ms));
    let wish = wish.map_err(|error| Failure::about("nothing can be typed after a usage limit", &error))?;
    let intent = typing::make(&env, &session.key, wish)?;
    let patience = settings(&env).typing.confirm_ms + limit_ms;
    let over_at = env.now.plus_ms(patience);
    while !is_over(begun, intent)? && begun.later().now < over_at {
        rest(LOOK_MS);
    }
    Ok(())
}

fn is_over(begun: &Env, intent: Uid) -> Result<bool, Failure> {
    let env = begun.later();
    let Some(store) = live::apply(&env)? else { return Ok(false) };
    let found = store.intent(intent)?;
    Ok(found.is_some_and(|intent| intent.stage.is_over()))
}
