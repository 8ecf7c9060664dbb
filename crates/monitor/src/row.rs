//! What is known of a session and shown of it: plain data, made by whoever can ask.
//!
//! Nothing here is computed from anything else but names and shares; what is not known is not there.

use towline_core::meter::Fill;
use towline_core::session::State;
use towline_core::shown::Shown;
use towline_core::time::Timestamp;
use towline_core::usage::Spent;

/// One session, or one agent of which nothing was heard yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub shown: Shown,
    pub fill: Option<Fill>,
    /// From which shares of the context on somebody is told, rising.
    pub thresholds: Vec<u8>,
    pub started_at: Option<Timestamp>,
    /// When something last happened in it.
    pub active_at: Option<Timestamp>,
    /// What it has used up, its helpers included.
    pub spent: Option<Spent>,
}

/// What is asked for of one session only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    pub folder: Option<String>,
    /// The last turns, oldest first.
    pub turns: Vec<TurnLine>,
    /// When and what, the newest first.
    pub bookmarks: Vec<(String, String)>,
    /// Whose work it goes on with, and who went on with its own, in words.
    pub inheritance: Vec<String>,
}

/// One turn in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnLine {
    pub at: String,
    /// Who asked for it.
    pub mark: char,
    pub line: String,
}

impl Row {
    pub fn of(shown: Shown) -> Row {
        Row { shown, fill: None, thresholds: vec![], started_at: None, active_at: None, spent: None }
    }

    /// What it is known by from one look to the next.
    pub fn key(&self) -> &str {
        self.shown.name()
    }

    pub fn has_ended(&self) -> bool {
        self.shown.state == State::Ended
    }

    /// What it waits for, where it waits.
    pub fn waits_for(&self) -> Option<String> {
        let reason = self.shown.state.reason()?;
        Some(match self.shown.tool.as_deref().filter(|tool| !tool.is_empty()) {
            Some(tool) => format!("{reason} for {tool}"),
            None => reason.to_owned(),
        })
    }
}
