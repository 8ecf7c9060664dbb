//! Waits for the transcript at the end of a turn: clients call the hook before they write what the turn cost, and some
//! tell the last message only there.
//!
//! Only if the guard may act on that number, without a lock, and bounded: then the guard decides by what is there.

use super::{HookCall, PayloadSource};
use crate::handoff::{continuing, guard};
use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;
use towline_agents::{HookEvent, StopDetails};
use towline_core::event::EventKind;
use towline_store::lock::pauses;
use towline_store::unwritten;
use towline_terminal::tail::last_bytes;

/// Clients write every tenth of a second; a loaded machine takes longer.
const LONGEST_MS: u64 = 500;

/// A longer answer is not recognised, so the wait for it runs into the limit.
const END: u64 = 64 * 1024;

/// Returns the details of the turn's end, with the last message if only the transcript holds it.
#[expect(clippy::disallowed_methods, reason = "nobody tells of another program's writes")]
pub(super) fn wait_for_transcript<'a>(call: &HookCall, heard: &'a HookEvent) -> Cow<'a, StopDetails> {
    let ending = Cow::Borrowed(&heard.ending);
    let is_end = matches!(heard.happening, EventKind::TurnEnded { .. }) && heard.subagent.is_none();
    let is_told = heard.ending.words.is_some() || call.agent.keeps_last_message();
    let Some(path) = heard.transcript.as_ref().filter(|_| is_end && is_told && !heard.is_private) else {
        return ending;
    };
    if call.source == PayloadSource::Host || !is_needed(call, heard) {
        return ending;
    }
    for pause in pauses(Duration::from_millis(LONGEST_MS.min(call.left_ms() / 2))) {
        let end = match last_bytes(Path::new(path), END) {
            Ok((end, _)) => end,
            // Under load, a client makes the transcript only after the end of the first turn.
            Err(error) if error.kind() == ErrorKind::NotFound && !is_unwritten(call, heard) => Vec::new(),
            Err(_) => return ending,
        };
        match &heard.ending.words {
            Some(words) if call.agent.has_written(&end, words) => return ending,
            Some(_) => {}
            None => {
                if let Some(read) = call.agent.turn_ending(&end, &heard.ending) {
                    return Cow::Owned(read);
                }
            }
        }
        std::thread::sleep(pause);
    }
    if !Path::new(path).exists() {
        unwritten::note(&call.env.home, &heard.session);
    }
    ending
}

/// Whether there is no use in waiting for the file itself: some sessions never have one.
fn is_unwritten(call: &HookCall, heard: &HookEvent) -> bool {
    unwritten::was_awaited(&call.env.home, &heard.session)
}

/// For a hop that may begin, or for a notice that would otherwise come one turn late.
fn is_needed(call: &HookCall, heard: &HookEvent) -> bool {
    let types = call.config.guard.strategy_in(heard.folder.as_deref()).types();
    (types && continuing::is_allowed(&call.env, &call.config))
        || guard::is_near(&call.env, &call.config, heard)
}
