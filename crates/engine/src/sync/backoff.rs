//! Backoff after a failed connection to the hub or a receiver of telemetry, and its stored state.
//!
//! Pure: the caller supplies the randomness.

use serde::{Deserialize, Serialize};
use towline_core::time::Timestamp;

/// The error, its start and the time of the next attempt. Kept among the archive's facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    pub since_ms: i64,
    pub failures: u32,
    /// The error and its cause, as shown to users.
    pub what: String,
    /// The next command.
    pub mend: String,
    pub again_ms: i64,
}

const FIRST_MS: i64 = 2_000;
const LONGEST_MS: i64 = 15 * 60_000;

impl Trouble {
    /// After one more failure. `dice` is random: machines that lost the same hub must not retry in step.
    #[must_use]
    pub fn after(
        earlier: Option<&Trouble>,
        what: String,
        mend: String,
        now: Timestamp,
        dice: u64,
    ) -> Trouble {
        let failures = earlier.map_or(0, |trouble| trouble.failures).saturating_add(1);
        let since_ms = earlier.map_or(now.0, |trouble| trouble.since_ms);
        Trouble { since_ms, failures, what, mend, again_ms: now.0.saturating_add(pause_ms(failures, dice)) }
    }

    /// The same, if the server asked for a longer pause: up to the maximum, which keeps it from stopping us for good.
    #[must_use]
    pub fn asked_to_wait(self, now: Timestamp, pause_ms: i64) -> Trouble {
        let asked = now.0.saturating_add(pause_ms.clamp(0, LONGEST_MS));
        Trouble { again_ms: self.again_ms.max(asked), ..self }
    }

    /// Whether the backoff is active. A clock that was set back cannot extend it beyond the maximum.
    pub fn holds(&self, now: Timestamp) -> bool {
        (1..=LONGEST_MS).contains(&(self.again_ms - now.0))
    }

    pub fn since(&self) -> Timestamp {
        Timestamp(self.since_ms)
    }

    pub fn again(&self) -> Timestamp {
        Timestamp(self.again_ms)
    }
}

/// Doubles each time; random between half and all of it.
fn pause_ms(failures: u32, dice: u64) -> i64 {
    let doubled =
        FIRST_MS.saturating_mul(1_i64.checked_shl(failures.saturating_sub(1).min(30)).unwrap_or(i64::MAX));
    let longest = doubled.min(LONGEST_MS);
    let half = longest / 2;
    half + i64::try_from(dice % u64::try_from(half.max(1)).unwrap_or(1)).unwrap_or(0) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(earlier: Option<&Trouble>, now: i64, dice: u64) -> Trouble {
        Trouble::after(earlier, "down".into(), "wait".into(), Timestamp(now), dice)
    }

    #[test]
    fn each_failure_waits_longer_up_to_a_quarter_of_an_hour() {
        let mut trouble = again(None, 0, u64::MAX);
        let mut longest = 0;
        for _ in 0..40 {
            assert!((longest / 2..=LONGEST_MS).contains(&trouble.again_ms));
            longest = longest.max(trouble.again_ms);
            trouble = again(Some(&trouble), 0, u64::MAX);
        }
        assert!(longest > LONGEST_MS / 2);
        assert_eq!((trouble.since_ms, trouble.failures), (0, 41));
    }

    #[test]
    fn two_machines_do_not_come_back_in_step() {
        let spread: std::collections::HashSet<i64> =
            (0..50).map(|dice| again(None, 0, dice * 7919).again_ms).collect();
        assert!(spread.len() > 40 && spread.iter().all(|ms| (FIRST_MS / 2..=FIRST_MS).contains(ms)));
    }

    #[test]
    fn a_server_may_ask_for_a_longer_pause_but_not_for_any() {
        let pause = |asked_ms| again(None, 0, 0).asked_to_wait(Timestamp(0), asked_ms).again_ms;
        assert_eq!(pause(90_000), 90_000);
        assert_eq!(pause(1), again(None, 0, 0).again_ms);
        assert_eq!(pause(i64::MAX), LONGEST_MS);
        assert!(again(None, 0, 0).asked_to_wait(Timestamp(0), i64::MAX).holds(Timestamp(0)));
    }

    #[test]
    fn it_is_over_in_time_whatever_the_clock_does() {
        let trouble = again(None, 1_000_000, 0);
        assert!(trouble.holds(Timestamp(1_000_000)) && !trouble.holds(trouble.again()));
        assert!(!trouble.holds(Timestamp(0)), "the clock was set back");
    }
}
