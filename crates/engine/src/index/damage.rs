//! Recovery from a panic inside the search library: damaged index files cause one.
//!
//! A panic ends the process: the release is built without unwinding, which would make it two megabytes larger.
//! The panic hook therefore deletes the damaged index, and the command starts again; the next update rebuilds
//! the index from the archive. Never restarts twice, and never restarts a process that holds a conversation
//! over its standard input.

use super::forget_index;
use crate::runtime::env::{Env, variable};
use crate::runtime::{faults, spawn};
use std::panic::PanicHookInfo;
use towline_core::fault::FaultKind;
use towline_search::is_in_library;

/// Set in a process that was started again.
const RESTARTED: &str = "TOWLINE_RESTARTED";

/// Installs the panic hook of commands. `can_restart` is false for commands that hold a conversation.
pub fn recover_from_damage(can_restart: bool) {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if delete_damaged_index(Env::new().as_ref()) && can_restart && variable(RESTARTED).is_none() {
            spawn::restart(RESTARTED);
        }
        report(panic);
    }));
}

/// The panic hook's action in a hook call: records the location, since the message might contain user text.
pub fn record_panic(panic: &PanicHookInfo<'_>) {
    let env = Env::new();
    if !delete_damaged_index(env.as_ref()) {
        let place =
            panic.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        faults::record(env.as_ref(), FaultKind::Internal, format!("the hook panicked{place}"));
    }
}

/// Deletes the index if this thread panicked in the search library. Returns whether it did.
fn delete_damaged_index(env: Option<&Env>) -> bool {
    let Some(env) = env.filter(|_| is_in_library()) else { return false };
    let is_deleted = forget_index(&env.home).is_ok();
    if is_deleted {
        let detail = "the search index was damaged; it is rebuilt from the archive".to_owned();
        faults::record_here(env, FaultKind::Rebuilt, detail);
    }
    is_deleted
}
