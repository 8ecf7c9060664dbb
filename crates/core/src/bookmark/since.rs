//! What happened in a session since its last bookmark, counted event by event.
//!
//! Knows no threshold and no mode: what the numbers mean is decided elsewhere.

use super::{Counted, Reason};
use crate::event::{Event, Happening, Origin};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// How many bytes of text are about a token.
const BYTES_OF_A_TOKEN: u64 = 4;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SinceBookmark {
    /// When the last bookmark was set.
    pub set_at: Option<Timestamp>,
    /// When the marker was last to be typed, and why; none once it was seen.
    pub wanted: Option<(Timestamp, Reason)>,
    /// Whether anything was asked or done at all.
    pub happened: Happened,
    pub tool_calls: u32,
    pub agent_returns: u32,
    /// By how much the context grew, once the agent has told its size.
    pub grown_tokens: Option<u64>,
    /// How much was said and done, in bytes.
    pub bytes: u64,
    /// When a tool or a helper did something first, and last.
    pub first_at: Option<Timestamp>,
    pub last_at: Option<Timestamp>,
    /// What the session showed when a marker was typed; none once something else is asked of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rested: Option<Rest>,
}

/// A session that had finished its work: since when, and whether a person has looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rest {
    pub since: Timestamp,
    pub seen: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Happened {
    #[default]
    Nothing,
    Something,
}

impl SinceBookmark {
    /// Counts one event. `context_before` is what the context held by the last answer before it.
    pub fn take_in(&mut self, event: &Event, context_before: Option<u64>) {
        match &event.happening {
            Happening::ToolFinished { bytes, .. } => self.used_tool(event.at, *bytes),
            Happening::SubagentStopped => self.got_back_helper(event.at),
            Happening::PromptSubmitted { .. } if event.subagent.is_some() => {}
            Happening::PromptSubmitted { origin: Origin::Bookmark, .. } | Happening::BookmarkSet(_) => {
                self.begin_anew(event.at);
            }
            Happening::PromptSubmitted { prompt, .. } => self.said(prompt.as_str()),
            Happening::TurnEnded { answer: Some(answer), .. } if event.subagent.is_none() => {
                self.add_bytes(answer.as_str().len() as u64);
            }
            Happening::ModelAnswered { context_tokens } if event.subagent.is_none() => {
                self.grew(context_tokens.saturating_sub(context_before.unwrap_or(*context_tokens)));
            }
            Happening::MarkerWanted { reason } => self.wanted = Some((event.at, *reason)),
            // What else happens is neither work nor words.
            Happening::SessionStarted { .. }
            | Happening::SessionEnded { .. }
            | Happening::ToolsFinished
            | Happening::PermissionAsked { .. }
            | Happening::PermissionRefused { .. }
            | Happening::AttentionAsked { .. }
            | Happening::AttentionGiven
            | Happening::TurnEnded { .. }
            | Happening::TurnFailed { .. }
            | Happening::Interrupted
            | Happening::SubagentStarted
            | Happening::CompactionStarted { .. }
            | Happening::CompactionEnded { .. }
            | Happening::ModelAnswered { .. }
            | Happening::FolderChanged
            | Happening::TaskCompleted
            | Happening::SeatFound
            | Happening::Seen
            | Happening::BatonPassed
            | Happening::BatonDropped
            | Happening::BatonCame(_)
            | Happening::FreshAsked
            | Happening::FreshTakenBack
            | Happening::InheritanceTaken { .. }
            | Happening::InheritanceGiven { .. }
            | Happening::BookmarkPlaced { .. }
            | Happening::BookmarkDeleted { .. }
            | Happening::BookmarkRestored { .. }
            | Happening::IntentMade { .. }
            | Happening::IntentMoved { .. }
            | Happening::ContextMeasured { .. }
            | Happening::ContextAnnounced { .. }
            | Happening::MemoryGiven { .. }
            | Happening::HelperWanted { .. }
            | Happening::HandoffAsked { .. }
            | Happening::HandoffWritten { .. }
            | Happening::HopMoved { .. }
            | Happening::HandoffGiven { .. }
            | Happening::HopTold { .. }
            | Happening::Observed { .. } => {}
        }
    }

    /// Nothing has, right after a bookmark: an answer to a marker is not worth another one.
    pub fn has_happened(&self) -> bool {
        self.happened == Happened::Something
    }

    /// When a bookmark was last set, or was to be.
    pub fn acted_at(&self) -> Option<Timestamp> {
        self.set_at.max(self.wanted.map(|(at, _)| at))
    }

    /// What the agent said of its context, or what the size of all that was said and done suggests.
    pub fn tokens(&self) -> (u64, Counted) {
        match self.grown_tokens {
            Some(tokens) => (tokens, Counted::Exactly),
            None => (self.bytes / BYTES_OF_A_TOKEN, Counted::Estimated),
        }
    }

    /// From the first to the last thing that was done: time in which nobody did anything does not count.
    pub fn seconds(&self) -> u64 {
        let span = self.last_at.zip(self.first_at).map_or(0, |(last, first)| last.since_ms(first));
        span.unsigned_abs() / 1000
    }

    fn begin_anew(&mut self, at: Timestamp) {
        *self = SinceBookmark { set_at: self.set_at.max(Some(at)), ..Self::default() };
    }

    fn used_tool(&mut self, at: Timestamp, bytes: u64) {
        self.tool_calls = self.tool_calls.saturating_add(1);
        self.add_bytes(bytes);
        self.worked(at);
    }

    fn got_back_helper(&mut self, at: Timestamp) {
        self.agent_returns = self.agent_returns.saturating_add(1);
        self.worked(at);
    }

    fn grew(&mut self, tokens: u64) {
        self.grown_tokens = Some(self.grown_tokens.unwrap_or(0).saturating_add(tokens));
    }

    fn worked(&mut self, at: Timestamp) {
        self.happened = Happened::Something;
        self.first_at = Some(self.first_at.map_or(at, |first| first.min(at)));
        self.last_at = self.last_at.max(Some(at));
    }

    fn said(&mut self, prompt: &str) {
        self.happened = Happened::Something;
        self.add_bytes(prompt.len() as u64);
    }

    fn add_bytes(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
    }
}
