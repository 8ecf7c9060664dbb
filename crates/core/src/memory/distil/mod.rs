//! Rule-based extraction of memories from a turn and of a summary from a session, without a model.
//!
//! Pure and deterministic. Invents no text: every word of a memory was said in the turn or printed by a tool, and the
//! memory has the lowest trust of its sources, and is checked for suspicious text whatever its trust. A turn without work, decisions or findings gives no memory. The phrases
//! are mostly English; other languages give fewer memories, never wrong ones.

mod cues;
mod errors;
mod learnt;
mod outside;
mod passage;
mod pasted;
mod runs;
mod source;
mod statement;
mod summary;
mod work;

pub(crate) use errors::error_line;
pub use outside::{CallInput, outside_trust};
pub use pasted::pasted_trust;
pub use source::{DistilTurn, DistilledMemory, TurnCall, TurnStep, wants_output};
pub use summary::{
    FAILING, MemoryExcerpt, SessionMaterial, SessionSummary, summary, without_suspicious_lines,
};
pub(crate) use work::CAUSE;

use crate::event::PromptOrigin;
use crate::text::distinct_by;

/// Maximum number of memories per turn.
const MOST: usize = 8;

/// Extracts the memories of a turn. `before` is the previous turn: its failures may be fixed in this one.
pub fn turn(turn: &DistilTurn<'_>, before: Option<&DistilTurn<'_>>) -> Vec<DistilledMemory> {
    if turn.origin == PromptOrigin::Bookmark {
        return vec![];
    }
    let trials = runs::trials(turn, before);
    let mut statements = statement::all(turn);
    let mut found: Vec<DistilledMemory> = vec![];
    match work::done(turn, before, &trials, &mut statements) {
        Some(work) => found.push(work),
        None => found.extend(learnt::answered(turn, &trials, &mut statements)),
    }
    found.extend(learnt::detour_memories(turn, &trials));
    found.extend(statements.into_iter().filter_map(|statement| statement.into_memory(turn)));
    let distinct = distinct_by(found, |known, memory| known.draft.title == memory.draft.title);
    distinct.into_iter().take(MOST).map(|memory| memory.examined(turn)).collect()
}

#[cfg(test)]
mod tests;
