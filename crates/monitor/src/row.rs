//! The data shown of a session, filled in by the caller.
//!
//! Derives nothing but names and percentages; unknown values are absent.

use towline_core::meter::ContextUsage;
use towline_core::session::SessionState;
use towline_core::shown::SeatView;
use towline_core::time::Timestamp;
use towline_core::usage::UsageTotal;

/// One session, or one agent that has not reported any event yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorRow {
    pub shown: SeatView,
    pub fill: Option<ContextUsage>,
    /// Context percentages at which the user is notified, ascending.
    pub thresholds: Vec<u8>,
    pub started_at: Option<Timestamp>,
    /// The time of the last event.
    pub active_at: Option<Timestamp>,
    /// Usage, subagents included.
    pub spent: Option<UsageTotal>,
}

/// Data loaded for the selected session only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionDetail {
    pub folder: Option<String>,
    /// The last turns, oldest first.
    pub turns: Vec<TurnLine>,
    /// Time and label, newest first.
    pub bookmarks: Vec<(String, String)>,
    /// The session it continues and the sessions that continue it, in words.
    pub inheritance: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnLine {
    pub at: String,
    /// The turn's origin.
    pub mark: char,
    pub line: String,
}

impl MonitorRow {
    pub fn of(shown: SeatView) -> MonitorRow {
        MonitorRow { shown, fill: None, thresholds: vec![], started_at: None, active_at: None, spent: None }
    }

    /// The key that identifies the row across reloads.
    pub fn key(&self) -> &str {
        self.shown.name()
    }

    pub fn has_ended(&self) -> bool {
        self.shown.state == SessionState::Ended
    }

    /// The reason the session waits, if it does.
    pub fn waits_for(&self) -> Option<String> {
        let reason = self.shown.state.reason()?;
        Some(match self.shown.tool.as_deref().filter(|tool| !tool.is_empty()) {
            Some(tool) => format!("{reason} for {tool}"),
            None => reason.to_owned(),
        })
    }
}
