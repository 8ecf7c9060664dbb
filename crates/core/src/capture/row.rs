//! The rows that capture produces from a transcript.
//!
//! Plain data in transcript order. A turn is identified by the mark of its prompt; the store assigns its number.

use crate::deed::Commit;
use crate::event::{PromptOrigin, ToolOutcome};
use crate::id::{IdHash, SubagentId, TurnId};
use crate::piece::{ForkBase, StopReason, TokenCounts};
use crate::text::CleanText;
use crate::time::Timestamp;
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq)]
pub enum CapturedRow<'a> {
    /// The session that the file belongs to: the first row of a file.
    Opened {
        session: Cow<'a, str>,
        folder: Option<Cow<'a, str>>,
        branch: Option<Cow<'a, str>>,
        base: Option<ForkBase<'a>>,
    },
    /// Begins a turn; the rows after it belong to it.
    Turn(TurnStart<'a>),
    /// A message of the user or the agent.
    Body(CapturedMessage<'a>),
    /// Anything else that was said or done in a turn.
    Detail(CapturedDetail<'a>),
    /// The tokens of one model message.
    Usage(UsageRow<'a>),
    /// A file that the turn read or changed.
    Touched { turn: IdHash, path: String, how: FileAccess },
    /// A commit that the turn made.
    Committed { turn: IdHash, commit: Commit },
    /// The state of a turn so far; replaces the one before.
    Settled(TurnState),
    /// Rows older than `at` at position `from` or later were taken back.
    Reverted { from: u64, at: Timestamp },
    /// The rows taken back last before `at` were cut to make room; they stay, and the session got a memory of them.
    MadeRoom { at: Timestamp },
    /// All rows follow again, with what was taken back since; before that, nothing counts as taken back.
    ReadAgain,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TurnStart<'a> {
    pub mark: IdHash,
    /// The agent's id of the prompt.
    pub id: Cow<'a, str>,
    pub place: u64,
    pub at: Timestamp,
    pub origin: PromptOrigin,
    pub agent_turn: Option<TurnId>,
}

/// One message of a turn, by the user or the agent.
#[derive(Clone, Debug, PartialEq)]
pub struct CapturedMessage<'a> {
    pub turn: Option<IdHash>,
    pub mark: IdHash,
    /// The agent's id of the message.
    pub message: Cow<'a, str>,
    pub place: u64,
    pub at: Timestamp,
    pub speaker: Speaker,
    pub text: CleanText<'a>,
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Speaker as named {
        Person = "person",
        Agent = "agent",
    }
}

/// A part of a turn other than its messages.
#[derive(Clone, Debug, PartialEq)]
pub struct CapturedDetail<'a> {
    /// `None` before the first prompt and in a subagent's own file; the turn is then found by the time.
    pub turn: Option<IdHash>,
    pub mark: IdHash,
    pub place: u64,
    pub at: Timestamp,
    pub subagent: Option<SubagentId>,
    pub kind: DetailKind,
    pub tool: Option<Cow<'a, str>>,
    /// Joins an input and its output.
    pub call: Option<IdHash>,
    pub outcome: Option<ToolOutcome>,
    pub text: CleanText<'a>,
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum DetailKind as named {
        Input = "input",
        Output = "output",
        Thinking = "thinking",
        Image = "image",
        Note = "note",
        /// The summary of a compaction, which replaced the conversation so far.
        Summary = "summary",
        /// The prompt of a subagent.
        Prompt = "prompt",
        /// The answer of a subagent.
        Answer = "answer",
    }
}

/// Token usage of one model message.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageRow<'a> {
    pub turn: Option<IdHash>,
    pub message: Cow<'a, str>,
    pub model: Option<Cow<'a, str>>,
    pub tokens: TokenCounts,
    pub at: Timestamp,
    pub subagent: Option<SubagentId>,
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum FileAccess as named {
        Read = "read",
        Changed = "changed",
    }
}

/// The state of a turn so far.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnState {
    pub turn: IdHash,
    /// Time of the turn's latest piece.
    pub until: Timestamp,
    pub tools: u32,
    pub failures: u32,
    pub stopped: Option<StopReason>,
    pub line: String,
}
