//! A deterministic pseudorandom generator (xorshift).
//!
//! Reads no clock and no entropy. Good enough to choose damage, and for nothing else.

/// A stream of pseudorandom numbers.
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    /// Mixes seed and number, so that the streams of neighbouring numbers are unrelated.
    pub fn new(seed: u64, number: u64) -> Self {
        let mut mixed = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(1);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // Xorshift never leaves zero.
        Self((mixed ^ (mixed >> 31)).max(1))
    }

    pub fn throw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `bound`; zero if `bound` is zero.
    pub fn below(&mut self, bound: usize) -> usize {
        let thrown = self.throw() >> 16;
        usize::try_from(thrown).unwrap_or(usize::MAX).checked_rem(bound).unwrap_or(0)
    }

    pub fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
