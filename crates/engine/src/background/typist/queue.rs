//! The queue of one seat: the holder of the seat's lock types its intents one after the other.
//!
//! The lock dies with its holder. An intent that a dead process had begun is never typed again: it expires.

use super::attempt::{End, attempt, await_confirmation, finish};
use super::hands::{ReachHands, open_hands};
use super::patience::Patience;
use super::sight::World;
use crate::runtime::{Env, Failure, settings};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use towline_agents::Agent;
use towline_core::typing::{Intent, IntentPurpose, IntentStage, SessionStartReport};
use towline_store::home::private_folder;
use towline_store::lock::{remove_unheld, take_removable};
use towline_store::{DataFolder, Store, StoreError};

/// Types the intents that wait for this seat, and returns when none is left.
pub fn type_pending(env: &Env, seat: &str) -> Result<(), Failure> {
    type_pending_with(env, seat, &open_hands)
}

/// A process that finds the lock taken leaves its intent to the holder, which looks again afterwards.
pub(super) fn type_pending_with(env: &Env, seat: &str, reach: ReachHands<'_>) -> Result<(), Failure> {
    let mut world = World::new(env, reach);
    while !open(&mut world, seat)?.is_empty() {
        let Some(lock) = lock(env, seat).map_err(|error| Failure::unusable(&env.home.typing(), &error))?
        else {
            return Ok(());
        };
        while let Some(intent) = next(&open(&mut world, seat)?) {
            take_up(&mut world, intent)?;
        }
        drop(lock);
    }
    Ok(())
}

/// Another process applies the journal quickly; if none can, the queue is left to the next typist.
const FOLDED_WITHIN_MS: i64 = 5_000;

fn open(world: &mut World<'_>, seat: &str) -> Result<Vec<Intent>, Failure> {
    let mut patience = Patience::until(world.env().now.plus_ms(FOLDED_WITHIN_MS));
    loop {
        if let Some(store) = world.store()? {
            return store.open_intents(seat).map_err(Failure::from);
        }
        if !patience.waits(world.env().now) {
            return Ok(vec![]);
        }
    }
}

fn lock(env: &Env, seat: &str) -> io::Result<Option<File>> {
    private_folder(&env.home.typing())?;
    take_removable(&env.home.typing_lock(seat))
}

/// Removes the locks of empty seats, unless a process still types there.
pub fn forget_locks(home: &DataFolder, store: &Store) -> Result<(), StoreError> {
    let seats = store.live_sessions()?.into_iter().filter_map(|session| session.seat);
    let needed: BTreeSet<PathBuf> = seats.map(|seat| home.typing_lock(&seat)).collect();
    let entries = fs::read_dir(home.typing()).into_iter().flatten().filter_map(Result::ok);
    let is_lock = |path: &PathBuf| path.extension().is_some_and(|end| end == "lock");
    for path in entries.map(|entry| entry.path()).filter(is_lock).filter(|path| !needed.contains(path)) {
        // A lock that cannot be removed now is retried the next time.
        let _ = remove_unheld(&path);
    }
    Ok(())
}

/// The oldest intent, unless its agent reports it only with the next prompt: then that one is typed first.
fn next(open: &[Intent]) -> Option<&Intent> {
    let first = open.first()?;
    let follows =
        |intent: &&Intent| intent.stage == IntentStage::Waiting && intent.wish.after == Some(first.uid);
    let follower = open.iter().find(follows).filter(|_| is_told_late(first));
    Some(follower.unwrap_or(first))
}

fn is_told_late(intent: &Intent) -> bool {
    let agent = Agent::from_name(intent.session.agent.as_str());
    intent.stage == IntentStage::Typed
        && intent.wish.purpose == IntentPurpose::Clear
        && agent.is_some_and(|agent| agent.starts() == SessionStartReport::WithFirstPrompt)
}

/// We hold the lock: any other process that began this intent is dead.
fn take_up(world: &mut World<'_>, intent: &Intent) -> Result<(), Failure> {
    let env = world.env();
    let typing = settings(&env).typing;
    match intent.stage {
        IntentStage::Waiting => {
            attempt(world, intent, intent.wish.expires_at.min(env.now.plus_ms(typing.limit_ms)))
        }
        IntentStage::Typing => {
            let into = intent.into.as_ref().unwrap_or(&intent.session);
            let why = "the typing process died; whether it was typed is not known, it is not typed again";
            finish(world, intent, into, End::expired(why))
        }
        IntentStage::Typed => await_confirmation(world, intent, intent.moved_at.plus_ms(typing.confirm_ms)),
        IntentStage::Confirmed | IntentStage::Refused | IntentStage::Expired | IntentStage::Dropped => Ok(()),
    }
}
