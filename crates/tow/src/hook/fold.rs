//! Folding at the end of a hook, and what the fold makes the hook say.
//!
//! Whoever finds the lock taken leaves its event to the holder, who looks again after letting go: so no event waits
//! for longer than one fold, and no hook waits for another unless its agent needs the answer.

use super::{Call, scene};
use crate::failure::chain;
use crate::work;
use std::io;
use std::time::Duration;
use towline_core::event::{Event, Happening, Urgency};
use towline_core::fault::FaultKind;
use towline_core::reply::Reply;
use towline_store::lock::{FoldLock, pauses};
use towline_store::{Pace, Store, StoreError, journal, upkeep};

/// How often a holder looks again before it leaves the rest to the next hook.
const ROUNDS: usize = 3;

/// Folds, and returns what is to be said about it.
pub(super) fn fold(call: &Call, event: &Event) -> Reply {
    let mut reply = Reply::default();
    for round in 0..ROUNDS {
        let lock = match take_lock(call, event, round) {
            Ok(Some(lock)) => lock,
            Ok(None) => break,
            Err(error) => {
                call.fault(FaultKind::Store, format!("could not take the fold lock: {error}"));
                break;
            }
        };
        let seen = journal::unsealed_bytes(&call.edge.home);
        match fold_once(call, event, &lock) {
            Ok(said) => reply = reply.merge(said),
            Err(error) => {
                call.fault(FaultKind::Store, chain(&error));
                break;
            }
        }
        drop(lock);
        if journal::unsealed_bytes(&call.edge.home) == seen {
            break;
        }
    }
    reply
}

/// Only an agent that waits for an answer waits for the lock.
fn take_lock(call: &Call, event: &Event, round: usize) -> io::Result<Option<FoldLock>> {
    let patience = match event.happening.urgency() {
        Urgency::Answered if round == 0 => Duration::from_millis(call.config.patience_ms),
        Urgency::Answered | Urgency::Shown | Urgency::UnlessWorking | Urgency::Whenever => Duration::ZERO,
    };
    FoldLock::take_within(&call.edge.home, pauses(patience))
}

fn fold_once(call: &Call, event: &Event, lock: &FoldLock) -> Result<Reply, StoreError> {
    let patience = Duration::from_millis(call.config.patience_ms);
    let has_time = || call.edge.elapsed() < patience;
    let new_machine = call.edge.uid();
    let pace = Pace { has_time: &has_time, now: call.edge.now, new_machine, patience };
    let (store, _folded) = Store::open_and_fold(&call.edge.home, lock, &pace)?;
    let reply = reply_to(call, event, &store)?;
    find_missing_seat(call, event, &store)?;
    upkeep::shrink_if_huge(&store)?;
    if upkeep::is_due(&store, call.edge.now)? {
        work::start_detached();
    }
    Ok(reply)
}

/// A session that was met in the middle sat down unseen: a prompt is the time to look. What is found goes through the
/// journal like everything else, and is folded in the next round.
fn find_missing_seat(call: &Call, event: &Event, store: &Store) -> Result<(), StoreError> {
    if !matches!(event.happening, Happening::PromptSubmitted { .. }) || event.subagent.is_some() {
        return Ok(());
    }
    let seatless = store.session(&event.session)?.filter(|session| session.seat.is_none());
    if let Some(place) = seatless.and_then(|session| scene::own_seat(call, session.presence)) {
        call.accept_seat(event, place);
    }
    Ok(())
}

/// The one place where capabilities add what a hook says.
fn reply_to(call: &Call, event: &Event, store: &Store) -> Result<Reply, StoreError> {
    if let Happening::SessionStarted { .. } = event.happening {
        return session_started(call, store);
    }
    Ok(Reply::default())
}

/// A new session is where a person is told what went wrong while nobody was to be disturbed.
fn session_started(call: &Call, store: &Store) -> Result<Reply, StoreError> {
    upkeep::plan_expiry(store, call.edge.uid(), call.edge.now)?;
    let untold = store.tell_faults(call.edge.now)?;
    let notices = match untold.as_slice() {
        [] => vec![],
        [fault, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
            vec![format!("towline: {}{more}. Run `tow doctor`.", fault.detail)]
        }
    };
    Ok(Reply { notices, ..Reply::default() })
}
