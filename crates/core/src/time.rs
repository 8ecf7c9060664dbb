//! Points in time, as milliseconds since the Unix epoch.
//!
//! There is no `now` here: whoever needs one is given it.

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Milliseconds from `earlier` to here, never negative: clocks of two processes may disagree a little.
    pub fn since_ms(self, earlier: Timestamp) -> i64 {
        self.0.saturating_sub(earlier.0).max(0)
    }

    pub fn plus_ms(self, ms: i64) -> Timestamp {
        Timestamp(self.0.saturating_add(ms))
    }

    /// Universal time as `2026-11-15T02:13:19Z`, for logs and file names; a person's own zone is a surface's business.
    pub fn to_utc(self) -> String {
        let days = self.0.div_euclid(86_400_000);
        let second = self.0.rem_euclid(86_400_000) / 1000;
        let (year, month, day) = civil_from_days(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

/// The proleptic Gregorian date of a day number counted from 1970-01-01, by 400-year eras that begin on 1 March.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utc_is_right_at_the_edges_of_the_calendar() {
        let check = |ms, expected: &str| assert_eq!(Timestamp(ms).to_utc(), expected);
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_400_000, "2000-02-29T00:00:00Z");
        check(1_794_708_799_999, "2026-11-15T02:13:19Z");
        check(-1, "1969-12-31T23:59:59Z");
    }

    #[test]
    fn a_clock_that_ran_backwards_gives_no_negative_age() {
        assert_eq!(Timestamp(5).since_ms(Timestamp(9)), 0);
    }
}
