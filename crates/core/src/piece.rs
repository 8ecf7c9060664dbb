//! What a transcript holds, in our own words: prompts, answers, and all the details between them.
//!
//! Raw text, borrowed from the file: nothing of it may be written anywhere before it has become `Kept`. No vendor's
//! vocabulary, and no decision on what is worth keeping.

use crate::event::{Origin, ToolOutcome};
use crate::id::{SubagentId, TurnId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// One thing that a transcript holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The same text for the same piece however often and from wherever the file is read, and no other's in its
    /// session. A piece that comes again under its id replaces what was there.
    pub id: Cow<'a, str>,
    /// Where in the conversation it stands: pieces of one session are in the order of their places, those of one place
    /// in the order in which they were found.
    pub place: u64,
    pub at: Timestamp,
    /// The agent's own id of the turn it belongs to, where the file says so. Prompts tell turns apart, not this: agents
    /// write one id on several turns now and then.
    pub turn: Option<TurnId>,
    /// The helper inside the session whose conversation it is part of; none for the session's own.
    pub subagent: Option<SubagentId>,
    pub what: Content<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// Whose file it is; once per file, before everything else that it holds.
    Opened {
        session: Cow<'a, str>,
        folder: Option<Cow<'a, str>>,
        base: Option<Base<'a>>,
    },
    /// Begins a turn, or steers the one that runs. A helper's are its agent's, never a person's.
    Prompt {
        text: Cow<'a, str>,
        origin: Origin,
    },
    /// What the agent said.
    Answer {
        text: Cow<'a, str>,
    },
    Thinking {
        text: Cow<'a, str>,
    },
    /// `input` is as the agent wrote it: JSON, or the plain text that some tools take.
    ToolCall {
        call: Cow<'a, str>,
        tool: Cow<'a, str>,
        input: Cow<'a, str>,
    },
    ToolResult {
        call: Cow<'a, str>,
        output: Cow<'a, str>,
        outcome: ToolOutcome,
    },
    /// Only that there was one: neither its bytes nor where it lies can be relied on.
    Image {
        media: Cow<'a, str>,
        bytes: u64,
    },
    /// What the client added to the conversation by itself: contexts of hooks, attached files, output of its own
    /// commands.
    Note {
        text: Cow<'a, str>,
    },
    /// The conversation so far was replaced by this summary.
    Compacted {
        summary: Cow<'a, str>,
    },
    /// The turn ended without an answer; `words` are the client's own about it, if it has any.
    Stopped {
        how: Stop,
        words: Cow<'a, str>,
    },
    /// What one answer of the model cost: once per message, however often the file repeats it, and once more if it
    /// corrects itself.
    Usage {
        message: Cow<'a, str>,
        model: Option<Cow<'a, str>>,
        tokens: Tokens,
    },
    /// Everything older than this piece that stands at the place `from` or behind it was taken back.
    Reverted {
        from: u64,
    },
}

/// The other session that a conversation goes on from: its pieces before the place `before` are not repeated here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base<'a> {
    pub session: Cow<'a, str>,
    pub before: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    Interrupted,
    Failed,
    Limited,
}

impl Stop {
    pub fn name(self) -> &'static str {
        match self {
            Stop::Interrupted => "interrupted",
            Stop::Failed => "failed",
            Stop::Limited => "limited",
        }
    }

    /// Reads back what `name` wrote.
    pub fn named(name: &str) -> Option<Stop> {
        [Stop::Interrupted, Stop::Failed, Stop::Limited].into_iter().find(|how| how.name() == name)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// What was neither read from the cache nor written to it.
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// Of that, what is to stay in the cache for an hour, and not for some minutes.
    pub cache_write_1h: u64,
    pub output: u64,
}
