//! The commands of a turn in order, their outcomes, and the steps between a failure and a later success.
//!
//! A success follows up a failure only if it is the same command, or the same program with the same subcommand.

use super::errors::error_line;
use super::source::{DistilTurn, TurnCall, TurnStep};
use super::statement::{cause_in, reason_in};
use crate::capture::Speaker;
use crate::deed::ToolAction;
use crate::line::command::{RunPurpose, summarize_within};
use crate::line::runs::{RunOutcome, run_outcome};
use crate::line::words::TextLimit;
use crate::text::distinct;

#[derive(Clone, Debug)]
pub(super) struct TrialRun {
    /// The index of its step in the turn.
    at: usize,
    pub command: String,
    pub purpose: RunPurpose,
    pub outcome: RunOutcome,
    pub tests: Option<(u32, u32)>,
    pub error: Option<String>,
}

/// A command that failed and passed later, with the steps in between.
#[derive(Clone, Debug)]
pub(super) struct Recovery {
    pub failed: TrialRun,
    pub passed: TrialRun,
    /// Files that were changed in between.
    pub changed: Vec<String>,
    /// Commands with effects that ran in between.
    pub ran: Vec<String>,
    /// The cause of the failure, in the agent's words.
    pub cause: Option<String>,
}

/// The commands of a turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Trials {
    pub runs: Vec<TrialRun>,
    pub recoveries: Vec<Recovery>,
}

impl Trials {
    /// The last run of each test and build command.
    pub fn outcomes(&self) -> Vec<&TrialRun> {
        let mut last: Vec<&TrialRun> = vec![];
        for run in self.runs.iter().filter(|run| run.purpose >= RunPurpose::Build) {
            last.retain(|known| {
                !known.command.starts_with(&run.command) && !run.command.starts_with(&known.command)
            });
            last.push(run);
        }
        last
    }

    /// Whether the last test or build of the turn failed.
    pub fn ends_with_failure(&self) -> bool {
        let last = self.runs.iter().rfind(|run| run.purpose >= RunPurpose::Build);
        last.is_some_and(|run| run.outcome == RunOutcome::Failed)
    }
}

impl TrialRun {
    /// Formats the run: `` `cargo test`: 14 passed``.
    pub fn describe(&self) -> String {
        let outcome = match (self.outcome, self.tests) {
            (RunOutcome::Passed, Some((passed, _))) if passed > 0 => format!("{passed} passed"),
            (RunOutcome::Failed, Some((passed, failed))) if failed > 0 => {
                format!("{failed} of {} failed", passed.saturating_add(failed))
            }
            (RunOutcome::Passed, _) => "passed".to_owned(),
            (RunOutcome::Failed, _) => "failed".to_owned(),
            (RunOutcome::Interrupted, _) => "interrupted".to_owned(),
            (RunOutcome::Running, _) => "still running".to_owned(),
        };
        format!("`{}`: {outcome}", self.command)
    }
}

const COMMAND: TextLimit = TextLimit { characters: 100, bytes: 300 };
const MAX_RECOVERIES: usize = 4;

/// Collects the runs of a turn. A failure that the previous turn left may be recovered from in this one.
pub(super) fn trials(turn: &DistilTurn<'_>, before: Option<&DistilTurn<'_>>) -> Trials {
    let runs = runs(turn);
    let still_red = before.map(still_red).unwrap_or_default();
    let mut recoveries: Vec<Recovery> = vec![];
    for passed in runs.iter().filter(|run| run.outcome == RunOutcome::Passed) {
        let earlier = runs.iter().filter(|run| run.at < passed.at);
        let failed = earlier
            .chain(&still_red)
            .filter(|run| run.outcome == RunOutcome::Failed && run.is_same_as(passed));
        // The first failure shows the original error; later ones usually come from the fix itself.
        let Some(failed) = failed.min_by_key(|run| (run.error.is_none(), run.at)) else { continue };
        let is_known = recoveries.iter().any(|known| known.passed.is_same_as(passed));
        if !is_known && recoveries.len() < MAX_RECOVERIES {
            recoveries.push(between(turn, failed, passed));
        }
    }
    Trials { runs, recoveries }
}

fn runs(turn: &DistilTurn<'_>) -> Vec<TrialRun> {
    let mut runs: Vec<TrialRun> = vec![];
    for (at, step) in turn.steps.iter().enumerate() {
        let TurnStep::Did(call) = step else { continue };
        if let ToolAction::Ran { command } = &call.deed {
            runs.extend(run(at, command, call));
        } else if call.deed == ToolAction::Waited {
            record_output(&mut runs, call);
        }
    }
    runs
}

fn run(at: usize, command: &str, call: &TurnCall<'_>) -> Option<TrialRun> {
    let summary = summarize_within(command, COMMAND);
    if summary.purpose < RunPurpose::Work {
        return None;
    }
    let (outcome, tests) = run_outcome(summary.purpose, summary.is_filtered, call.outcome?, &call.output);
    let error = if outcome == RunOutcome::Failed { error_line(&call.output) } else { None };
    Some(TrialRun { at, command: summary.text, purpose: summary.purpose, outcome, tests, error })
}

/// Records further output of a command that was still running.
fn record_output(runs: &mut [TrialRun], call: &TurnCall<'_>) {
    let (Some(run), Some(outcome)) =
        (runs.iter_mut().rfind(|run| run.outcome == RunOutcome::Running), call.outcome)
    else {
        return;
    };
    (run.outcome, run.tests) = run_outcome(run.purpose, false, outcome, &call.output);
    run.error = if run.outcome == RunOutcome::Failed { error_line(&call.output) } else { None };
}

/// The runs a turn left failing, placed before the first step of the next turn.
fn still_red(turn: &DistilTurn<'_>) -> Vec<TrialRun> {
    let runs = runs(turn);
    let is_red = |run: &&TrialRun| run.purpose >= RunPurpose::Build && run.is_left_red(&runs);
    runs.iter().filter(is_red).map(|run| TrialRun { at: 0, ..run.clone() }).collect()
}

impl TrialRun {
    /// Whether it failed, and none of these runs passed it later.
    fn is_left_red(&self, runs: &[TrialRun]) -> bool {
        let passes = |other: &TrialRun| {
            other.at > self.at && other.outcome == RunOutcome::Passed && other.is_same_as(self)
        };
        self.outcome == RunOutcome::Failed && !runs.iter().any(passes)
    }

    /// Whether it is the same command, or the same test or build with other arguments.
    fn is_same_as(&self, other: &TrialRun) -> bool {
        let trial = |run: &TrialRun| {
            let words: Vec<&str> = run.command.split_whitespace().take(2).collect();
            (run.purpose >= RunPurpose::Build).then(|| words.join(" "))
        };
        self.command == other.command
            || self.purpose == other.purpose && trial(self).is_some() && trial(self) == trial(other)
    }
}

fn between(turn: &DistilTurn<'_>, failed: &TrialRun, passed: &TrialRun) -> Recovery {
    let steps = turn.steps.get(failed.at..passed.at).unwrap_or(&[]);
    let calls =
        || steps.iter().filter_map(|step| if let TurnStep::Did(call) = step { Some(call) } else { None });
    let changes = calls().filter(|call| matches!(call.deed, ToolAction::Changed { .. }));
    let changed =
        distinct(changes.flat_map(|call| call.deed.paths()).map(|path| turn.shown(path).to_owned()));
    let did = calls().filter_map(|call| {
        if let ToolAction::Ran { command } = &call.deed { Some((command, call)) } else { None }
    });
    let did = did.filter(|(_, call)| call.outcome == Some(crate::event::ToolOutcome::Done));
    let ran = did.map(|(command, _)| summarize_within(command, COMMAND));
    let ran = ran.filter(|summary| summary.purpose >= RunPurpose::Work && summary.text != failed.command);
    let said = steps.iter().filter_map(|step| match step {
        TurnStep::Said { speaker: Speaker::Agent, text } => Some(text),
        TurnStep::Said { .. } | TurnStep::Did(_) => None,
    });
    let cause = said.clone().rev().find_map(|text| cause_in(text));
    let cause = cause.or_else(|| said.rev().find_map(|text| reason_in(text)));
    Recovery {
        failed: failed.clone(),
        passed: passed.clone(),
        changed,
        ran: ran.map(|summary| summary.text).collect(),
        cause,
    }
}
