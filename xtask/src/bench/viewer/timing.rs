//! A wait of the user, measured many times, and its bound.
//!
//! Takes no time itself: `page` does.

use crate::bench::report::Judgement;
use crate::bench::statistics::sorted;

const MOST_MS: f64 = 100.0;

/// One measurement, repeated many times, in milliseconds.
pub struct Timing {
    pub name: &'static str,
    pub times: Vec<f64>,
}

impl Timing {
    fn share(&self, percent: usize) -> f64 {
        let sorted = sorted(self.times.clone());
        let last = sorted.len().saturating_sub(1);
        sorted.get(last * percent / 100).copied().unwrap_or(f64::NAN)
    }

    pub fn row(&self) -> Vec<String> {
        let shares = [50, 95, 100].map(|percent| format!("{:.1}", self.share(percent)));
        std::iter::once(self.name.to_owned()).chain(shares).collect()
    }

    pub fn judgement(&self) -> Judgement {
        let median = self.share(50);
        Judgement {
            holds: median < MOST_MS,
            text: format!("{}: median {median:.1} ms, at most {MOST_MS} ms", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_judged_by_what_a_person_bears() {
        let timing = |times: &[f64]| Timing { name: "it", times: times.to_vec() };
        assert_eq!(timing(&[300.0, 20.0, 10.0]).row(), ["it", "20.0", "20.0", "300.0"]);
        assert!(timing(&[300.0, 20.0, 10.0]).judgement().holds);
        assert!(!timing(&[300.0, 120.0, 10.0]).judgement().holds);
        assert!(!timing(&[]).judgement().holds, "what was not measured does not hold");
    }
}
