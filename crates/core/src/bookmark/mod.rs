//! Bookmarks: named points of a conversation that one may want to go back to, and when one is due.
//!
//! Pure, and all of it a function of the journal: what happened since the last bookmark is counted event by event, so no
//! counter can drift from what happened. Sets nothing itself: what is due is returned, and what was set is an event.

mod label;
mod since;

pub use label::label;
pub use since::{Rest, SinceBookmark};

use crate::id::{SessionKey, TurnId, Uid};
use crate::text::Kept;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What the model is told of a marker: it must answer something, and the less the better.
pub const IGNORE_MARKER: &str = "<towline-context>\nThis prompt is a bookmark that Towline set, so that the conversation can \
    be rewound to here. Nobody asks for anything: do nothing, run no tool, answer only `ok`.\n</towline-context>";

/// The text that, typed alone as a prompt, is a bookmark in the agent's own list.
pub const MARKER: &str = "·";

/// A point that is evaluated later than this after it was reached is no news: it is folded once more, or much too late.
const FRESH_MS: i64 = 60_000;

/// When a bookmark is due, and what is done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    pub mode: Mode,
    pub min_tokens: u64,
    pub min_tool_calls: u32,
    /// Of activity: from the first to the last thing that a tool or a helper did.
    pub min_seconds: u32,
    /// How many helpers have come back.
    pub agent_burst: u32,
    pub cooldown_seconds: u32,
}

impl Rules {
    /// What `default.toml` says too.
    pub const USUAL: Rules = Rules {
        mode: Mode::Silent,
        min_tokens: 6_000,
        min_tool_calls: 15,
        min_seconds: 120,
        agent_burst: 3,
        cooldown_seconds: 25,
    };
}

/// What is done when a bookmark is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Off,
    /// A row, and nothing that anybody sees.
    Silent,
    /// The marker is typed, so that the agent's own list shows it.
    Typed,
}

impl Mode {
    pub const ALL: [Mode; 3] = [Mode::Silent, Mode::Typed, Mode::Off];

    pub fn name(self) -> &'static str {
        match self {
            Mode::Off => "off",
            Mode::Silent => "silent",
            Mode::Typed => "typed",
        }
    }

    pub fn parse(name: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// Which threshold was reached, and by how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    pub threshold: Threshold,
    pub count: u64,
    #[serde(default, skip_serializing_if = "Counted::is_exact")]
    pub counted: Counted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Threshold {
    Tokens,
    ToolCalls,
    Seconds,
    AgentReturns,
}

impl Threshold {
    const ALL: [Threshold; 4] =
        [Threshold::Tokens, Threshold::ToolCalls, Threshold::Seconds, Threshold::AgentReturns];

    pub fn name(self) -> &'static str {
        match self {
            Threshold::Tokens => "tokens",
            Threshold::ToolCalls => "tool_calls",
            Threshold::Seconds => "seconds",
            Threshold::AgentReturns => "agent_returns",
        }
    }

    pub fn parse(name: &str) -> Option<Threshold> {
        Threshold::ALL.into_iter().find(|threshold| threshold.name() == name)
    }
}

/// How a number was come by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    #[default]
    Exactly,
    /// By the size of what was said and done, since the agent told no number.
    Estimated,
}

impl Counted {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    fn is_exact(&self) -> bool {
        *self == Counted::Exactly
    }
}

impl Reason {
    /// In words, as a list shows it.
    pub fn words(self) -> String {
        let count = self.count;
        match (self.threshold, self.counted) {
            (Threshold::Tokens, Counted::Exactly) => format!("{count} tokens"),
            (Threshold::Tokens, Counted::Estimated) => format!("about {count} tokens"),
            (Threshold::ToolCalls, _) => format!("{count} tool calls"),
            (Threshold::Seconds, _) => format!("{count} s of work"),
            (Threshold::AgentReturns, _) => format!("{count} helpers came back"),
        }
    }
}

/// How a bookmark came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Silent,
    /// The marker stands in the conversation, whoever typed it.
    Typed,
    /// A person set it by our command.
    Manual,
}

impl How {
    const ALL: [How; 3] = [How::Silent, How::Typed, How::Manual];

    pub fn name(self) -> &'static str {
        match self {
            How::Silent => "silent",
            How::Typed => "typed",
            How::Manual => "manual",
        }
    }

    pub fn parse(name: &str) -> Option<How> {
        How::ALL.into_iter().find(|how| how.name() == name)
    }
}

/// What state the code was in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    pub commit: Kept,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Kept>,
    /// Whether there was more than the commit holds, where somebody could look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
}

/// What an event says of a bookmark that was set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    pub how: How,
    /// After how many turns of the session.
    pub after_turn: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What a person called it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Kept>,
}

/// A bookmark as it is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bookmark {
    pub uid: Uid,
    pub at: Timestamp,
    /// The agent's own id of the turn it stands in or behind.
    pub turn: Option<TurnId>,
    pub set: Setting,
    pub context_tokens: Option<u64>,
}

/// A moment at which one may go back to: a turn came to its end, or a helper did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    pub session: SessionKey,
    /// Where the session sits, if a marker can be typed there.
    pub seat: Option<String>,
    pub turn: Option<TurnId>,
    pub after_turn: u32,
    pub at: Timestamp,
    pub since: SinceBookmark,
}

/// What is to be done about a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Due {
    Nothing,
    /// Set a bookmark that nobody sees.
    Set(Reason),
    /// Have the marker typed.
    Type(Reason),
}

/// Whether a bookmark is due at this point. A session in which nothing can be typed gets a silent one.
pub fn due(point: &Point, rules: &Rules, now: Timestamp) -> Due {
    if now.since_ms(point.at) > FRESH_MS {
        return Due::Nothing;
    }
    match (rules.mode, reason(&point.since, rules, point.at), &point.seat) {
        (Mode::Off, _, _) | (_, None, _) => Due::Nothing,
        (Mode::Typed, Some(reason), Some(_)) => Due::Type(reason),
        (Mode::Silent, Some(reason), _) | (Mode::Typed, Some(reason), None) => Due::Set(reason),
    }
}

/// The first threshold that is reached. Three barriers stand before it: nothing has happened since the last bookmark, the
/// cooldown is not over, and the counters began anew with it.
pub fn reason(since: &SinceBookmark, rules: &Rules, at: Timestamp) -> Option<Reason> {
    let cooldown_ms = i64::from(rules.cooldown_seconds) * 1000;
    let is_cooling = since.acted_at().is_some_and(|acted| at.since_ms(acted) < cooldown_ms);
    if !since.has_happened() || is_cooling {
        return None;
    }
    let (tokens, counted) = since.tokens();
    let reached = |threshold, count: u64, least: u64| {
        let counted = if threshold == Threshold::Tokens { counted } else { Counted::Exactly };
        (count >= least).then_some(Reason { threshold, count, counted })
    };
    reached(Threshold::Tokens, tokens, rules.min_tokens)
        .or_else(|| reached(Threshold::ToolCalls, since.tool_calls.into(), rules.min_tool_calls.into()))
        .or_else(|| reached(Threshold::Seconds, since.seconds(), rules.min_seconds.into()))
        .or_else(|| reached(Threshold::AgentReturns, since.agent_returns.into(), rules.agent_burst.into()))
}

#[cfg(test)]
mod tests;
