//! The contents of a transcript in our own types: prompts, answers, tool calls and everything between them.
//!
//! Raw text, borrowed from the file: it must become `Kept` before it is written anywhere. No vendor's vocabulary and no
//! decision about which pieces to keep.

use crate::event::{PromptOrigin, ToolOutcome};
use crate::id::{SubagentId, TurnId};
use crate::time::Timestamp;
use std::borrow::Cow;

/// One entry of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptPiece<'a> {
    /// Unique within the session, and the same however often and from whichever offset the file is read. A piece
    /// with a known id replaces the stored one.
    pub id: Cow<'a, str>,
    /// Position in the conversation. Pieces of one session sort by it; pieces with equal positions keep the order in
    /// which they were read.
    pub place: u64,
    pub at: Timestamp,
    /// The agent's own id of its turn, if the file has one. Turns are delimited by prompts, not by this id: agents
    /// sometimes write one id on several turns.
    pub turn: Option<TurnId>,
    /// The subagent whose conversation it belongs to; `None` for the session's own.
    pub subagent: Option<SubagentId>,
    pub what: PieceContent<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PieceContent<'a> {
    /// The session of the file; once per file, before all other pieces.
    Opened {
        session: Cow<'a, str>,
        folder: Option<Cow<'a, str>>,
        /// The branch that was checked out when it began.
        branch: Option<Cow<'a, str>>,
        base: Option<ForkBase<'a>>,
    },
    /// Begins a turn, or steers the running one. A subagent's prompts come from its agent, never from the user.
    Prompt { text: Cow<'a, str>, origin: PromptOrigin },
    /// Text of the agent.
    Answer { text: Cow<'a, str> },
    /// The model's reasoning, as far as the client shows it.
    Thinking { text: Cow<'a, str> },
    /// `input` is as the agent wrote it: JSON, or the plain text that some tools take.
    ToolCall { call: Cow<'a, str>, tool: Cow<'a, str>, input: Cow<'a, str> },
    /// The output of the call with this id. It may come much later than the call.
    ToolResult { call: Cow<'a, str>, output: Cow<'a, str>, outcome: ToolOutcome },
    /// Records only that there was an image: its bytes and its path are not reliable.
    Image { media: Cow<'a, str>, bytes: u64 },
    /// Text that the client added itself: hook contexts, attached files, output of its own commands.
    Note { text: Cow<'a, str> },
    /// The conversation so far was replaced by this summary.
    Compacted { summary: Cow<'a, str> },
    /// The turn ended without an answer; `words` is the client's message about it, if any.
    Stopped { how: StopReason, words: Cow<'a, str> },
    /// Token usage of one model answer: once per message however often the file repeats it, and again if the file
    /// corrects it.
    Usage { message: Cow<'a, str>, model: Option<Cow<'a, str>>, tokens: TokenCounts },
    /// All older pieces at position `from` or later were reverted.
    Reverted { from: u64 },
    /// The file is read again from its start, because its lines are others now: what reverts were found before is void.
    ReadAgain,
}

impl PieceContent<'_> {
    /// Whether the piece holds something that was said or done. Structure and numbers do not.
    pub fn has_text(&self) -> bool {
        !matches!(
            self,
            PieceContent::Opened { .. }
                | PieceContent::Reverted { .. }
                | PieceContent::ReadAgain
                | PieceContent::Usage { .. }
        )
    }
}

/// The session that a conversation was forked from: its pieces before position `before` are not repeated here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkBase<'a> {
    pub session: Cow<'a, str>,
    pub before: u64,
}

stored_enum! {
    pub enum StopReason as named {
        Interrupted = "interrupted",
        Failed = "failed",
        Limited = "limited",
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// Input neither read from the cache nor written to it.
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// The part of `cache_write` with a lifetime of an hour instead of minutes.
    pub cache_write_1h: u64,
    pub output: u64,
}
