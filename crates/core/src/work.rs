//! The state of a session's work as of its last captured piece: its to-do list, and the tests and builds that fail.
//!
//! Bounded, and kept up to date while a transcript is captured; texts must be redacted before they come here. It states only
//! what the transcript states: in doubt an entry is dropped, because a state that has become false misleads.

use crate::line::words::{TextLimit, plain};
use crate::redact::redact;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

const ITEM: TextLimit = TextLimit { characters: 140, bytes: 400 };
const ID: TextLimit = TextLimit { characters: 24, bytes: 60 };
const MOST_ITEMS: usize = 40;
const MOST_FAILING: usize = 4;

/// A change of the agent's own to-do list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanChange<'a> {
    /// The list was only read, or its change is unknown.
    None,
    /// The whole list, in order.
    Replaced(Vec<(Cow<'a, str>, PlanStatus)>),
    /// One more item. The result of the call names it by a number: `Task #3 created`.
    Added(Cow<'a, str>),
    /// A change of the item with this number.
    Updated { id: Cow<'a, str>, text: Option<Cow<'a, str>>, status: Option<PlanStatus> },
}

impl PlanChange<'_> {
    /// Clones the borrowed text.
    pub fn into_owned(self) -> PlanChange<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        match self {
            PlanChange::None => PlanChange::None,
            PlanChange::Replaced(items) => {
                PlanChange::Replaced(items.into_iter().map(|(text, status)| (own(text), status)).collect())
            }
            PlanChange::Added(text) => PlanChange::Added(own(text)),
            PlanChange::Updated { id, text, status } => {
                PlanChange::Updated { id: own(id), text: text.map(own), status }
            }
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    #[default]
    Open,
    InProgress,
    Done,
    Dropped,
}

impl PlanStatus {
    /// Parses the words that agents use.
    pub fn named(word: &str) -> Option<PlanStatus> {
        match word {
            "pending" | "open" | "not_started" => Some(PlanStatus::Open),
            "in_progress" => Some(PlanStatus::InProgress),
            "completed" | "done" => Some(PlanStatus::Done),
            "deleted" | "cancelled" => Some(PlanStatus::Dropped),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanItem {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    id: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub status: PlanStatus,
}

/// A test or build that failed when it was last run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailingRun {
    pub command: String,
    /// Numbers of passed and failed tests, if the output stated them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<(u32, u32)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl FailingRun {
    /// `` `make smoke`: 3 of 12 failed (SSL required)``.
    pub fn describe(&self) -> String {
        let outcome = match self.tests {
            Some((passed, failed)) if failed > 0 => {
                format!("{failed} of {} failed", passed.saturating_add(failed))
            }
            _ => "failed".to_owned(),
        };
        let error = self.error.as_ref().map(|error| format!(" ({error})")).unwrap_or_default();
        format!("`{}`: {outcome}{error}", self.command)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkState {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    plan: Vec<PlanItem>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failing: Vec<FailingRun>,
    /// The position of the last piece that changed it.
    #[serde(skip_serializing_if = "crate::is_default")]
    place: u64,
}

impl WorkState {
    pub fn is_empty(&self) -> bool {
        self.plan.is_empty() && self.failing.is_empty()
    }

    /// The list with at least one open item, in its own order; empty if all is done.
    pub fn plan(&self) -> &[PlanItem] {
        if self.open_items().next().is_some() { &self.plan } else { &[] }
    }

    /// The item that is worked on, then those after it.
    pub fn open_items(&self) -> impl Iterator<Item = &PlanItem> {
        let with = |status| self.plan.iter().filter(move |item| item.status == status);
        with(PlanStatus::InProgress).chain(with(PlanStatus::Open))
    }

    pub fn failing(&self) -> &[FailingRun] {
        &self.failing
    }

    pub(crate) fn change_plan(&mut self, change: &PlanChange<'_>, place: u64) {
        match change {
            PlanChange::None | PlanChange::Added(_) => return,
            PlanChange::Replaced(items) => {
                let item = |(text, status): &(Cow<'_, str>, PlanStatus)| item("", text, *status);
                self.plan = items.iter().take(MOST_ITEMS).map(item).collect();
            }
            PlanChange::Updated { id, text, status } => {
                for known in self.plan.iter_mut().filter(|known| !known.id.is_empty() && known.id == *id) {
                    known.status = status.unwrap_or(known.status);
                    if let Some(text) = text {
                        known.text = item("", text, known.status).text;
                    }
                }
            }
        }
        self.plan.retain(|item| !item.text.is_empty() && item.status != PlanStatus::Dropped);
        self.place = self.place.max(place);
    }

    /// Adds an item that the result of its call named. A finished list ends where a new one begins.
    pub(crate) fn add_item(&mut self, text: &str, result: &str, place: u64) {
        let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
        let Some(id) = result.split_once('#').map(|(_, rest)| digits(rest)).filter(|id| !id.is_empty())
        else {
            return;
        };
        if self.open_items().next().is_none() {
            self.plan.clear();
        }
        self.plan.retain(|known| known.id != id);
        if self.plan.len() < MOST_ITEMS {
            self.plan.push(item(&id, text, PlanStatus::Open));
        }
        self.place = self.place.max(place);
    }

    pub(crate) fn failed(&mut self, run: FailingRun, place: u64) {
        self.failing.retain(|known| !is_same_trial(&known.command, &run.command));
        self.failing.push(run);
        if self.failing.len() > MOST_FAILING {
            self.failing.remove(0);
        }
        self.place = self.place.max(place);
    }

    pub(crate) fn passed(&mut self, command: &str, place: u64) {
        let before = self.failing.len();
        self.failing.retain(|known| !is_same_trial(&known.command, command));
        if self.failing.len() < before {
            self.place = self.place.max(place);
        }
    }

    /// Drops everything if pieces that changed it were taken back: the state before them is not known.
    pub(crate) fn revert(&mut self, from: u64) {
        if self.place >= from {
            *self = WorkState::default();
        }
    }
}

fn item(id: &str, text: &str, status: PlanStatus) -> PlanItem {
    let text = redact(&plain(text, ITEM)).into_owned();
    PlanItem { id: plain(id, ID), text, status }
}

/// Whether one run covers the other: the same command, or the same with further arguments.
fn is_same_trial(one: &str, other: &str) -> bool {
    let covers = |wide: &str, narrow: &str| {
        narrow.strip_prefix(wide).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    covers(one, other) || covers(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(state: &WorkState) -> Vec<String> {
        state.open_items().map(|item| item.text.clone()).collect()
    }

    fn replaced(items: &[(&'static str, PlanStatus)]) -> PlanChange<'static> {
        PlanChange::Replaced(items.iter().map(|(text, status)| ((*text).into(), *status)).collect())
    }

    #[test]
    fn the_item_in_progress_comes_first_and_a_finished_list_is_none() {
        let mut state = WorkState::default();
        let (open, busy, done) = (PlanStatus::Open, PlanStatus::InProgress, PlanStatus::Done);
        state.change_plan(&replaced(&[("a", done), ("b", open), ("c", busy)]), 1);
        assert_eq!(listed(&state), ["c", "b"]);
        assert_eq!(state.plan().len(), 3);
        state.change_plan(&replaced(&[("a", done), ("b", done)]), 2);
        assert!(state.plan().is_empty() && listed(&state).is_empty());
    }

    #[test]
    fn tasks_are_known_by_the_number_that_their_result_names() {
        let mut state = WorkState::default();
        state.add_item("paint", "Task #1 created successfully: paint", 1);
        state.add_item("sail", "Task #2 created successfully: sail", 2);
        state.add_item("none", "No such tool available", 3);
        let update = |id: &'static str, status| PlanChange::Updated { id: id.into(), text: None, status };
        state.change_plan(&update("1", Some(PlanStatus::Done)), 4);
        state.change_plan(&update("2", Some(PlanStatus::InProgress)), 5);
        assert_eq!(listed(&state), ["sail"]);
        state.change_plan(&update("2", Some(PlanStatus::Dropped)), 6);
        assert_eq!((listed(&state).len(), state.plan().len()), (0, 0));
        state.add_item("anew", "Task #3 created successfully: anew", 7);
        assert_eq!(state.plan().len(), 1, "a finished list ends where a new one begins");
    }

    #[test]
    fn a_passing_run_retires_the_failing_one_that_it_covers() {
        let failing =
            |command: &str| FailingRun { command: command.to_owned(), tests: Some((2, 1)), error: None };
        let mut state = WorkState::default();
        state.failed(failing("cargo test --test login"), 1);
        state.failed(failing("cargo test -p other"), 2);
        assert_eq!(state.failing().len(), 2);
        state.passed("cargo test --test login", 3);
        assert_eq!(state.failing()[0].describe(), "`cargo test -p other`: 1 of 3 failed");
        state.passed("cargo testing", 4);
        assert_eq!(state.failing().len(), 1);
        state.passed("cargo test", 5);
        assert!(state.is_empty());
    }

    #[test]
    fn a_state_that_was_taken_back_is_dropped() {
        let mut state = WorkState::default();
        state.change_plan(&replaced(&[("a", PlanStatus::Open)]), 10);
        state.revert(11);
        assert_eq!(listed(&state), ["a"]);
        state.revert(10);
        assert!(state.is_empty());
    }
}
