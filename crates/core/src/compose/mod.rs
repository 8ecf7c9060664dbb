//! The composer: builds the text that a session is given with its first real prompt or after a compaction.
//!
//! The text never exceeds the budget and is deterministic; the composer reads no store and no clock. No part of the
//! input can close the fence around the text.

mod anchor;
mod budget;
mod chain;
mod compaction;
mod cut;
mod directive;
pub mod fence;
mod frame;
mod handoff;
mod items;
mod lines;
mod material;
mod opening;
mod remembered;
mod section;
mod state;
pub mod tokens;
mod turns;

pub use crate::capture::Speaker;
pub use budget::ContextBudget;
pub use directive::{
    GO_ON, SENT, directives, first as first_directive, is_greeting, is_typed, last as last_directive,
};
pub use fence::CUT_TO_MAKE_ROOM;
pub use material::{
    Compaction, ComposeInput, Handoff, MemorySection, MemorySectionKind, OlderTurn, PastSession, PastTurn,
    RemoteMachine, TurnMessage,
};
pub use section::{ComposedContext, ContextPart, ContextPartKind, ContextPartState};

/// Paths of programs are rarely longer.
const MAX_PROGRAM_CHARS: usize = 200;

/// Returns the text for a session, never larger than `budget`.
pub fn compose(material: &ComposeInput, budget: ContextBudget) -> ComposedContext {
    let program = cut::one_line(&material.program, MAX_PROGRAM_CHARS);
    match (&material.compaction, &material.past) {
        (Some(compaction), _) => compaction::compose_lost_turns(compaction, &program, budget),
        (None, Some(past)) => frame::continued_session(past, material, &program, budget),
        (None, None) => frame::memories_only(&material.remembered, budget),
    }
}

#[cfg(test)]
mod tests;
