//! What is known of a session and shown of it: plain data, made by whoever can ask.
//!
//! Nothing here is computed from anything else but names and shares; what is not known is not there.

use towline_core::meter::Fill;
use towline_core::session::State;
use towline_core::shown::Shown;
use towline_core::time::Timestamp;

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
    pub spent: Option<Spent>,
}

/// What a session has used up, its helpers included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    pub tokens: u64,
    /// How much of what was read came from the cache.
    pub cache_percent: Option<u8>,
    pub cost: Option<Cost>,
}

/// Millionths of a dollar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(pub u64);

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

impl Cost {
    /// For those who calculate on with it.
    #[expect(clippy::cast_precision_loss, reason = "a float of a dollar is as exact as anybody reads it")]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// In dollars: to the cent, and below one dollar to a tenth of a cent.
    pub fn words(self) -> String {
        let Cost(micros) = self;
        match micros {
            0 => "$0".to_owned(),
            1..1_000_000 => format!("$0.{:03}", (micros + 500).min(999_999) / 1000),
            1_000_000..1_000_000_000 => {
                let cents = (micros + 5_000) / 10_000;
                format!("${}.{:02}", cents / 100, cents % 100)
            }
            _ => format!("${}", micros / 1_000_000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_as_exact_as_it_is_small() {
        let words = [0, 499, 12_000, 999_999, 1_234_567, 99_999_999, 1_000_000_000].map(|n| Cost(n).words());
        assert_eq!(words, ["$0", "$0.000", "$0.012", "$0.999", "$1.23", "$100.00", "$1000"]);
    }
}
