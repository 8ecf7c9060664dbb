//! Rounds: in each, every case and the baselines run once, in a new order, and `/bin/true` before and after each.
//!
//! Strictly alternating: after itself, `/bin/true` takes a fifth less, and so does a hook after a hook. A machine's speed
//! changes during a measurement. It is the same for all within a round, so a case is compared only with the yardstick of
//! its own round.

use std::collections::BTreeMap;
use std::process::Command;

use towline_testkit::mutate::Dice;

use crate::outcome::{Failure, Result};

use super::host::wait_until_idle;
use super::measure::{Cost, cost_of};
use super::statistics::{Sample, Summary, median};

/// A process that runs in every round.
pub trait Case {
    fn name(&self) -> String;

    /// Prepares a run and returns the process to measure and its input. Preparation does not count.
    fn process(&self, round: usize) -> Result<(Command, Vec<u8>)>;

    /// Ends a run. Returns whether the process did what the case measures.
    fn finish(&self) -> Result<bool> {
        Ok(true)
    }

    /// How often it runs in this round, besides before and after others.
    fn runs_in(&self, _round: usize) -> usize {
        1
    }

    /// Whether its instructions are counted.
    fn is_counted(&self) -> bool {
        true
    }
}

/// A program that does nothing: the cheapest process there is, a shell, and the runtime most hooks are written
/// in. Only `/bin/true` is a yardstick; the other two are shown for scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    True,
    Shell,
    Node,
}

/// The yardstick comes first.
pub const BASELINES: [Baseline; 3] = [Baseline::True, Baseline::Shell, Baseline::Node];

/// The environment of every measured process. Without `LD_LIBRARY_PATH`: `cargo run` sets it, and the
/// dynamic loader then searches the build's folders, which makes `/bin/true` a third slower than a static `tow`.
pub const ENVIRONMENT: [(&str, &str); 3] =
    [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("TERM", "xterm-256color"), ("LANG", "C.UTF-8")];

impl Baseline {
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Baseline::True => &["/bin/true"],
            Baseline::Shell => &["sh", "-c", ":"],
            Baseline::Node => &["node", "-e", "0"],
        }
    }
}

impl Case for Baseline {
    fn name(&self) -> String {
        self.arguments().join(" ")
    }

    fn process(&self, _round: usize) -> Result<(Command, Vec<u8>)> {
        let program = if *self == Baseline::Shell { "/bin/sh" } else { self.arguments()[0] };
        let mut command = Command::new(program);
        command.args(&self.arguments()[1..]).env_clear().envs(ENVIRONMENT);
        Ok((command, Vec::new()))
    }

    /// The yardstick runs beside every other process; node takes as long as a whole round and runs in every tenth.
    fn runs_in(&self, round: usize) -> usize {
        match self {
            Baseline::True => 0,
            Baseline::Shell => 1,
            Baseline::Node => usize::from(round.is_multiple_of(10)),
        }
    }

    /// Counting node's instructions would take minutes and mean nothing.
    fn is_counted(&self) -> bool {
        *self != Baseline::Node
    }
}

/// Rounds whose figures are discarded: files and code are not yet cached.
pub const WARM_UP: usize = 3;

/// How often a run is repeated that did not do what its case measures.
const TRIES: usize = 3;

/// Runs the baselines, then `cases`, in every round. Returns their figures in that order.
pub fn run(rounds: usize, all: &[&dyn Case]) -> Result<Vec<Summary>> {
    let mut dice = Dice::new(0, 0);
    let mut samples = vec![Vec::new(); all.len()];
    for round in 1..=WARM_UP + rounds {
        let mut turns = turns(round, all);
        shuffle(&mut turns, &mut dice);
        for number in turns {
            let cost = measured(all[number], round, cost_after_true)?;
            let yardstick = cost_of_true()?;
            if round > WARM_UP {
                samples[number].push(Sample { round, cost });
                samples[0].push(Sample { round, cost: yardstick });
            }
        }
    }
    Ok(summaries(&samples))
}

/// The cost of a process on an idle machine, right after `/bin/true`: the background work of another hook does not count, and
/// no case finds the caches as a hook of its own has left them.
fn cost_after_true(command: &mut Command, stdin: &[u8]) -> Result<Cost> {
    wait_until_idle();
    cost_of_true()?;
    cost_of(command, stdin)
}

fn cost_of_true() -> Result<Cost> {
    let (mut command, no_input) = Baseline::True.process(0)?;
    cost_of(&mut command, &no_input)
}

/// Prepares a case, lets `measure` run its process, and ends it, until the process did what the case measures.
pub fn measured<T>(
    case: &dyn Case,
    round: usize,
    measure: impl Fn(&mut Command, &[u8]) -> Result<T>,
) -> Result<T> {
    for _ in 0..TRIES {
        let (mut command, stdin) = case.process(round)?;
        let measured = measure(&mut command, &stdin)?;
        if case.finish()? {
            return Ok(measured);
        }
    }
    Err(Failure::malformed(case.name(), "the process never did what is measured"))
}

/// The processes of a round, as places in `all`.
fn turns(round: usize, all: &[&dyn Case]) -> Vec<usize> {
    let runs = |number: usize| std::iter::repeat_n(number, all[number].runs_in(round));
    (0..all.len()).flat_map(runs).collect()
}

/// Compares each process with the first in the same round.
fn summaries(samples: &[Vec<Sample>]) -> Vec<Summary> {
    let mut by_round: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for sample in &samples[0] {
        by_round.entry(sample.round).or_default().push(sample.cost.wall_ns as f64);
    }
    let yardstick = by_round.into_iter().map(|(round, walls)| (round, median(walls))).collect();
    samples.iter().map(|samples| Summary::of(samples, &yardstick)).collect()
}

/// Draws the order of a round. The sequence is fixed, so that two runs differ by the machine only.
pub fn shuffle<T>(items: &mut [T], dice: &mut Dice) {
    for last in (1..items.len()).rev() {
        items.swap(last, dice.below(last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn baseline_gets_nothing_of_our_own_environment() {
        let (command, _) = Baseline::True.process(1).unwrap();
        assert_eq!(command.get_envs().count(), ENVIRONMENT.len());
        let (mut shell, _) = Baseline::Shell.process(1).unwrap();
        let printed = shell.args(["-c", "echo $LD_LIBRARY_PATH"]).output().unwrap();
        assert_eq!(printed.stdout, b"");
    }

    #[test]
    fn node_runs_in_every_tenth_round() {
        assert_eq!((0..30).map(|round| Baseline::Node.runs_in(round)).sum::<usize>(), 3);
    }

    /// A case that does what it measures at its last try.
    struct Late(std::cell::Cell<usize>);

    impl Case for Late {
        fn name(&self) -> String {
            "late".to_owned()
        }

        fn process(&self, _round: usize) -> Result<(Command, Vec<u8>)> {
            Ok((Command::new("/bin/true"), Vec::new()))
        }

        fn finish(&self) -> Result<bool> {
            self.0.set(self.0.get() + 1);
            Ok(self.0.get() == TRIES)
        }
    }

    #[test]
    fn a_run_that_did_something_else_is_repeated_a_few_times() {
        let late = Late(std::cell::Cell::new(0));
        assert!(measured(&late, 1, |_, _| Ok(())).is_ok());
        assert!(measured(&late, 1, |_, _| Ok(())).is_err());
    }

    #[test]
    fn round_holds_every_case_once() {
        let late = Late(std::cell::Cell::new(0));
        let mut all: Vec<&dyn Case> = BASELINES.iter().map(|baseline| baseline as &dyn Case).collect();
        all.extend([&late as &dyn Case, &late]);
        assert_eq!(turns(1, &all), [1, 3, 4]);
    }

    #[test]
    fn yardstick_is_measured_once_beside_every_process() {
        let shell: &dyn Case = &Baseline::Shell;
        let all: Vec<&dyn Case> =
            BASELINES.iter().map(|baseline| baseline as &dyn Case).chain([shell, shell]).collect();
        let summaries = run(2, &all).unwrap();
        assert_eq!(summaries.len(), all.len());
        assert!(summaries[0].p50 > 0.0 && summaries[0].ratio > 0.0, "{:?}", summaries[0]);
    }

    #[test]
    fn shuffling_keeps_all_and_changes_the_order() {
        let mut items: Vec<usize> = (0..50).collect();
        shuffle(&mut items, &mut Dice::new(0, 0));
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn case_is_compared_with_the_yardstick_of_its_own_round() {
        let sample = |(round, wall_ns)| Sample { round, cost: Cost { wall_ns, ..Cost::default() } };
        let yardstick = [(1, 100), (1, 110), (1, 900), (2, 1000)].map(sample).to_vec();
        let summaries = summaries(&[yardstick, [(1, 220), (2, 2000)].map(sample).to_vec()]);
        assert_eq!(summaries[1].ratio, 2.0);
    }
}
