//! Percentiles, ratios, and number formatting.
//!
//! Pure functions of numbers; must not measure or print.

use std::collections::BTreeMap;

use super::measure::Cost;

/// One run of one case.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub round: usize,
    pub cost: Cost,
}

/// The statistics of one case. Times are in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    pub p10: f64,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    /// Median, over the rounds, of the case's time divided by the yardstick's.
    pub ratio: f64,
    /// The 95th percentile of the same.
    pub ratio_p95: f64,
    pub cpu: f64,
    pub faults: f64,
}

impl Summary {
    /// `yardstick` holds nanoseconds by round.
    pub fn of(samples: &[Sample], yardstick: &BTreeMap<usize, f64>) -> Summary {
        let walls = sorted(samples.iter().map(|sample| sample.cost.wall_ns as f64 / 1000.0).collect());
        let ratio = |sample: &Sample| Some(sample.cost.wall_ns as f64 / yardstick.get(&sample.round)?);
        let ratios = sorted(samples.iter().filter_map(ratio).collect());
        Summary {
            p10: percentile(&walls, 10),
            p50: percentile(&walls, 50),
            p90: percentile(&walls, 90),
            p99: percentile(&walls, 99),
            ratio_p95: percentile(&ratios, 95),
            ratio: median(ratios),
            cpu: median(samples.iter().map(|sample| sample.cost.cpu_us as f64).collect()),
            faults: median(samples.iter().map(|sample| sample.cost.faults as f64).collect()),
        }
    }
}

pub fn median(values: Vec<f64>) -> f64 {
    let values = sorted(values);
    match values.len() {
        0 => f64::NAN,
        even if even.is_multiple_of(2) => f64::midpoint(values[even / 2 - 1], values[even / 2]),
        odd => values[odd / 2],
    }
}

pub fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// Nearest rank: always a measured value, never an interpolated one.
pub fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(f64::NAN)
}

/// Formats a count, such as `100 k` or `1 M`.
pub fn count(number: u64) -> String {
    match number {
        1_000_000.. => format!("{} M", number / 1_000_000),
        1_000.. => format!("{} k", number / 1_000),
        _ => number.to_string(),
    }
}

/// Formats a size, such as `11 KB` or `2 MB`.
pub fn bytes(size: usize) -> String {
    match size / 1024 {
        kilobytes @ 1024.. => format!("{} MB", kilobytes / 1024),
        kilobytes => format!("{kilobytes} KB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(Vec::new()).is_nan());
    }

    #[test]
    fn percentiles_are_measured_values() {
        let values: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!([10, 50, 90, 99].map(|percent| percentile(&values, percent)), [20.0, 100.0, 180.0, 198.0]);
        assert_eq!(percentile(&[7.0], 99), 7.0);
    }

    #[test]
    fn one_slow_round_does_not_move_the_ratio() {
        let sample = |round, wall_ns| Sample {
            round,
            cost: Cost { wall_ns, cpu_us: 5, faults: 9, ..Cost::default() },
        };
        let yardstick = BTreeMap::from([(1, 1000.0), (2, 1000.0), (3, 8000.0)]);
        let summary = Summary::of(&[sample(1, 1500), sample(2, 1600), sample(3, 12_000)], &yardstick);
        assert_eq!((summary.ratio, summary.p50, summary.cpu, summary.faults), (1.5, 1.6, 5.0, 9.0));
    }

    #[test]
    fn numbers_are_written_short() {
        assert_eq!([999, 1_000, 100_000, 1_000_000].map(count), ["999", "1 k", "100 k", "1 M"]);
        assert_eq!([1024, 11 * 1024, 2 * 1024 * 1024].map(bytes), ["1 KB", "11 KB", "2 MB"]);
    }
}
