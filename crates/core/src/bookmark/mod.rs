//! Bookmarks: points of a conversation to rewind to, and the rules for when one is due.
//!
//! Pure functions of the journal: the counters since the last bookmark are derived event by event, so they cannot
//! drift. This module sets no bookmark: `due` returns the decision, and a bookmark that was set is an event.

mod label;
mod record;
mod since;

pub use label::label;
pub use record::{BookmarkOrigin, BookmarkReason, CodeState, CountPrecision, NewBookmark, Threshold};
pub use since::{BookmarkCounters, RestState};

use crate::id::{SessionKey, TurnId, Uid};
use crate::time::Timestamp;

/// Instruction for the model about a marker: it has to answer, and should answer as little as possible.
pub const IGNORE_MARKER: &str = "<towline-context>\nThis prompt is a bookmark that Towline set, so that the conversation can \
    be rewound to here. Nobody asks for anything: do nothing, run no tool, answer only `ok`.\n</towline-context>";

/// A prompt of only this text is a bookmark in the agent's own list of prompts.
pub const MARKER: &str = "·";

/// A point evaluated later than this after it was reached is ignored: the journal is being replayed or is far behind.
const FRESH_MS: i64 = 60_000;

/// When a bookmark is due, and how it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookmarkRules {
    pub mode: BookmarkMode,
    pub min_tokens: u64,
    pub min_tool_calls: u32,
    /// Measured from the first to the last action of a tool or a subagent.
    pub min_seconds: u32,
    /// Number of subagents that returned.
    pub agent_burst: u32,
    pub cooldown_seconds: u32,
}

impl BookmarkRules {
    /// The same values as in `default.toml`.
    pub const USUAL: BookmarkRules = BookmarkRules {
        mode: BookmarkMode::Silent,
        min_tokens: 6_000,
        min_tool_calls: 15,
        min_seconds: 120,
        agent_burst: 3,
        cooldown_seconds: 25,
    };
}

named_enum! {
    /// How a due bookmark is set.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BookmarkMode as named {
        /// As a row in the database, invisible in the agent.
        Silent = "silent",
        /// As a marker typed into the terminal, so that the agent's own list shows it.
        Typed = "typed",
        Off = "off",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bookmark {
    pub uid: Uid,
    pub at: Timestamp,
    /// The agent's own id of the turn that the bookmark is in or follows.
    pub turn: Option<TurnId>,
    pub set: NewBookmark,
    pub context_tokens: Option<u64>,
}

/// A moment at which a bookmark may be due: a turn or a subagent has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookmarkPoint {
    pub session: SessionKey,
    /// The session's seat, if a marker can be typed there.
    pub seat: Option<String>,
    pub turn: Option<TurnId>,
    pub after_turn: u32,
    pub at: Timestamp,
    pub since: BookmarkCounters,
    /// The turn or subagents of it still run: nothing can be typed yet, and another point follows.
    pub is_midturn: bool,
}

/// The decision about a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum DueBookmark {
    Nothing,
    /// Set a silent bookmark.
    Set(BookmarkReason),
    Type(BookmarkReason),
    /// Type it at the end of the turn, which decides again: a bookmark set now would take its place there.
    Hold(BookmarkReason),
}

/// Whether a bookmark is due at this point. A session without a seat to type into gets a silent one.
pub fn due(point: &BookmarkPoint, rules: &BookmarkRules, now: Timestamp) -> DueBookmark {
    if now.since_ms(point.at) > FRESH_MS {
        return DueBookmark::Nothing;
    }
    match (rules.mode, reason(&point.since, rules, point.at), &point.seat) {
        (BookmarkMode::Off, _, _) | (_, None, _) => DueBookmark::Nothing,
        (BookmarkMode::Typed, Some(reason), Some(_)) if point.is_midturn => DueBookmark::Hold(reason),
        (BookmarkMode::Typed, Some(reason), Some(_)) => DueBookmark::Type(reason),
        (BookmarkMode::Silent, Some(reason), _) | (BookmarkMode::Typed, Some(reason), None) => {
            DueBookmark::Set(reason)
        }
    }
}

/// The first threshold that is reached. Returns `None` without activity since the last bookmark or during the cooldown;
/// the counters start from zero with each bookmark.
pub fn reason(since: &BookmarkCounters, rules: &BookmarkRules, at: Timestamp) -> Option<BookmarkReason> {
    let cooldown_ms = i64::from(rules.cooldown_seconds) * 1000;
    let is_cooling = since.last_requested_at().is_some_and(|requested| at.since_ms(requested) < cooldown_ms);
    if !since.has_activity() || is_cooling {
        return None;
    }
    let (tokens, counted) = since.tokens();
    let check = |threshold, count: u64, min: u64| {
        let counted = if threshold == Threshold::Tokens { counted } else { CountPrecision::Exactly };
        (count >= min).then_some(BookmarkReason { threshold, count, counted })
    };
    check(Threshold::Tokens, tokens, rules.min_tokens)
        .or_else(|| check(Threshold::ToolCalls, since.tool_calls.into(), rules.min_tool_calls.into()))
        .or_else(|| check(Threshold::Seconds, since.seconds(), rules.min_seconds.into()))
        .or_else(|| check(Threshold::AgentReturns, since.agent_returns.into(), rules.agent_burst.into()))
}

#[cfg(test)]
mod tests;
