//! The model's arithmetic, written so that the compiler vectorises it to eight lanes.
//!
//! The only module that queries CPU features. Everything is inlined into one function per feature set; results differ
//! only by rounding.

use super::weights::Stored;

/// Multiply-add: one fused instruction if the CPU has it, two otherwise.
pub trait MulAdd: Copy {
    fn add(sum: f32, a: f32, b: f32) -> f32;
}

#[derive(Clone, Copy)]
pub struct Fused;

#[derive(Clone, Copy)]
pub struct Separate;

impl MulAdd for Fused {
    #[inline(always)]
    fn add(sum: f32, a: f32, b: f32) -> f32 {
        a.mul_add(b, sum)
    }
}

impl MulAdd for Separate {
    #[inline(always)]
    fn add(sum: f32, a: f32, b: f32) -> f32 {
        sum + a * b
    }
}

/// A computation compiled once per CPU feature set. Its `run` must be inlined.
pub trait Kernel {
    fn run<A: MulAdd>(&mut self);
}

/// Runs the kernel with the best instructions this CPU has.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "calling code for a processor that was asked for it has no safe form")]
pub fn run(kernel: &mut impl Kernel) {
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: both features were just detected.
        unsafe { run_wide(kernel) }
    } else {
        kernel.run::<Separate>();
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_wide(kernel: &mut impl Kernel) {
    kernel.run::<Fused>();
}

/// Other architectures have what is needed by default, or are not known well enough.
#[cfg(not(target_arch = "x86_64"))]
pub fn run(kernel: &mut impl Kernel) {
    kernel.run::<Separate>();
}

/// Numbers processed at once.
pub const LANES: usize = 8;
/// Rows of input and of weights multiplied at once: their sums fill the CPU's registers.
pub const ROWS: usize = 4;
const COLUMNS: usize = 2;

type Lanes = [f32; LANES];
type StoredLanes = [Stored; LANES];

/// A linear layer's weights, one row per output, and its bias.
#[derive(Clone, Copy)]
pub struct LinearWeights<'a> {
    pub weights: &'a [Stored],
    pub bias: &'a [Stored],
}

/// Applies a linear layer to the rows of `x`. The row count is a multiple of `ROWS`, the output count even.
#[inline(always)]
pub fn linear_forward<A: MulAdd>(x: &[f32], layer: LinearWeights<'_>, out: &mut [f32]) {
    let outer = layer.bias.len();
    let inner = layer.weights.len() / outer.max(1);
    let (x, _) = x.as_chunks::<LANES>();
    let (weights, _) = layer.weights.as_chunks::<LANES>();
    let steps = inner / LANES;
    for (pair, weights) in weights.chunks_exact(steps * COLUMNS).enumerate() {
        let bias: [f32; COLUMNS] =
            std::array::from_fn(|column| f32::from_le_bytes(layer.bias[pair * COLUMNS + column]));
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
fn product<A: MulAdd>(x: &[Lanes], weights: &[StoredLanes], steps: usize) -> [[f32; COLUMNS]; ROWS] {
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
pub fn dot<A: MulAdd>(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            sums[lane] = A::add(sums[lane], a[lane], b[lane]);
        }
    }
    sums.iter().sum()
}

#[inline(always)]
pub fn add_scaled<A: MulAdd>(sum: &mut [f32], values: &[f32], by: f32) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum = A::add(*sum, *value, by);
    }
}

#[inline(always)]
pub fn softmax<A: MulAdd>(scores: &mut [f32]) {
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores.iter_mut().for_each(|score| *score = exp::<A>(*score - most));
    let total: f32 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= total);
}

/// GELU activation.
#[inline(always)]
pub fn gelu<A: MulAdd>(values: &mut [f32]) {
    values.iter_mut().for_each(|value| *value = 0.5 * *value * (1.0 + error_function::<A>(*value)));
}

/// erf(x / √2), Abramowitz and Stegun 7.1.26, accurate to seven digits.
#[inline(always)]
fn error_function<A: MulAdd>(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / A::add(1.0, 0.327_591_1, z);
    let sum = [1.061_405_4, -1.453_152_1, 1.421_413_8, -0.284_496_72, 0.254_829_6_f32];
    let series = sum.into_iter().fold(0.0, |sum, factor| A::add(factor, sum, t)) * t;
    (1.0 - series * exp::<A>(-z * z)).copysign(x)
}

/// e^x, accurate to six digits: a power of two times a series for the remainder.
#[inline(always)]
fn exp<A: MulAdd>(x: f32) -> f32 {
    /// Adding it rounds to a whole number, which then is in the lowest bits.
    const ROUNDING: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 87.0) * std::f32::consts::LOG2_E;
    let shifted = x + ROUNDING;
    let rest = (x - (shifted - ROUNDING)) * std::f32::consts::LN_2;
    let series = [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0_f32];
    let small = series.into_iter().fold(0.0, |sum, factor| A::add(factor, sum, rest));
    small * f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0_f32.to_bits()))
}

/// Layer normalisation: each row gets mean 0 and variance 1, then the learnt scale and shift.
#[inline(always)]
pub fn layer_norm<A: MulAdd>(values: &mut [f32], scale: &[Stored], shift: &[Stored], epsilon: f32) {
    for row in values.chunks_exact_mut(scale.len()) {
        let mean = row.iter().sum::<f32>() / row.len() as f32;
        row.iter_mut().for_each(|value| *value -= mean);
        let variance = dot::<A>(row, row) / row.len() as f32;
        let by = 1.0 / (variance + epsilon).sqrt();
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
            assert!((f64::from(exp::<Separate>(x)) / right - 1.0).abs() < 2e-6, "{x}");
        }
        assert_eq!(exp::<Separate>(-500.0), exp::<Separate>(-87.0));
        let known = [(0.0_f32, 0.0_f32), (1.0, 0.682_689_5), (-2.0, -0.954_499_7), (6.0, 1.0)];
        for (x, right) in known {
            assert!((error_function::<Separate>(x) - right).abs() < 1e-6, "{x}");
        }
    }

    #[test]
    fn softmax_sums_to_one() {
        let mut scores = [3.0, 1.0, 1.0, -60.0];
        softmax::<Separate>(&mut scores);
        assert!((scores.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(scores[0] > 0.78 && scores[1] == scores[2] && scores[3] < 1e-20);
    }
}
