//! The arithmetic of the model, in a form that the compiler makes into instructions on eight numbers at once.
//!
//! The one place that asks the processor what it can do. Everything is inlined into one function for each answer; no
//! number differs by more than rounding.

use super::weights::Stored;

/// How a product is added to a sum: one instruction where the processor has it, two elsewhere.
pub trait Adding: Copy {
    fn add(sum: f32, a: f32, b: f32) -> f32;
}

#[derive(Clone, Copy)]
pub struct InOne;

#[derive(Clone, Copy)]
pub struct InTwo;

impl Adding for InOne {
    #[inline(always)]
    fn add(sum: f32, a: f32, b: f32) -> f32 {
        a.mul_add(b, sum)
    }
}

impl Adding for InTwo {
    #[inline(always)]
    fn add(sum: f32, a: f32, b: f32) -> f32 {
        sum + a * b
    }
}

/// Work that is compiled once for each sort of processor. Its `run` must be inlined.
pub trait Work {
    fn run<A: Adding>(&mut self);
}

/// Does the work by the best means that this processor has.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "calling code for a processor that was asked for it has no safe form")]
pub fn run(work: &mut impl Work) {
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor was just asked, and has both.
        unsafe { run_wide(work) }
    } else {
        work.run::<InTwo>();
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_wide(work: &mut impl Work) {
    work.run::<InOne>();
}

/// Other processors have what is needed, or are not known well enough.
#[cfg(not(target_arch = "x86_64"))]
pub fn run(work: &mut impl Work) {
    work.run::<InTwo>();
}

/// Numbers that are worked on at once.
pub const LANES: usize = 8;
/// Rows of texts and of weights that are multiplied at once: their sums fill the processor's registers.
pub const ROWS: usize = 4;
const COLUMNS: usize = 2;

type Lanes = [f32; LANES];
type StoredLanes = [Stored; LANES];

/// A table of weights with a row for each number that comes out, and what is added to each.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    pub weights: &'a [Stored],
    pub bias: &'a [Stored],
}

/// Rows of `x` through a table. There are `ROWS` rows or a multiple, and an even number of columns.
#[inline(always)]
pub fn through<A: Adding>(x: &[f32], table: Table<'_>, out: &mut [f32]) {
    let outer = table.bias.len();
    let inner = table.weights.len() / outer.max(1);
    let (x, _) = x.as_chunks::<LANES>();
    let (weights, _) = table.weights.as_chunks::<LANES>();
    let steps = inner / LANES;
    for (pair, weights) in weights.chunks_exact(steps * COLUMNS).enumerate() {
        let bias: [f32; COLUMNS] =
            std::array::from_fn(|column| f32::from_le_bytes(table.bias[pair * COLUMNS + column]));
        for (block, x) in x.chunks_exact(steps * ROWS).enumerate() {
            let sums = product::<A>(x, weights, steps);
            for row in 0..ROWS {
                for column in 0..COLUMNS {
                    out[(block * ROWS + row) * outer + pair * COLUMNS + column] =
                        sums[row][column] + bias[column];
                }
            }
        }
    }
}

#[inline(always)]
fn product<A: Adding>(x: &[Lanes], weights: &[StoredLanes], steps: usize) -> [[f32; COLUMNS]; ROWS] {
    let rows: [&[Lanes]; ROWS] = std::array::from_fn(|row| &x[row * steps..][..steps]);
    let columns: [&[StoredLanes]; COLUMNS] =
        std::array::from_fn(|column| &weights[column * steps..][..steps]);
    let mut sums = [[[0.0_f32; LANES]; COLUMNS]; ROWS];
    for step in 0..steps {
        for column in 0..COLUMNS {
            let weight = columns[column][step];
            for row in 0..ROWS {
                let x = rows[row][step];
                for lane in 0..LANES {
                    let sum = &mut sums[row][column][lane];
                    *sum = A::add(*sum, x[lane], f32::from_le_bytes(weight[lane]));
                }
            }
        }
    }
    sums.map(|row| row.map(|lanes| lanes.iter().sum()))
}

#[inline(always)]
pub fn dot<A: Adding>(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            sums[lane] = A::add(sums[lane], a[lane], b[lane]);
        }
    }
    sums.iter().sum()
}

#[inline(always)]
pub fn add_scaled<A: Adding>(sum: &mut [f32], values: &[f32], by: f32) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum = A::add(*sum, *value, by);
    }
}

/// Makes shares of a whole out of scores.
#[inline(always)]
pub fn shares<A: Adding>(scores: &mut [f32]) {
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores.iter_mut().for_each(|score| *score = exp::<A>(*score - most));
    let total: f32 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= total);
}

/// What a neuron lets through (GELU), for each of many.
#[inline(always)]
pub fn let_through<A: Adding>(values: &mut [f32]) {
    values.iter_mut().for_each(|value| *value = 0.5 * *value * (1.0 + error_function::<A>(*value)));
}

/// The error function of `x` by the root of two: Abramowitz and Stegun 7.1.26, right to seven digits.
#[inline(always)]
fn error_function<A: Adding>(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / A::add(1.0, 0.327_591_1, z);
    let sum = [1.061_405_4, -1.453_152_1, 1.421_413_8, -0.284_496_72, 0.254_829_6_f32];
    let series = sum.into_iter().fold(0.0, |sum, factor| A::add(factor, sum, t)) * t;
    (1.0 - series * exp::<A>(-z * z)).copysign(x)
}

/// e to the power of `x`, right to six digits: a whole power of two, and a series for the rest.
#[inline(always)]
fn exp<A: Adding>(x: f32) -> f32 {
    /// Adding it rounds to a whole number, which then stands in the lowest bits.
    const ROUNDING: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 87.0) * std::f32::consts::LOG2_E;
    let shifted = x + ROUNDING;
    let rest = (x - (shifted - ROUNDING)) * std::f32::consts::LN_2;
    let series = [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0_f32];
    let small = series.into_iter().fold(0.0, |sum, factor| A::add(factor, sum, rest));
    small * f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0_f32.to_bits()))
}

/// Each row with a mean of nought and a spread of one, then scaled and moved as the model learnt it.
#[inline(always)]
pub fn even_out<A: Adding>(values: &mut [f32], (scale, shift): (&[Stored], &[Stored]), tiny: f32) {
    for row in values.chunks_exact_mut(scale.len()) {
        let mean = row.iter().sum::<f32>() / row.len() as f32;
        row.iter_mut().for_each(|value| *value -= mean);
        let spread = dot::<A>(row, row) / row.len() as f32;
        let by = 1.0 / (spread + tiny).sqrt();
        for (value, (scale, shift)) in row.iter_mut().zip(scale.iter().zip(shift)) {
            *value = A::add(f32::from_le_bytes(*shift), *value * by, f32::from_le_bytes(*scale));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_and_errors_are_right_to_six_digits() {
        for x in [-20.0_f32, -3.3, -0.5, -1e-3, 0.0, 1e-3, 0.7, 4.2, 20.0] {
            let right = f64::from(x).exp();
            assert!((f64::from(exp::<InTwo>(x)) / right - 1.0).abs() < 2e-6, "{x}");
        }
        assert_eq!(exp::<InTwo>(-500.0), exp::<InTwo>(-87.0));
        let known = [(0.0_f32, 0.0_f32), (1.0, 0.682_689_5), (-2.0, -0.954_499_7), (6.0, 1.0)];
        for (x, right) in known {
            assert!((error_function::<InTwo>(x) - right).abs() < 1e-6, "{x}");
        }
    }

    #[test]
    fn shares_are_of_one_whole() {
        let mut scores = [3.0, 1.0, 1.0, -60.0];
        shares::<InTwo>(&mut scores);
        assert!((scores.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(scores[0] > 0.78 && scores[1] == scores[2] && scores[3] < 1e-20);
    }
}
