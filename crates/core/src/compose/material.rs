//! The material of the composer: an earlier session, its turns, and memories, as the caller loads them.
//!
//! Plain data: decides nothing.

use crate::capture::Speaker;
use crate::event::PromptOrigin;
use crate::id::SessionKey;
use crate::memory::SummaryDraft;
use crate::piece::StopReason;
use crate::work::WorkState;

/// Everything that a session might be given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComposeInput {
    /// The session whose work is continued.
    pub past: Option<PastSession>,
    /// The sessions whose work led to `past`, newest first: each continued the next one.
    pub chain: Vec<PastSession>,
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
    /// The turn of its first directive, if that is older than `turns`.
    pub first: Option<PastTurn>,
    /// The newest turns with their messages, oldest first.
    pub turns: Vec<PastTurn>,
    /// The turns before those, oldest first.
    pub older: Vec<OlderTurn>,
    /// The last answer as reported by a hook: the transcript may lag behind.
    pub answer_heard: Option<String>,
    pub handoff: Option<Handoff>,
    /// Its to-do list, and what fails.
    pub work: WorkState,
    /// The other machine that it ran on, if any.
    pub away: Option<RemoteMachine>,
    /// Its summary, given if its messages are not on this machine.
    pub summary: Option<SummaryDraft>,
}

impl PastSession {
    /// A session of which nothing is known yet.
    pub fn new(session: SessionKey) -> PastSession {
        PastSession {
            session,
            way: String::new(),
            project: None,
            branch: None,
            model: None,
            last_active: String::new(),
            turns_in_all: 0,
            first: None,
            turns: vec![],
            older: vec![],
            answer_heard: None,
            handoff: None,
            work: WorkState::default(),
            away: None,
            summary: None,
        }
    }
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handoff {
    pub task: String,
    pub completed: String,
    pub remaining: String,
    pub key_context: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemorySectionKind {
    Pinned,
    NextSteps,
    Memories,
    Index,
}

/// A title and its items, best first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemorySection {
    pub kind: MemorySectionKind,
    pub title: String,
    pub items: Vec<String>,
    pub why: String,
}

/// The turns that a session had before its conversation was replaced by a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compaction {
    pub session: SessionKey,
    /// Number of lost turns that are worth giving.
    pub turns_in_all: u32,
    /// The newest of them, oldest first.
    pub turns: Vec<OlderTurn>,
}
