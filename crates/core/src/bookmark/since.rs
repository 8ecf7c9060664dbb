//! Counts activity in a session since its last bookmark, event by event.
//!
//! Contains no threshold and no mode: the parent module decides what the counts mean.

use super::record::{BookmarkReason, CountPrecision};
use crate::event::{Event, EventKind, PromptOrigin};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

const BYTES_PER_TOKEN: u64 = 4;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BookmarkCounters {
    pub set_at: Option<Timestamp>,
    /// When typing the marker was last requested, and why; `None` once the marker was seen.
    pub wanted: Option<(Timestamp, BookmarkReason)>,
    /// Whether there was any prompt or tool call.
    pub happened: Activity,
    pub tool_calls: u32,
    pub agent_returns: u32,
    /// Growth of the context, once the agent has reported its size.
    pub grown_tokens: Option<u64>,
    /// Size of prompts, answers and tool calls.
    pub bytes: u64,
    /// First and last action of a tool or a subagent.
    pub first_at: Option<Timestamp>,
    pub last_at: Option<Timestamp>,
    /// The session's display state when a marker was typed; `None` after the next other prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rested: Option<RestState>,
}

/// A session that had finished its work: since when, and whether the user has looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestState {
    pub since: Timestamp,
    pub seen: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    #[default]
    Nothing,
    Something,
}

impl BookmarkCounters {
    /// Counts one event. `context_before` is the context size reported with the previous answer.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other events are neither work nor text")]
    pub fn count_event(&mut self, event: &Event, context_before: Option<u64>) {
        match &event.happening {
            EventKind::ToolFinished { bytes, .. } => {
                self.tool_calls = self.tool_calls.saturating_add(1);
                self.add_bytes(*bytes);
                self.count_action(event.at);
            }
            EventKind::SubagentStopped => {
                self.agent_returns = self.agent_returns.saturating_add(1);
                self.count_action(event.at);
            }
            EventKind::PromptSubmitted { .. } if event.subagent.is_some() => {}
            EventKind::PromptSubmitted { origin: PromptOrigin::Bookmark, .. } | EventKind::BookmarkSet(_) => {
                *self = BookmarkCounters { set_at: self.set_at.max(Some(event.at)), ..Self::default() };
            }
            EventKind::PromptSubmitted { prompt, .. } => {
                self.happened = Activity::Something;
                self.add_bytes(prompt.as_str().len() as u64);
            }
            EventKind::TurnEnded { answer: Some(answer), .. } if event.subagent.is_none() => {
                self.add_bytes(answer.as_str().len() as u64);
            }
            EventKind::ModelAnswered { context_tokens } if event.subagent.is_none() => {
                let growth = context_tokens.saturating_sub(context_before.unwrap_or(*context_tokens));
                self.grown_tokens = Some(self.grown_tokens.unwrap_or(0).saturating_add(growth));
            }
            EventKind::MarkerWanted { reason } => self.wanted = Some((event.at, *reason)),
            _ => {}
        }
    }

    /// False right after a bookmark: the answer to a marker does not justify another bookmark.
    pub fn has_activity(&self) -> bool {
        self.happened == Activity::Something
    }

    /// When a bookmark was last set or requested.
    pub fn last_requested_at(&self) -> Option<Timestamp> {
        self.set_at.max(self.wanted.map(|(at, _)| at))
    }

    /// Growth that the agent reported, or an estimate from the size in bytes.
    pub fn tokens(&self) -> (u64, CountPrecision) {
        match self.grown_tokens {
            Some(tokens) => (tokens, CountPrecision::Exactly),
            None => (self.bytes / BYTES_PER_TOKEN, CountPrecision::Estimated),
        }
    }

    /// From the first to the last action; idle time before and after does not count.
    pub fn seconds(&self) -> u64 {
        let span = self.last_at.zip(self.first_at).map_or(0, |(last, first)| last.since_ms(first));
        span.unsigned_abs() / 1000
    }

    fn count_action(&mut self, at: Timestamp) {
        self.happened = Activity::Something;
        self.first_at = Some(self.first_at.map_or(at, |first| first.min(at)));
        self.last_at = self.last_at.max(Some(at));
    }

    fn add_bytes(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
    }
}
