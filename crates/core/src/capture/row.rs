//! What is kept of a conversation, piece by piece.
//!
//! Plain data in the order of the transcript. A turn is known by the mark of its prompt; its number is given by whoever
//! keeps it.

use crate::deed::Commit;
use crate::event::{Origin, ToolOutcome};
use crate::id::{Mark, SubagentId, TurnId};
use crate::piece::{Base, Stop, Tokens};
use crate::text::Clean;
use crate::time::Timestamp;
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq)]
pub enum Row<'a> {
    /// Whose file it is: before all others of a file.
    Opened {
        session: Cow<'a, str>,
        folder: Option<Cow<'a, str>>,
        base: Option<Base<'a>>,
    },
    Turn(TurnBegun<'a>),
    Body(Body<'a>),
    Detail(Detail<'a>),
    Usage(UsageRow<'a>),
    Touched {
        turn: Mark,
        path: String,
        how: Touch,
    },
    Committed {
        turn: Mark,
        commit: Commit,
    },
    Settled(Settled),
    /// What is older than `at` and stands at the place `from` or behind it was taken back.
    Reverted {
        from: u64,
        at: Timestamp,
    },
    /// What was taken back last before `at` was cut to make room: the session was given the memory of it, and it stands.
    MadeRoom {
        at: Timestamp,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct TurnBegun<'a> {
    pub mark: Mark,
    /// The agent's name of the prompt.
    pub id: Cow<'a, str>,
    pub place: u64,
    pub at: Timestamp,
    pub origin: Origin,
    pub agent_turn: Option<TurnId>,
}

/// Words of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Body<'a> {
    pub turn: Option<Mark>,
    pub mark: Mark,
    /// The agent's own name of the message.
    pub message: Cow<'a, str>,
    pub place: u64,
    pub at: Timestamp,
    pub speaker: Speaker,
    pub text: Clean<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    Person,
    Agent,
}

impl Speaker {
    pub fn name(self) -> &'static str {
        match self {
            Speaker::Person => "person",
            Speaker::Agent => "agent",
        }
    }

    /// Reads back what `name` wrote.
    pub fn named(name: &str) -> Option<Speaker> {
        [Speaker::Person, Speaker::Agent].into_iter().find(|speaker| speaker.name() == name)
    }
}

/// What a turn holds beside its words.
#[derive(Clone, Debug, PartialEq)]
pub struct Detail<'a> {
    /// None before the first prompt, and in a helper's own file: whose turn it was is told by the time then.
    pub turn: Option<Mark>,
    pub mark: Mark,
    pub place: u64,
    pub at: Timestamp,
    pub subagent: Option<SubagentId>,
    pub kind: DetailKind,
    pub tool: Option<Cow<'a, str>>,
    /// What joins an input and its output.
    pub call: Option<Mark>,
    pub outcome: Option<ToolOutcome>,
    pub text: Clean<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DetailKind {
    Input,
    Output,
    Thinking,
    Image,
    Note,
    /// What replaced the conversation so far.
    Summary,
    /// What a helper was asked.
    Prompt,
    /// What a helper said.
    Answer,
}

impl DetailKind {
    pub const ALL: [DetailKind; 8] = [
        DetailKind::Input,
        DetailKind::Output,
        DetailKind::Thinking,
        DetailKind::Image,
        DetailKind::Note,
        DetailKind::Summary,
        DetailKind::Prompt,
        DetailKind::Answer,
    ];

    pub fn name(self) -> &'static str {
        match self {
            DetailKind::Input => "input",
            DetailKind::Output => "output",
            DetailKind::Thinking => "thinking",
            DetailKind::Image => "image",
            DetailKind::Note => "note",
            DetailKind::Summary => "summary",
            DetailKind::Prompt => "prompt",
            DetailKind::Answer => "answer",
        }
    }

    /// Reads back what `name` wrote.
    pub fn named(name: &str) -> Option<DetailKind> {
        DetailKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What one message of the model cost.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageRow<'a> {
    pub turn: Option<Mark>,
    pub message: Cow<'a, str>,
    pub model: Option<Cow<'a, str>>,
    pub tokens: Tokens,
    pub at: Timestamp,
    pub subagent: Option<SubagentId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touch {
    Read,
    Changed,
}

impl Touch {
    pub fn name(self) -> &'static str {
        match self {
            Touch::Read => "read",
            Touch::Changed => "changed",
        }
    }

    /// Reads back what `name` wrote.
    pub fn named(name: &str) -> Option<Touch> {
        [Touch::Read, Touch::Changed].into_iter().find(|how| how.name() == name)
    }
}

/// A turn as it stands: what happened in it so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    pub turn: Mark,
    /// When the last thing in it happened.
    pub until: Timestamp,
    pub tools: u32,
    pub failures: u32,
    pub stopped: Option<Stop>,
    pub line: String,
}
