//! Parses the end of a usage limit from Claude Code's message: `resets 8:04am (UTC)`, `resets Nov 18, 3pm (UTC)`.
//!
//! Reads UTC only: other zones need a time zone database, and a guess would be worse than nothing.

use towline_core::time::Timestamp;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const DAY_MS: i64 = 86_400_000;

/// The client leaves out the seconds.
const MINUTE_MS: i64 = 60_000;

/// `at` is the message's time: the client leaves out the day if it is near, and the year if it is the same.
pub(crate) fn parse_reset(words: &str, at: Timestamp) -> Option<Timestamp> {
    let (_, said) = words.split_once(" resets ")?;
    let (said, _) = said.split_once(" (UTC)")?;
    let mut parts: Vec<&str> = said.split(", ").collect();
    let clock = clock(parts.pop()?)?;
    let today = at.to_utc().get(..10)?.to_owned();
    match parts.as_slice() {
        [] => Some(next(Timestamp::parse_utc(&format!("{today}T{clock}Z"))?, at)),
        [day] => on(today.get(..4)?, day, &clock),
        [day, year] => on(year, day, &clock),
        _ => None,
    }
}

/// The first time after `at` with this time of day.
fn next(time: Timestamp, at: Timestamp) -> Timestamp {
    if time.plus_ms(MINUTE_MS) > at { time } else { time.plus_ms(DAY_MS) }
}

/// `Nov 18`.
fn on(year: &str, day: &str, clock: &str) -> Option<Timestamp> {
    let (month, day) = day.split_once(' ')?;
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let day: u32 = day.parse().ok()?;
    Timestamp::parse_utc(&format!("{year}-{month:02}-{day:02}T{clock}Z"))
}

/// `8:04am` and `3pm`, as `08:04:00` and `15:00:00`.
fn clock(text: &str) -> Option<String> {
    let (text, afternoon) = match text.strip_suffix("pm") {
        Some(text) => (text, 12),
        None => (text.strip_suffix("am")?, 0),
    };
    let (hour, minute) = text.split_once(':').unwrap_or((text, "00"));
    let hour: u32 = hour.parse().ok().filter(|hour| (1..=12).contains(hour))?;
    let minute: u32 = minute.parse().ok()?;
    Some(format!("{:02}:{minute:02}:00", hour % 12 + afternoon))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(words: &str, at: &str, expected: Option<&str>) {
        let found = parse_reset(words, Timestamp::parse_utc(at).unwrap());
        assert_eq!(found.map(Timestamp::to_utc).as_deref(), expected, "{words}");
    }

    #[test]
    fn a_clock_time_is_the_next_one() {
        let at = "2026-11-15T05:44:31Z";
        check("You've hit your session limit · resets 8:04am (UTC)", at, Some("2026-11-15T08:04:00Z"));
        check("You've hit your 5-hour limit · resets 3pm (UTC)", at, Some("2026-11-15T15:00:00Z"));
        check("You've hit your session limit · resets 12am (UTC)", at, Some("2026-11-16T00:00:00Z"));
        check("You've hit your session limit · resets 12:30pm (UTC)", at, Some("2026-11-15T12:30:00Z"));
        check("You've hit your session limit · resets 5:43am (UTC)", at, Some("2026-11-16T05:43:00Z"));
    }

    #[test]
    fn a_time_in_the_minute_in_which_it_was_said_is_not_a_day_away() {
        check("limit · resets 5:44am (UTC)", "2026-11-15T05:44:31Z", Some("2026-11-15T05:44:00Z"));
    }

    #[test]
    fn a_day_is_of_the_year_that_is_named_or_of_this_one() {
        let at = "2026-11-15T05:44:31Z";
        check("You've hit your weekly limit · resets Nov 18, 5:44am (UTC)", at, Some("2026-11-18T05:44:00Z"));
        check(
            "You've hit your weekly limit · resets Feb 13, 2027, 5am (UTC)",
            at,
            Some("2027-02-13T05:00:00Z"),
        );
    }

    #[test]
    fn an_ambiguous_reset_time_is_not_parsed() {
        let at = "2026-11-15T05:44:31Z";
        for words in [
            "",
            "You've hit your session limit · resets 8:44am (Europe/Berlin)",
            "You've hit your session limit · resets 8:44am",
            "You've hit your session limit · resets soon (UTC)",
            "limit · resets 13pm (UTC)",
            "limit · resets 8:60am (UTC)",
            "limit · resets Feb 30, 8am (UTC)",
            "limit · resets Foo 3, 8am (UTC)",
            "limit · resets Nov 3, 2027, 1, 8am (UTC)",
        ] {
            check(words, at, None);
        }
    }

    proptest! {
        #[test]
        fn no_message_panics(words in "( resets )?\\PC*( \\(UTC\\))?", at in any::<i64>()) {
            let _ = parse_reset(&words, Timestamp(at));
        }
    }
}
