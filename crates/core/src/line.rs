//! One line that says what a turn did: what was asked, what was done, how it ended.
//!
//! No model, no clock, and no growing state: however long the turn, a `Digest` stays below 2 kB and costs the same
//! for every call. Texts given are data, redacted before.

use crate::deed::Deed;
use crate::event::{Origin, ToolOutcome};
use crate::piece::Stop;
use serde::{Deserialize, Serialize};

/// How long a line is at most, in characters.
pub const LONGEST: usize = 300;

/// What is known of a turn, to be continued when more of it is read.
#[derive(Default, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Digest {
    asked: String,
    done: String,
    ended: String,
}

impl Digest {
    pub fn begin(prompt: &str, _origin: Origin) -> Digest {
        Digest { asked: plain(prompt, 120), ..Digest::default() }
    }

    /// A tool was called; `call` names the call.
    pub fn did(&mut self, _call: u64, deed: &Deed<'_>) {
        if let (true, Deed::Ran { command }) = (self.done.is_empty(), deed) {
            self.done = plain(command, 60);
        }
    }

    /// A call's result. It may come late, out of order, or never.
    pub fn came_of(&mut self, _call: u64, _outcome: ToolOutcome, _output: &str) {}

    /// What the agent said; the last word counts.
    pub fn answered(&mut self, text: &str) {
        self.ended = plain(text, 100);
    }

    pub fn stopped(&mut self, how: Stop) {
        let how = match how {
            Stop::Interrupted => "interrupted",
            Stop::Failed => "failed",
            Stop::Limited => "usage limit",
        };
        how.clone_into(&mut self.ended);
    }

    /// At most `LONGEST` characters in one line.
    pub fn line(&self) -> String {
        let parts = [&self.asked, &self.done, &self.ended].into_iter().filter(|part| !part.is_empty());
        parts.map(String::as_str).collect::<Vec<_>>().join(" — ")
    }
}

fn plain(text: &str, longest: usize) -> String {
    let line = crate::escape::for_terminal(text.trim());
    line.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(longest).collect()
}
