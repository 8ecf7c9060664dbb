//! The small vocabularies of events: why a session started or ended, who prompted, how a tool or a turn ended.
//!
//! Names only; what they cause is decided elsewhere.

use serde::{Deserialize, Serialize};

/// Changes that a probe of process, transcript and screen can detect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservedChange {
    /// The agent's process has exited.
    Gone,
    /// The user stopped the turn.
    Interrupted,
    Failed,
    Limited,
    /// The user has answered: the agent works on.
    Answered,
}

stored_enum! {
    pub enum StartedBy as named {
        Startup = "startup",
        Resume = "resume",
        Clear = "clear",
        Compact = "compact",
        Fork = "fork",
        /// The start was not observed, or the agent does not tell why: then the seat tells a clear from a startup.
        Unknown = "unknown",
    }
}

stored_enum! {
    pub enum EndedBy as named {
        Clear = "clear",
        Exit = "exit",
        Other = "other",
    }
}

stored_enum! {
    pub enum PromptOrigin as named {
        Human = "human",
        Command = "command",
        /// By a background task.
        Notification = "notification",
        /// A bookmark marker: it asks nothing of the agent.
        Bookmark = "bookmark",
        /// Typed by Towline in the user's place, for an automatic continuation.
        Continuation = "continuation",
    }
}

impl PromptOrigin {
    /// Whether such a prompt asks for work, or carries information about it.
    pub fn is_work(self) -> bool {
        matches!(self, PromptOrigin::Human | PromptOrigin::Command | PromptOrigin::Continuation)
    }
}

stored_enum! {
    pub enum ToolOutcome as named {
        Done = "done",
        Failed = "failed",
        /// The user stopped the tool.
        Interrupted = "interrupted",
    }
}

stored_enum! {
    /// The kind of answer that a blocked session waits for.
    pub enum BlockReason {
        Permission = "permission",
        Question = "question",
        Elicitation = "elicitation",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnFailure {
    UsageLimit,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionTrigger {
    Manual,
    Auto,
}

stored_enum! {
    /// How a session is run.
    pub enum SessionPresence as named {
        /// The user works with it in a terminal.
        Terminal = "terminal",
        /// The user works with it in an editor or a desktop program.
        Ide = "ide",
        /// A script or an SDK runs it.
        Headless = "headless",
    }
}
