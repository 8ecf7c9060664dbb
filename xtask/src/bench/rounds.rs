//! Rounds: in each, every case and the baselines run once, in a new order.
//!
//! A machine's speed changes during a measurement. It is the same for all within a round, so a case is
//! compared only with the yardstick of its own round.

use std::collections::BTreeMap;

use crate::outcome::Failure;

use super::baseline::{ALL, Baseline};
use super::measure::{Cost, cost_of};
use super::statistics::{Sample, Summary, median};

/// A case that runs in every round.
pub trait Case {
    fn name(&self) -> String;

    /// Runs it once; preparation does not count towards the cost.
    fn run(&self, round: usize) -> Result<Cost, Failure>;

    /// Counts the instructions of one more run.
    fn instructions(&self, round: usize) -> Result<u64, Failure>;
}

/// Rounds whose figures are discarded: files and code are not yet cached.
const WARM_UP: usize = 3;

/// A round number that no measured round had.
pub fn after_last(rounds: usize) -> usize {
    WARM_UP + rounds + 1
}

/// All samples.
pub struct Series {
    baselines: Vec<(Baseline, Vec<Sample>)>,
    cases: Vec<Vec<Sample>>,
    /// The yardstick's time in each round, in nanoseconds.
    yardstick: BTreeMap<usize, f64>,
}

pub fn run<C: Case>(rounds: usize, cases: &[C]) -> Result<Series, Failure> {
    let mut dice = Dice::new();
    let mut series = Series::new(cases.len());
    for round in 1..=WARM_UP + rounds {
        let mut turns = turns(round, cases.len());
        dice.shuffle(&mut turns);
        for turn in turns {
            let cost = match turn {
                Turn::Baseline(baseline) => cost_of(&mut baseline.command(), b"")?,
                Turn::Case(number) => cases[number].run(round)?,
            };
            if round > WARM_UP {
                series.add(turn, Sample { round, cost });
            }
        }
    }
    series.set_yardstick();
    Ok(series)
}

/// One process of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Baseline(Baseline),
    Case(usize),
}

fn turns(round: usize, cases: usize) -> Vec<Turn> {
    let of_baseline =
        |baseline: Baseline| std::iter::repeat_n(Turn::Baseline(baseline), baseline.runs_in(round, cases));
    ALL.into_iter().flat_map(of_baseline).chain((0..cases).map(Turn::Case)).collect()
}

impl Series {
    fn new(cases: usize) -> Series {
        let baselines = ALL.map(|baseline| (baseline, Vec::new())).to_vec();
        Series { baselines, cases: vec![Vec::new(); cases], yardstick: BTreeMap::new() }
    }

    fn add(&mut self, turn: Turn, sample: Sample) {
        match turn {
            Turn::Case(number) => self.cases[number].push(sample),
            Turn::Baseline(wanted) => {
                let of_wanted = self.baselines.iter_mut().filter(|(baseline, _)| *baseline == wanted);
                of_wanted.for_each(|(_, samples)| samples.push(sample));
            }
        }
    }

    fn set_yardstick(&mut self) {
        let mut by_round: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for Sample { round, cost: Cost { wall_ns, .. } } in self.samples_of(Baseline::True) {
            by_round.entry(*round).or_default().push(*wall_ns as f64);
        }
        self.yardstick = by_round.into_iter().map(|(round, walls)| (round, median(walls))).collect();
    }

    fn samples_of(&self, wanted: Baseline) -> &[Sample] {
        let found = self.baselines.iter().find(|(baseline, _)| *baseline == wanted);
        found.map_or(&[], |(_, samples)| samples)
    }

    pub fn summary_of_baseline(&self, baseline: Baseline) -> Summary {
        Summary::of(self.samples_of(baseline), &self.yardstick)
    }

    pub fn summary_of_case(&self, number: usize) -> Summary {
        Summary::of(&self.cases[number], &self.yardstick)
    }
}

/// Draws the order of a round. The sequence is fixed, so that two runs differ by the machine only.
pub struct Dice(u64);

impl Dice {
    pub fn new() -> Dice {
        Dice(0x9e37_79b9_7f4a_7c15)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % bound
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_holds_every_case_once_and_the_yardstick_several_times() {
        let turns = turns(1, 2);
        assert_eq!(turns.iter().filter(|turn| **turn == Turn::Baseline(Baseline::True)).count(), 3);
        assert_eq!(turns[turns.len() - 2..], [Turn::Case(0), Turn::Case(1)]);
    }

    #[test]
    fn shuffling_keeps_all_and_changes_the_order() {
        let mut items: Vec<usize> = (0..50).collect();
        Dice::new().shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn case_is_compared_with_the_yardstick_of_its_own_round() {
        let mut series = Series::new(1);
        let sample = |round, wall_ns| Sample { round, cost: Cost { wall_ns, ..Cost::default() } };
        for (round, wall_ns) in [(1, 100), (1, 110), (1, 900), (2, 1000)] {
            series.add(Turn::Baseline(Baseline::True), sample(round, wall_ns));
        }
        series.add(Turn::Case(0), sample(1, 220));
        series.add(Turn::Case(0), sample(2, 2000));
        series.set_yardstick();
        assert_eq!(series.summary_of_case(0).ratio, 2.0);
    }
}
