//! Reproducible chance: a seed gives the same sequence everywhere.
//!
//! Not for secrets, and never seeded by the clock.

/// A splitmix64 generator.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    pub fn is_one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
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
