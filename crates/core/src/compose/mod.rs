//! The composer: builds the text that a session is given at its start.
//!
//! The text never exceeds the budget and is deterministic; the composer reads no store and no clock. No part of the
//! input can close the fence around the text.

mod anchor;
mod budget;
mod compaction;
mod cut;
pub mod fence;
mod frame;
mod handoff;
mod lines;
mod remembered;
pub mod tokens;
mod turns;

pub use crate::capture::Speaker;
pub use budget::ContextBudget;
pub use compaction::Compaction;
pub use fence::CUT_TO_MAKE_ROOM;
pub use remembered::{MemorySection, MemorySectionKind};

use crate::event::PromptOrigin;
use crate::id::SessionKey;
use crate::memory::SummaryDraft;
use crate::piece::StopReason;

/// Everything that a session might be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComposeInput {
    /// The session whose work is continued.
    pub past: Option<PastSession>,
    /// The turns that this session lost to a compaction. Its own past comes first: `past` is then ignored.
    pub compaction: Option<Compaction>,
    /// Memories from beside that session: finished parts, with the best items first.
    pub remembered: Vec<MemorySection>,
    /// The command line that invokes Towline in the session's environment.
    pub program: String,
}

/// An earlier session, as far as it is worth carrying over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastSession {
    pub session: SessionKey,
    /// How the work came to the new session, for the header: `/clear in the same pane`.
    pub way: String,
    pub project: Option<String>,
    pub branch: Option<String>,
    pub model: Option<String>,
    /// When it was last active, as local time for users.
    pub last_active: String,
    /// Number of turns that are worth giving: neither bookmarks nor notifications.
    pub turns_in_all: u32,
    /// The newest turns with their messages, oldest first.
    pub turns: Vec<PastTurn>,
    /// The turns before those, oldest first.
    pub older: Vec<OlderTurn>,
    /// The last answer as reported by a hook: the transcript may lag behind.
    pub answer_heard: Option<String>,
    pub handoff: Option<Handoff>,
    /// The other machine that it ran on, if any.
    pub away: Option<RemoteMachine>,
    /// Its summary, given if its messages are not on this machine.
    pub summary: Option<SummaryDraft>,
}

/// Another machine that a session ran on, and the data that is only there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteMachine {
    pub machine: String,
    /// In words, for the header; empty if everything is on this machine.
    pub missing: Vec<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastTurn {
    /// `1a2b3c4d#12`.
    pub id: String,
    pub clock: String,
    pub origin: PromptOrigin,
    pub line: String,
    pub words: Vec<TurnMessage>,
    /// Tools and kinds of details with their counts.
    pub details: Vec<(String, u32)>,
    /// How it ended, if it ended without an answer.
    pub stopped: Option<StopReason>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnMessage {
    pub speaker: Speaker,
    pub text: String,
}

/// A turn of which only the summary line is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OlderTurn {
    pub id: String,
    pub clock: String,
    pub origin: PromptOrigin,
    pub line: String,
}

/// The state that a session passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handoff {
    pub task: String,
    pub completed: String,
    pub remaining: String,
    pub key_context: String,
}

/// The text for a session, and the outcome for each part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComposedContext {
    /// Empty if there is no content, or not even room for the header.
    pub text: String,
    pub parts: Vec<ContextPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextPart {
    pub what: ContextPartKind,
    pub why: String,
    /// In the unit of the budget.
    pub size: usize,
    pub state: ContextPartState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextPartKind {
    Header,
    Handoff,
    Anchor,
    Summary,
    Turn,
    OlderLines,
    LostLines,
    Remembered(MemorySectionKind),
}

impl ContextPartKind {
    pub fn name(self) -> &'static str {
        match self {
            ContextPartKind::Header => "header",
            ContextPartKind::Handoff => "handoff",
            ContextPartKind::Anchor => "anchor",
            ContextPartKind::Summary => "summary",
            ContextPartKind::Turn => "turn",
            ContextPartKind::OlderLines => "older lines",
            ContextPartKind::LostLines => "lost lines",
            ContextPartKind::Remembered(MemorySectionKind::Pinned) => "pinned",
            ContextPartKind::Remembered(MemorySectionKind::NextSteps) => "next steps",
            ContextPartKind::Remembered(MemorySectionKind::Memories) => "memories",
            ContextPartKind::Remembered(MemorySectionKind::Index) => "index",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextPartState {
    Whole,
    Cut,
    LeftOut,
}

/// Paths of programs are rarely longer.
const MAX_PROGRAM_CHARS: usize = 200;

/// Returns the text for a session, never larger than `budget`.
pub fn compose(material: &ComposeInput, budget: ContextBudget) -> ComposedContext {
    let program = cut::one_line(&material.program, MAX_PROGRAM_CHARS);
    match (&material.compaction, &material.past) {
        (Some(compaction), _) => compaction::lost_turns(compaction, &program, budget),
        (None, Some(past)) => frame::continued_session(past, &material.remembered, &program, budget),
        (None, None) => frame::memories_only(&material.remembered, budget),
    }
}

/// Whether a turn carries information about the work.
fn is_worth_giving(origin: PromptOrigin) -> bool {
    match origin {
        PromptOrigin::Human | PromptOrigin::Command | PromptOrigin::Continuation => true,
        PromptOrigin::Notification | PromptOrigin::Bookmark => false,
    }
}

#[cfg(test)]
mod tests;
