//! Sizes and choices that are spread as in real work: few frequent ones, many rare ones.
//!
//! The numbers come from the dice of the test kit: a seed gives the same sequence everywhere.

use towline_testkit::mutate::Dice;

pub struct Chance(Dice);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(Dice::new(seed, 0))
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound as usize) as u64
    }

    pub fn is_one_in(&mut self, count: usize) -> bool {
        self.0.one_in(count)
    }

    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        self.0.pick(all)
    }

    /// An index with few frequent values and many rare ones, as words of a language have.
    pub fn skewed(&mut self, bound: u64) -> u64 {
        let share = self.below(1 << 20) as f64 / f64::from(1 << 20);
        ((bound as f64).powf(share) - 1.0) as u64
    }

    /// A size whose logarithm is spread evenly: as many of 100 to 1,000 as of 1,000 to 10,000.
    pub fn size(&mut self, least: u64, most: u64) -> u64 {
        least + self.skewed(most - least)
    }
}
