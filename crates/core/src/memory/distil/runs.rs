//! The commands of a turn in order: what came of each, and what stood between a failure and the success after it.
//!
//! A success counts as an answer to a failure only where it is the same command, or the same program doing the same.

use super::errors::telling_line;
use super::statement::cause_in;
use super::{Call, Step, Turn};
use crate::capture::Speaker;
use crate::deed::Deed;
use crate::line::command::{Purpose, telling_within};
use crate::line::runs::{Came, judged};
use crate::line::words::Room;

/// One run of a command.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Which step of the turn it was.
    at: usize,
    pub what: String,
    pub purpose: Purpose,
    pub came: Came,
    pub tests: Option<(u32, u32)>,
    pub error: Option<String>,
}

/// A command that failed and passed later, with what was done in between.
#[derive(Clone, Debug)]
pub(super) struct Mended {
    pub failed: Run,
    pub passed: Run,
    /// Files that were changed in between.
    pub changed: Vec<String>,
    /// Commands that did something in between.
    pub ran: Vec<String>,
    /// Why it failed, in the agent's words.
    pub cause: Option<String>,
}

/// What was tried in a turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Trials {
    pub runs: Vec<Run>,
    pub mended: Vec<Mended>,
}

impl Trials {
    /// How each command that is run to find something out ended, the last of each.
    pub fn outcomes(&self) -> Vec<&Run> {
        let mut last: Vec<&Run> = vec![];
        for run in self.runs.iter().filter(|run| run.purpose >= Purpose::Build) {
            last.retain(|known| !known.what.starts_with(&run.what) && !run.what.starts_with(&known.what));
            last.push(run);
        }
        last
    }

    /// What failed and did not pass afterwards.
    pub fn still_red(&self) -> impl Iterator<Item = &Run> {
        let passed = |run: &Run| {
            let later = self.runs.iter().filter(|other| other.at > run.at && other.came == Came::Passed);
            later.into_iter().any(|other| other.is_same_as(run))
        };
        let outcomes = self.outcomes().into_iter();
        outcomes.filter(move |run| run.came == Came::Failed && !passed(run))
    }

    /// Whether the last trial of the turn failed.
    pub fn ends_red(&self) -> bool {
        let last = self.runs.iter().rfind(|run| run.purpose >= Purpose::Build);
        last.is_some_and(|run| run.came == Came::Failed)
    }
}

impl Run {
    /// `cargo test: 14 passed`, in backticks.
    pub fn told(&self) -> String {
        let came = match (self.came, self.tests) {
            (Came::Passed, Some((passed, _))) if passed > 0 => format!("{passed} passed"),
            (Came::Failed, Some((passed, failed))) if failed > 0 => {
                format!("{failed} of {} failed", passed.saturating_add(failed))
            }
            (Came::Passed, _) => "passed".to_owned(),
            (Came::Failed, _) => "failed".to_owned(),
            (Came::Interrupted, _) => "interrupted".to_owned(),
            (Came::Running, _) => "still running".to_owned(),
        };
        format!("`{}`: {came}", self.what)
    }
}

const COMMAND: Room = Room { characters: 100, bytes: 300 };
const MOST_MENDED: usize = 4;

/// All that was tried. What failed in the turn before and was not mended there may be mended in this one.
pub(super) fn trials(turn: &Turn<'_>, before: Option<&Turn<'_>>) -> Trials {
    let runs = runs(turn);
    let still_red = before.map(still_red).unwrap_or_default();
    let mut mended: Vec<Mended> = vec![];
    for passed in runs.iter().filter(|run| run.came == Came::Passed) {
        let earlier = runs.iter().filter(|run| run.at < passed.at);
        let failed =
            earlier.chain(&still_red).filter(|run| run.came == Came::Failed && run.is_same_as(passed));
        // The first tells what was wrong; what fails on the way is usually the mending itself.
        let Some(failed) = failed.min_by_key(|run| (run.error.is_none(), run.at)) else { continue };
        let is_told = mended.iter().any(|known| known.passed.is_same_as(passed));
        if !is_told && mended.len() < MOST_MENDED {
            mended.push(between(turn, failed, passed));
        }
    }
    Trials { runs, mended }
}

fn runs(turn: &Turn<'_>) -> Vec<Run> {
    let mut runs: Vec<Run> = vec![];
    for (at, step) in turn.steps.iter().enumerate() {
        let Step::Did(call) = step else { continue };
        match &call.deed {
            Deed::Ran { command } => runs.extend(run(at, command, call)),
            Deed::Waited => went_on(&mut runs, call),
            Deed::Read { .. }
            | Deed::Changed { .. }
            | Deed::Searched { .. }
            | Deed::Fetched { .. }
            | Deed::Delegated { .. }
            | Deed::Asked { .. }
            | Deed::Planned
            | Deed::Other => {}
        }
    }
    runs
}

fn run(at: usize, command: &str, call: &Call<'_>) -> Option<Run> {
    let found = telling_within(command, COMMAND);
    if found.purpose < Purpose::Work {
        return None;
    }
    let (came, tests) = judged((found.purpose, found.is_filtered), call.outcome?, &call.output);
    let error = if came == Came::Failed { telling_line(&call.output) } else { None };
    Some(Run { at, what: found.text, purpose: found.purpose, came, tests, error })
}

/// More of what a command that still ran has to say.
fn went_on(runs: &mut [Run], call: &Call<'_>) {
    let (Some(run), Some(outcome)) = (runs.iter_mut().rfind(|run| run.came == Came::Running), call.outcome)
    else {
        return;
    };
    (run.came, run.tests) = judged((run.purpose, false), outcome, &call.output);
    run.error = if run.came == Came::Failed { telling_line(&call.output) } else { None };
}

/// What a turn left failing, as if it had been before the first step of the next.
fn still_red(turn: &Turn<'_>) -> Vec<Run> {
    let runs = runs(turn);
    let is_red = |run: &&Run| {
        let later =
            runs.iter().any(|other| other.at > run.at && other.is_same_as(run) && other.came == Came::Passed);
        run.came == Came::Failed && !later && run.purpose >= Purpose::Build
    };
    runs.iter().filter(is_red).map(|run| Run { at: 0, ..run.clone() }).collect()
}

impl Run {
    /// The same command, or the same trial of more or less.
    fn is_same_as(&self, other: &Run) -> bool {
        let trial = |run: &Run| {
            let words: Vec<&str> = run.what.split_whitespace().take(2).collect();
            (run.purpose >= Purpose::Build).then(|| words.join(" "))
        };
        self.what == other.what
            || self.purpose == other.purpose && trial(self).is_some() && trial(self) == trial(other)
    }
}

fn between(turn: &Turn<'_>, failed: &Run, passed: &Run) -> Mended {
    let steps = turn.steps.get(failed.at..passed.at).unwrap_or(&[]);
    let calls = || steps.iter().filter_map(|step| if let Step::Did(call) = step { Some(call) } else { None });
    let mut changed: Vec<String> = vec![];
    for path in
        calls().filter(|call| matches!(call.deed, Deed::Changed { .. })).flat_map(|call| call.deed.paths())
    {
        let shown = turn.shown(path).to_owned();
        if !changed.contains(&shown) {
            changed.push(shown);
        }
    }
    let did = calls()
        .filter_map(|call| if let Deed::Ran { command } = &call.deed { Some((command, call)) } else { None });
    let did = did.filter(|(_, call)| call.outcome == Some(crate::event::ToolOutcome::Done));
    let ran = did.map(|(command, _)| telling_within(command, COMMAND));
    let ran = ran.filter(|told| told.purpose >= Purpose::Work && told.text != failed.what);
    let said = steps.iter().filter_map(|step| match step {
        Step::Said { speaker: Speaker::Agent, text } => Some(text),
        Step::Said { .. } | Step::Did(_) => None,
    });
    let cause = said.rev().find_map(|text| cause_in(text));
    Mended {
        failed: failed.clone(),
        passed: passed.clone(),
        changed,
        ran: ran.map(|told| told.text).collect(),
        cause,
    }
}
