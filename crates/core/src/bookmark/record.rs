//! The facts that events record about a bookmark: how it was set, which threshold was reached, the state of the code.
//!
//! Plain data: decides nothing.

use crate::text::SafeText;
use serde::{Deserialize, Serialize};

/// The threshold that was reached, and its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookmarkReason {
    pub threshold: Threshold,
    pub count: u64,
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub counted: CountPrecision,
}

stored_enum! {
    pub enum Threshold as named {
        Tokens = "tokens",
        ToolCalls = "tool_calls",
        Seconds = "seconds",
        AgentReturns = "agent_returns",
    }
}

stored_enum! {
    /// Whether a number is exact.
    #[derive(Default)]
    pub enum CountPrecision as named {
        #[default]
        Exactly = "exactly",
        /// Computed from the size of prompts, answers and tool calls, because the agent reported no number.
        Estimated = "estimated",
    }
}

impl BookmarkReason {
    /// The text that lists show.
    pub fn label(self) -> String {
        let count = self.count;
        match (self.threshold, self.counted) {
            (Threshold::Tokens, CountPrecision::Exactly) => format!("{count} tokens"),
            (Threshold::Tokens, CountPrecision::Estimated) => format!("about {count} tokens"),
            (Threshold::ToolCalls, _) => format!("{count} tool calls"),
            (Threshold::Seconds, _) => format!("{count} s of work"),
            (Threshold::AgentReturns, _) => format!("{count} helpers came back"),
        }
    }
}

stored_enum! {
    /// How a bookmark was set.
    pub enum BookmarkOrigin as named {
        Silent = "silent",
        /// The marker is in the conversation; Towline or the user typed it.
        Typed = "typed",
        /// The user ran our command.
        Manual = "manual",
    }
}

/// The state of the working tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeState {
    pub commit: SafeText,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<SafeText>,
    /// Whether there were uncommitted changes, if that could be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
}

/// The payload of the event that sets a bookmark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewBookmark {
    pub how: BookmarkOrigin,
    /// Number of turns in the session before the bookmark.
    pub after_turn: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<BookmarkReason>,
    /// Name given by the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<SafeText>,
}
