//! The commands of a turn, alike ones together, with what became of them.
//!
//! Keeps the few that tell most; of the others, only how many there were.

use super::command::{Purpose, telling};
use super::tally::{Counts, Extent, Tally, tally};
use super::words::without_sequences;
use crate::event::ToolOutcome;
use crate::text::clip;
use serde::{Deserialize, Serialize};

const MOST: usize = 4;

#[derive(Default, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Runs {
    pub kept: Vec<Run>,
    #[serde(skip_serializing_if = "super::is_zero")]
    pub more: u32,
    /// Those of them that only look.
    #[serde(skip_serializing_if = "super::is_zero")]
    pub more_looks: u32,
    /// How many were ever kept: the number of the next one.
    next: u32,
}

/// Runs of one command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Run {
    #[serde(rename = "n")]
    number: u32,
    pub what: String,
    pub purpose: Purpose,
    pub times: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came: Option<Came>,
    /// What came of one before it, if that was something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Came>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<(u32, u32)>,
    #[serde(default, skip_serializing_if = "is_false", rename = "filtered")]
    is_filtered: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Came {
    Passed,
    Failed,
    Interrupted,
    Running,
}

impl Runs {
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.more == 0 && self.more_looks == 0 && self.next == 0
    }

    /// Gives the number by which its result is told.
    pub fn add(&mut self, command: &str) -> u32 {
        let found = telling(command);
        if let Some(run) = self.kept.iter_mut().find(|run| run.what == found.text) {
            run.times = run.times.saturating_add(1);
            run.is_filtered = found.is_filtered;
            return run.number;
        }
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        let (what, purpose, is_filtered) = (found.text, found.purpose, found.is_filtered);
        self.kept.push(Run {
            number,
            what,
            purpose,
            times: 1,
            came: None,
            before: None,
            tests: None,
            is_filtered,
        });
        self.make_room();
        number
    }

    /// Leaves out what tells least: the oldest of the lowest purpose.
    fn make_room(&mut self) {
        if self.kept.len() <= MOST {
            return;
        }
        let least = |(at, run): &(usize, &Run)| (run.purpose, run.came == Some(Came::Failed), *at);
        if let Some((at, _)) = self.kept.iter().enumerate().min_by_key(least) {
            let run = self.kept.remove(at);
            let more = if run.is_telling() { &mut self.more } else { &mut self.more_looks };
            *more = more.saturating_add(run.times);
        }
    }

    pub fn came_of(&mut self, number: u32, outcome: ToolOutcome, output: &str) {
        if let Some(run) = self.kept.iter_mut().find(|run| run.number == number) {
            run.came_of(outcome, output);
        }
    }

    /// More of what a command that still runs has to say.
    pub fn went_on(&mut self, outcome: ToolOutcome, output: &str) {
        let running = self.kept.iter_mut().rfind(|run| run.came == Some(Came::Running));
        if let Some(run) = running.filter(|_| !is_unknown(output)) {
            run.came = run.before;
            run.came_of(outcome, output);
        }
    }

    /// It is told elsewhere.
    pub fn take_back(&mut self, number: u32) {
        for run in self.kept.iter_mut().filter(|run| run.number == number) {
            run.times = run.times.saturating_sub(1);
        }
        self.kept.retain(|run| run.times > 0);
    }
}

impl Run {
    /// Whether it does more than look.
    pub fn is_telling(&self) -> bool {
        self.purpose > Purpose::Look
    }

    fn came_of(&mut self, outcome: ToolOutcome, output: &str) {
        let (came, tests) = judged((self.purpose, self.is_filtered), outcome, output);
        if self.came.is_some_and(|before| before != came) {
            self.before = self.came;
        }
        self.came = Some(came);
        self.tests = tests;
    }
}

/// What came of one run of a command: how it ended, and how many tests passed and failed if that is told.
pub(crate) fn judged(
    (purpose, is_filtered): (Purpose, bool),
    outcome: ToolOutcome,
    output: &str,
) -> (Came, Option<(u32, u32)>) {
    let extent = if is_filtered { Extent::Part } else { Extent::Whole };
    let stated = if purpose > Purpose::Look { tally(output, extent) } else { None };
    let is_red = matches!(stated, Some(Tally::Failed | Tally::Counted(Counts { failed: 1.., .. })));
    let came = match outcome {
        ToolOutcome::Interrupted => Came::Interrupted,
        ToolOutcome::Failed => Came::Failed,
        ToolOutcome::Done if is_red => Came::Failed,
        ToolOutcome::Done if stated.is_none() && still_runs(output) => Came::Running,
        ToolOutcome::Done => Came::Passed,
    };
    let tests = match stated {
        Some(Tally::Counted(Counts { passed, failed })) if (came == Came::Failed) == (failed > 0) => {
            Some((passed, failed))
        }
        _ => None,
    };
    (came, tests)
}

/// Programs that let a command go on say so at the beginning of what they print.
fn still_runs(output: &str) -> bool {
    const SIGNS: [&str; 3] = ["Process running with session ID", "running in background", "still running"];
    let head = without_sequences(clip(output, 400));
    let head = head.split("\nOutput:\n").next().unwrap_or("");
    SIGNS.iter().any(|sign| head.contains(sign))
}

fn is_unknown(output: &str) -> bool {
    clip(output, 200).contains("Unknown process")
}

fn is_false(flag: &bool) -> bool {
    !flag
}
