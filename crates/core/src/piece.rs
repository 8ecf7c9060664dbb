//! What a transcript holds, in our own words: prompts, answers, and all the details between them.
//!
//! Raw text, borrowed from the file: nothing of it may be written anywhere before it has become `Kept`. No vendor's
//! vocabulary, and no decision on what is worth keeping.

use crate::event::{Origin, ToolOutcome};
use crate::id::TurnId;
use crate::time::Timestamp;
use std::borrow::Cow;

/// One thing that a transcript holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The same text for the same piece however often and from wherever the file is read, and no other's in its session.
    pub id: Cow<'a, str>,
    pub at: Timestamp,
    /// The agent's own id of the turn it belongs to, where the file says so.
    pub turn: Option<TurnId>,
    pub what: Content<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// Begins a turn, or steers the one that runs.
    Prompt { text: Cow<'a, str>, origin: Origin },
    /// What the agent said.
    Answer { text: Cow<'a, str> },
    Thinking { text: Cow<'a, str> },
    /// `input` is the agent's own JSON.
    ToolCall { call: Cow<'a, str>, tool: Cow<'a, str>, input: Cow<'a, str> },
    ToolResult { call: Cow<'a, str>, output: Cow<'a, str>, outcome: ToolOutcome },
    /// Only that there was one: neither its bytes nor where it lies can be relied on.
    Image { media: Cow<'a, str>, bytes: u64 },
    /// What the client added to the conversation by itself: contexts of hooks, reminders, output of its own commands.
    Note { text: Cow<'a, str> },
    /// The conversation so far was replaced by this summary.
    Compacted { summary: Cow<'a, str> },
    /// The turn ended without an answer.
    Stopped { how: Stop },
    /// What one answer of the model cost; said once per message, however often the file repeats it.
    Usage { message: Cow<'a, str>, model: Option<Cow<'a, str>>, tokens: Tokens },
    /// Everything behind the piece of this id was taken back.
    Reverted { to: Cow<'a, str> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Interrupted,
    Failed,
    Limited,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub output: u64,
}
