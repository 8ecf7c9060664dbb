//! Points in time, as milliseconds since the Unix epoch.
//!
//! There is no `now` here: it is always an argument.

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time, datetime};
use serde::{Deserialize, Serialize};

const EPOCH: DateTime = datetime(1970, 1, 1, 0, 0, 0, 0);

/// Milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Milliseconds since `earlier`, never negative: the clocks of two processes may disagree a little.
    pub fn since_ms(self, earlier: Timestamp) -> i64 {
        self.0.saturating_sub(earlier.0).max(0)
    }

    pub fn plus_ms(self, ms: i64) -> Timestamp {
        Timestamp(self.0.saturating_add(ms))
    }

    /// UTC as `2026-11-15T02:13:19Z`, for logs and file names; surfaces convert to the user's zone.
    pub fn to_utc(self) -> String {
        format!("{:.0}Z", EPOCH.saturating_add(SignedDuration::from_millis(self.0)))
    }

    /// Parses `2026-11-15T02:13:19Z` with an optional fraction, truncated to milliseconds. Rejects other zones: they
    /// would need a time zone database.
    pub fn parse_utc(text: &str) -> Option<Timestamp> {
        let (stamp, rest) = text.as_bytes().split_first_chunk::<19>()?;
        let between = [stamp[4], stamp[7], stamp[10], stamp[13], stamp[16]];
        let ms = milliseconds(rest.strip_suffix(b"Z")?)?;
        let date = Date::new(number(&stamp[..4])?, number(&stamp[5..7])?, number(&stamp[8..10])?).ok()?;
        let time =
            Time::new(number(&stamp[11..13])?, number(&stamp[14..16])?, number(&stamp[17..])?, 0).ok()?;
        (between == *b"--T::").then(|| Timestamp::of_utc(date.to_datetime(time)).plus_ms(ms))
    }

    /// The whole second of a civil time in UTC.
    pub(crate) fn of_utc(civil: DateTime) -> Timestamp {
        Timestamp(civil.duration_since(EPOCH).as_secs() * 1000)
    }
}

/// Parses ASCII digits only: no sign, no blanks.
fn number<N: TryFrom<i16>>(digits: &[u8]) -> Option<N> {
    let add = |sum, digit: &u8| digit.is_ascii_digit().then(|| sum * 10 + i16::from(digit - b'0'));
    N::try_from(digits.iter().try_fold(0, add)?).ok()
}

/// The whole milliseconds of an optional fraction that begins with a point.
fn milliseconds(fraction: &[u8]) -> Option<i64> {
    let digits = match fraction {
        [] => b"0",
        [b'.', digits @ ..] if !digits.is_empty() => digits,
        _ => return None,
    };
    let (first, finer) = digits.split_at(digits.len().min(3));
    let is_number = finer.iter().all(u8::is_ascii_digit);
    let unit = [1000, 100, 10, 1][first.len()];
    number::<i64>(first).filter(|_| is_number).map(|value| value * unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn utc_is_right_at_the_edges_of_the_calendar() {
        let check = |ms, expected: &str| assert_eq!(Timestamp(ms).to_utc(), expected);
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_400_000, "2000-02-29T00:00:00Z");
        check(1_794_708_799_999, "2026-11-15T02:13:19Z");
        check(-1, "1969-12-31T23:59:59Z");
    }

    #[track_caller]
    fn check_parsed(text: &str, expected: Option<i64>) {
        assert_eq!(Timestamp::parse_utc(text), expected.map(Timestamp), "{text:?}");
    }

    #[test]
    fn utc_is_read_with_any_fraction_or_none() {
        check_parsed("1970-01-01T00:00:00Z", Some(0));
        check_parsed("2026-11-15T02:13:19Z", Some(1_794_708_799_000));
        check_parsed("2026-11-15T02:13:19.999Z", Some(1_794_708_799_999));
        check_parsed("2026-11-15T02:13:19.5Z", Some(1_794_708_799_500));
        check_parsed("2026-11-15T02:13:19.999999999Z", Some(1_794_708_799_999));
        check_parsed("2000-02-29T00:00:00.000Z", Some(951_782_400_000));
        check_parsed("1969-12-31T23:59:59.999Z", Some(-1));
    }

    #[test]
    fn an_invalid_utc_time_is_refused() {
        let dates =
            ["2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-10T00:00:00Z", "2026-04-31T00:00:00Z"];
        let times = ["2026-11-15T24:00:00Z", "2026-11-15T00:60:00Z", "2026-11-15T00:00:60Z"];
        let zones = ["2026-11-15T02:13:19", "2026-11-15T02:13:19+01:00", "2026-11-15 02:13:19Z"];
        let shapes =
            ["", "Z", "TZ", "2026-11-15Z", "26-11-15T02:13:19Z", "2026-11-15T02:13Z", "2026-11-15T2:13:19Z"];
        let digits = [
            "2026-11-15T02:13:19.Z",
            "2026-11-15T02:13:19.-1Z",
            "+026-11-15T02:13:19Z",
            "2026-1१-15T02:13:19Z",
        ];
        for text in dates.iter().chain(&times).chain(&zones).chain(&shapes).chain(&digits) {
            check_parsed(text, None);
        }
    }

    proptest! {
        #[test]
        fn reading_gives_back_what_was_written(second in -62_167_219_200_i64..253_402_300_800) {
            let time = Timestamp(second * 1000);
            prop_assert_eq!(Timestamp::parse_utc(&time.to_utc()), Some(time));
        }

        #[test]
        fn parsing_accepts_any_text_without_panic(text in "\\PC*", digits in "[0-9TZ:.-]{0,40}") {
            let _ = (Timestamp::parse_utc(&text), Timestamp::parse_utc(&digits));
        }
    }

    #[test]
    fn a_clock_that_ran_backwards_gives_no_negative_age() {
        assert_eq!(Timestamp(5).since_ms(Timestamp(9)), 0);
    }
}
