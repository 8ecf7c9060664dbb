//! Deterministic pseudo-random numbers.
//!
//! Good enough for texts and choices; not for secrets.

pub struct Chance(u64);

impl Chance {
    pub fn of(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    /// splitmix64.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// In `0.0..1.0`.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Samples indexes by a Zipf-Mandelbrot distribution, the first most often.
pub struct Zipf {
    /// Alias method: an index, or its alias.
    kept: Vec<f64>,
    other: Vec<usize>,
}

impl Zipf {
    pub fn new(count: usize, shift: f64) -> Zipf {
        let weights: Vec<f64> = (1..=count).map(|rank| 1.0 / (rank as f64 + shift)).collect();
        let sum: f64 = weights.iter().sum();
        let mut kept: Vec<f64> = weights.iter().map(|weight| weight / sum * count as f64).collect();
        let mut other = vec![0; count];
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..count).partition(|index| kept[*index] < 1.0);
        while let (Some(less), Some(more)) = (small.pop(), large.last().copied()) {
            other[less] = more;
            kept[more] -= 1.0 - kept[less];
            if kept[more] < 1.0 {
                large.pop();
                small.push(more);
            }
        }
        small.into_iter().chain(large).for_each(|index| kept[index] = 1.0);
        Zipf { kept, other }
    }

    pub fn index(&self, chance: &mut Chance) -> usize {
        let index = chance.below(self.kept.len());
        if chance.share() < self.kept[index] { index } else { self.other[index] }
    }
}
