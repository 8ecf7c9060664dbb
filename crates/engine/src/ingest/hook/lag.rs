//! Waiting for a transcript at the end of a turn: a client tells of it a moment before it has written what the turn cost.
//!
//! Only where the next step is decided by that, which nobody has who did not ask for it; before anything is locked, and
//! never for long: then it is decided by what is there.

use super::Call;
use crate::handoff::continuing;
use std::path::Path;
use std::time::Duration;
use towline_agents::Heard;
use towline_core::event::Happening;
use towline_store::lock::pauses;
use towline_terminal::tail::last_bytes;

/// Clients write every tenth of a second; a loaded machine takes longer.
const LONGEST_MS: u64 = 500;

/// An answer longer than this is not known again, and waited for in vain.
const END: u64 = 64 * 1024;

#[expect(clippy::disallowed_methods, reason = "nobody tells of another program's writes")]
pub(super) fn wait_for_transcript(call: &Call, heard: &Heard) {
    let is_end = matches!(heard.happening, Happening::TurnEnded { .. }) && heard.subagent.is_none();
    let (true, Some(path), Some(words)) = (is_end, &heard.transcript, &heard.ending.words) else { return };
    let strategy = call.config.guard.strategy_in(heard.folder.as_deref());
    if !strategy.types() || !continuing::is_allowed(&call.env, &call.config) {
        return;
    }
    let left = call.config.deadline_ms.saturating_sub(call.env.elapsed_ms());
    for pause in pauses(Duration::from_millis(LONGEST_MS.min(left / 2))) {
        let Ok((end, _)) = last_bytes(Path::new(path), END) else { return };
        if call.agent.has_written(&end, words) {
            return;
        }
        std::thread::sleep(pause);
    }
}
