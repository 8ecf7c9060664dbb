//! Waits for the transcript at the end of a turn: clients call the hook before they write what the turn cost.
//!
//! Only if the guard may act on that number, without a lock, and bounded: then the guard decides by what is there.

use super::{HookCall, PayloadSource};
use crate::handoff::{continuing, guard};
use std::path::Path;
use std::time::Duration;
use towline_agents::HookEvent;
use towline_core::event::EventKind;
use towline_store::lock::pauses;
use towline_terminal::tail::last_bytes;

/// Clients write every tenth of a second; a loaded machine takes longer.
const LONGEST_MS: u64 = 500;

/// A longer answer is not recognised, so the wait for it runs into the limit.
const END: u64 = 64 * 1024;

#[expect(clippy::disallowed_methods, reason = "nobody tells of another program's writes")]
pub(super) fn wait_for_transcript(call: &HookCall, heard: &HookEvent) {
    let is_end = matches!(heard.happening, EventKind::TurnEnded { .. }) && heard.subagent.is_none();
    let (true, Some(path), Some(words)) = (is_end, &heard.transcript, &heard.ending.words) else { return };
    if call.source == PayloadSource::Host || !is_needed(call, heard) {
        return;
    }
    for pause in pauses(Duration::from_millis(LONGEST_MS.min(call.left_ms() / 2))) {
        let Ok((end, _)) = last_bytes(Path::new(path), END) else { return };
        if call.agent.has_written(&end, words) {
            return;
        }
        std::thread::sleep(pause);
    }
}

/// For a hop that may begin, or for a notice that would otherwise come one turn late.
fn is_needed(call: &HookCall, heard: &HookEvent) -> bool {
    let types = call.config.guard.strategy_in(heard.folder.as_deref()).types();
    (types && continuing::is_allowed(&call.env, &call.config))
        || guard::is_near(&call.env, &call.config, heard)
}
