//! The commands of a turn, repeated ones merged, with their results.
//!
//! Keeps only the `MOST` most informative commands, and a count of the others.

use super::command::{RunPurpose, summarize};
use super::tally::{OutputExtent, TestCounts, TestResult, test_result};
use super::words::without_sequences;
use crate::event::ToolOutcome;
use crate::text::clip;
use serde::{Deserialize, Serialize};

const MOST: usize = 4;

#[derive(Default, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Runs {
    pub kept: Vec<CommandRun>,
    #[serde(skip_serializing_if = "crate::is_default")]
    pub more: u32,
    /// Dropped commands that only read.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub more_looks: u32,
    /// The number of the next run.
    next: u32,
}

/// All runs of one command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommandRun {
    #[serde(rename = "n")]
    number: u32,
    pub what: String,
    pub purpose: RunPurpose,
    pub times: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came: Option<RunOutcome>,
    /// The outcome of an earlier run, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<RunOutcome>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<(u32, u32)>,
    #[serde(default, skip_serializing_if = "crate::is_default", rename = "filtered")]
    is_filtered: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunOutcome {
    Passed,
    Failed,
    Interrupted,
    Running,
}

impl Runs {
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.more == 0 && self.more_looks == 0 && self.next == 0
    }

    /// Adds a run and returns the number for its result.
    pub fn add(&mut self, command: &str) -> u32 {
        let summary = summarize(command);
        if let Some(run) = self.kept.iter_mut().find(|run| run.what == summary.text) {
            run.times = run.times.saturating_add(1);
            run.is_filtered = summary.is_filtered;
            return run.number;
        }
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        let (what, purpose, is_filtered) = (summary.text, summary.purpose, summary.is_filtered);
        self.kept.push(CommandRun {
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

    /// Drops the least informative command: the oldest of the lowest purpose.
    fn make_room(&mut self) {
        if self.kept.len() <= MOST {
            return;
        }
        let least =
            |(at, run): &(usize, &CommandRun)| (run.purpose, run.came == Some(RunOutcome::Failed), *at);
        if let Some((at, _)) = self.kept.iter().enumerate().min_by_key(least) {
            let run = self.kept.remove(at);
            let more = if run.is_informative() { &mut self.more } else { &mut self.more_looks };
            *more = more.saturating_add(run.times);
        }
    }

    pub fn record_result(&mut self, number: u32, outcome: ToolOutcome, output: &str) -> Option<&CommandRun> {
        let run = self.kept.iter_mut().find(|run| run.number == number)?;
        run.record_result(outcome, output);
        Some(run)
    }

    /// Records further output of a command that was still running.
    pub fn record_output(&mut self, outcome: ToolOutcome, output: &str) -> Option<&CommandRun> {
        let running = self.kept.iter_mut().rfind(|run| run.came == Some(RunOutcome::Running));
        let run = running.filter(|_| !is_unknown(output))?;
        run.came = run.before;
        run.record_result(outcome, output);
        Some(run)
    }

    /// Uncounts a run that another part of the line already shows.
    pub fn uncount(&mut self, number: u32) {
        for run in self.kept.iter_mut().filter(|run| run.number == number) {
            run.times = run.times.saturating_sub(1);
        }
        self.kept.retain(|run| run.times > 0);
    }
}

impl CommandRun {
    /// Whether it does more than read.
    pub fn is_informative(&self) -> bool {
        self.purpose > RunPurpose::Look
    }

    fn record_result(&mut self, outcome: ToolOutcome, output: &str) {
        let (came, tests) = run_outcome(self.purpose, self.is_filtered, outcome, output);
        if self.came.is_some_and(|before| before != came) {
            self.before = self.came;
        }
        self.came = Some(came);
        self.tests = tests;
    }
}

/// The outcome of one run, with the numbers of passed and failed tests if the output states them.
pub(crate) fn run_outcome(
    purpose: RunPurpose,
    is_filtered: bool,
    outcome: ToolOutcome,
    output: &str,
) -> (RunOutcome, Option<(u32, u32)>) {
    let extent = if is_filtered { OutputExtent::Part } else { OutputExtent::Whole };
    let stated = if purpose > RunPurpose::Look { test_result(output, extent) } else { None };
    let is_red =
        matches!(stated, Some(TestResult::Failed | TestResult::Counted(TestCounts { failed: 1.., .. })));
    let came = match outcome {
        ToolOutcome::Interrupted => RunOutcome::Interrupted,
        ToolOutcome::Failed => RunOutcome::Failed,
        ToolOutcome::Done if is_red => RunOutcome::Failed,
        ToolOutcome::Done if stated.is_none() && still_runs(output) => RunOutcome::Running,
        ToolOutcome::Done => RunOutcome::Passed,
    };
    let tests = match stated {
        Some(TestResult::Counted(TestCounts { passed, failed }))
            if (came == RunOutcome::Failed) == (failed > 0) =>
        {
            Some((passed, failed))
        }
        _ => None,
    };
    (came, tests)
}

/// Tools that leave a command running say so at the beginning of their output.
fn still_runs(output: &str) -> bool {
    const SIGNS: [&str; 3] = ["Process running with session ID", "running in background", "still running"];
    let head = without_sequences(clip(output, 400));
    let head = head.split("\nOutput:\n").next().unwrap_or("");
    SIGNS.iter().any(|sign| head.contains(sign))
}

fn is_unknown(output: &str) -> bool {
    clip(output, 200).contains("Unknown process")
}
