//! How full an agent's context is, by the best number there is, and who is to hear of it.
//!
//! Pure: reads no file and asks no agent. A number that was only guessed says so, and nothing is refused because of one.

mod guard;

pub use guard::{Audience, Notice, PLACEHOLDERS, Strategy, Told, due, refusal, unknown_placeholder};

use crate::context::Context;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What agents take for the window of a model that they do not know.
pub const USUAL_WINDOW: u64 = 200_000;

/// What the context holds, and what it can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fill {
    pub tokens: u64,
    pub window: u64,
    pub exact: Exactness,
    pub source: Source,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exactness {
    Exact,
    /// One of the two numbers is a guess.
    Estimated,
}

impl Exactness {
    const ALL: [Exactness; 2] = [Exactness::Exact, Exactness::Estimated];

    pub fn name(self) -> &'static str {
        match self {
            Exactness::Exact => "exact",
            Exactness::Estimated => "estimated",
        }
    }

    /// Reads back what `name` wrote.
    pub fn parse(name: &str) -> Option<Exactness> {
        Exactness::ALL.into_iter().find(|exact| exact.name() == name)
    }
}

/// Who said so. What stands further down is asked only if nothing above it says anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The agent's own display.
    Client,
    /// The newest answer in the transcript.
    Transcript,
    /// What a hook was told of the newest answer.
    Hook,
    /// Nobody: it is guessed by how long the transcript is.
    Length,
}

impl Source {
    const ALL: [Source; 4] = [Source::Client, Source::Transcript, Source::Hook, Source::Length];

    pub fn name(self) -> &'static str {
        match self {
            Source::Client => "client",
            Source::Transcript => "transcript",
            Source::Hook => "hook",
            Source::Length => "length",
        }
    }

    /// Reads back what `name` wrote.
    pub fn parse(name: &str) -> Option<Source> {
        Source::ALL.into_iter().find(|source| source.name() == name)
    }
}

/// What a session's meter remembers beside the tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    /// Who said last what the context holds and can hold, and when.
    pub last: Option<(Fill, Timestamp)>,
    /// Who has heard of it, and up to which share.
    pub told: Told,
    /// When the context was last compacted.
    pub compacted_at: Option<Timestamp>,
    /// The share that was used then.
    pub compacted_percent: Option<u8>,
}

impl Fill {
    /// What the agent's own display says.
    pub fn shown(tokens: u64, window: u64) -> Option<Fill> {
        (window > 0).then_some(Fill { tokens, window, exact: Exactness::Exact, source: Source::Client })
    }

    /// What a transcript says. A window that nobody knows is taken for the usual one.
    pub fn read(context: Context) -> Fill {
        let known = context.window.filter(|window| *window > 0);
        let exact = if known.is_some() { Exactness::Exact } else { Exactness::Estimated };
        let window = known.unwrap_or_else(|| USUAL_WINDOW.max(context.tokens));
        Fill { tokens: context.tokens, window, exact, source: Source::Transcript }
    }

    /// What a transcript of so many bytes may come to. About half of it is bookkeeping, and a token has four letters.
    pub fn guessed(bytes: u64) -> Fill {
        let tokens = (bytes / 8).min(USUAL_WINDOW);
        Fill { tokens, window: USUAL_WINDOW, exact: Exactness::Estimated, source: Source::Length }
    }

    /// The same window after an answer that left so many tokens.
    pub fn answered(self, tokens: u64) -> Fill {
        Fill { tokens, source: Source::Hook, ..self }
    }

    /// This number in place of an older one. What the agent itself said of its window stands for as long as it can hold
    /// what is in it; a guess stands behind whatever is known.
    pub fn after(self, known: Option<Fill>) -> Fill {
        match known {
            Some(known) if self.source == Source::Length && known.source != Source::Length => known,
            Some(known) if known.exact == Exactness::Exact && self.is_less_sure_than(known) => {
                Fill { window: known.window, exact: Exactness::Exact, ..self }
            }
            Some(_) | None => self,
        }
    }

    /// An agent that was told of a model by name alone may have it with another window.
    fn is_less_sure_than(self, known: Fill) -> bool {
        let is_told = known.source == Source::Client && self.source != Source::Client;
        (is_told || self.exact == Exactness::Estimated) && self.tokens <= known.window
    }

    /// The share that is used, in whole percent, and never above all of it.
    pub fn percent(self) -> u8 {
        Context { tokens: self.tokens, window: Some(self.window), at: None }.percent().unwrap_or(0)
    }

    /// How many tokens there is room for.
    pub fn remaining(self) -> u64 {
        self.window.saturating_sub(self.tokens)
    }
}

impl Meter {
    pub fn fill(&self) -> Option<Fill> {
        self.last.map(|(fill, _)| fill)
    }

    /// Takes in a number. A share that has fallen back may be announced again when it rises.
    /// A display that still shows what there was before a compaction brings no news.
    pub fn measured(&mut self, fill: Fill, at: Timestamp) {
        let is_old = self.last.is_none() && self.compacted_percent == Some(fill.percent());
        if is_old && fill.source == Source::Client {
            return;
        }
        let fill = fill.after(self.fill());
        self.told = self.told.fallen_to(fill.percent());
        self.last = Some((fill, at));
    }

    /// An answer left so many tokens in a window that is known already, or is not known at all.
    pub fn answered(&mut self, tokens: u64, at: Timestamp) {
        if let Some(known) = self.fill() {
            self.measured(known.answered(tokens), at);
        }
    }

    /// The context was compacted: nothing is known of it until the next answer, and everything is news again.
    pub fn compacted(&mut self, at: Timestamp) {
        let compacted_percent = self.fill().map(Fill::percent).or(self.compacted_percent);
        *self = Meter { compacted_at: Some(at), compacted_percent, ..Meter::default() };
    }

    /// Whether what a transcript says still counts: agents write down only later that the context was cut.
    pub fn counts(&self, context: Context) -> bool {
        self.compacted_at.is_none_or(|cut| context.at.is_some_and(|at| at > cut))
    }
}

#[cfg(test)]
mod tests;
