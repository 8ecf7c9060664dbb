//! Context usage of an agent, by the best available number, and who is notified of it.
//!
//! Pure: reads no file and asks no agent. An estimate is marked as such and never causes a refusal.

mod guard;

pub use guard::{
    ContextStrategy, NoticeAudience, NotifiedThresholds, PLACEHOLDERS, ThresholdNotice, due, refusal,
    unknown_placeholder,
};

use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The context window that agents assume for an unknown model.
pub const USUAL_WINDOW: u64 = 200_000;

/// Context usage reported with the newest answer of a session's main thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportedContext {
    /// Tokens in the context after that answer.
    pub tokens: u64,
    /// Size of the context window, if known.
    pub window: Option<u64>,
    /// When the answer was given, if the agent reports it.
    pub at: Option<Timestamp>,
}

/// Tokens in the context and the size of its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextUsage {
    pub tokens: u64,
    pub window: u64,
    pub exact: Exactness,
    pub source: UsageSource,
}

stored_enum! {
    pub enum Exactness as named {
        Exact = "exact",
        /// One of the two numbers is a guess.
        Estimated = "estimated",
    }
}

stored_enum! {
    /// The source of a reading, in order of preference: a later source is used only if the earlier ones have none.
    #[derive(PartialOrd, Ord)]
    pub enum UsageSource as named {
        /// The agent's own status display.
        Client = "client",
        /// The newest answer in the transcript.
        Transcript = "transcript",
        /// A hook payload about the newest answer.
        Hook = "hook",
        /// An estimate from the length of the transcript.
        Length = "length",
    }
}

/// The usage state of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageMeter {
    /// The last reading and its time.
    pub last: Option<(ContextUsage, Timestamp)>,
    /// The thresholds announced so far.
    pub told: NotifiedThresholds,
    /// When the context was last compacted.
    pub compacted_at: Option<Timestamp>,
    /// The usage at that compaction, in percent.
    pub compacted_percent: Option<u8>,
}

impl ReportedContext {
    /// The used share, in whole percent.
    pub fn percent(self) -> Option<u8> {
        let window = self.window.filter(|window| *window > 0)?;
        u8::try_from((u128::from(self.tokens) * 100 / u128::from(window)).min(100)).ok()
    }
}

impl ContextUsage {
    /// A reading from the agent's own display; `None` for a window of 0.
    pub fn from_display(tokens: u64, window: u64) -> Option<ContextUsage> {
        (window > 0).then_some(ContextUsage {
            tokens,
            window,
            exact: Exactness::Exact,
            source: UsageSource::Client,
        })
    }

    /// A reading from a transcript. An unknown window is assumed to be `USUAL_WINDOW`.
    pub fn read(context: ReportedContext) -> ContextUsage {
        let window = context.window.filter(|window| *window > 0);
        let exact = if window.is_some() { Exactness::Exact } else { Exactness::Estimated };
        let window = window.unwrap_or_else(|| USUAL_WINDOW.max(context.tokens));
        ContextUsage { tokens: context.tokens, window, exact, source: UsageSource::Transcript }
    }

    /// An estimate from a transcript's size: about half of it is bookkeeping, and a token has about four bytes.
    pub fn guessed(bytes: u64) -> ContextUsage {
        let tokens = (bytes / 8).min(USUAL_WINDOW);
        ContextUsage {
            tokens,
            window: USUAL_WINDOW,
            exact: Exactness::Estimated,
            source: UsageSource::Length,
        }
    }

    /// The same window with the token count after an answer.
    pub fn answered(self, tokens: u64) -> ContextUsage {
        ContextUsage { tokens, source: UsageSource::Hook, ..self }
    }

    /// Merges this reading with an older one. A window reported by the agent itself is kept while the tokens fit in it;
    /// a length estimate never replaces a real reading.
    pub fn after(self, known: Option<ContextUsage>) -> ContextUsage {
        match known {
            Some(known) if self.source == UsageSource::Length && known.source != UsageSource::Length => known,
            Some(known) if known.exact == Exactness::Exact && self.is_less_sure_than(known) => {
                ContextUsage { window: known.window, exact: Exactness::Exact, ..self }
            }
            Some(_) | None => self,
        }
    }

    /// Other sources infer the window from the model's name, which may be wrong: the agent's own report wins.
    fn is_less_sure_than(self, known: ContextUsage) -> bool {
        let is_reported = known.source == UsageSource::Client && self.source != UsageSource::Client;
        (is_reported || self.exact == Exactness::Estimated) && self.tokens <= known.window
    }

    /// Usage in whole percent, at most 100.
    pub fn percent(self) -> u8 {
        ReportedContext { tokens: self.tokens, window: Some(self.window), at: None }.percent().unwrap_or(0)
    }

    /// Free tokens in the window.
    pub fn remaining(self) -> u64 {
        self.window.saturating_sub(self.tokens)
    }
}

impl UsageMeter {
    pub fn fill(&self) -> Option<ContextUsage> {
        self.last.map(|(fill, _)| fill)
    }

    /// Records a reading. After usage fell below a threshold, that threshold is announced again when it rises.
    /// A display that still shows the value from before a compaction is ignored.
    pub fn measured(&mut self, fill: ContextUsage, at: Timestamp) {
        let is_old = self.last.is_none() && self.compacted_percent == Some(fill.percent());
        if is_old && fill.source == UsageSource::Client {
            return;
        }
        let fill = fill.after(self.fill());
        self.told = self.told.after_change_to(fill.percent());
        self.last = Some((fill, at));
    }

    /// Records the token count after an answer; ignored while the window is unknown.
    pub fn answered(&mut self, tokens: u64, at: Timestamp) {
        if let Some(known) = self.fill() {
            self.measured(known.answered(tokens), at);
        }
    }

    /// Records a compaction: usage is unknown until the next answer, and all thresholds are announced again.
    pub fn compacted(&mut self, at: Timestamp) {
        let compacted_percent = self.fill().map(ContextUsage::percent).or(self.compacted_percent);
        *self = UsageMeter { compacted_at: Some(at), compacted_percent, ..UsageMeter::default() };
    }

    /// Whether a transcript's reading is newer than the last compaction: agents write the compaction to the file late.
    pub fn counts(&self, context: ReportedContext) -> bool {
        self.compacted_at.is_none_or(|cut| context.at.is_some_and(|at| at > cut))
    }
}

#[cfg(test)]
mod tests;
