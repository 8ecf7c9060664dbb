//! Times named in a query: days, months, years, and spans relative to now.
//!
//! The clock and the user's offset come with the query. A word with another common meaning is not taken for a time.

use std::cell::Cell;
use std::ops::Range;

use jiff::civil::{Date, DateTime};
use jiff::{SignedDuration, Span};

use crate::query::Query;

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
const DAY_MS: i64 = 86_400_000;
const MONTHS: &str = "january february march april may june july august september october november december";
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/// Words that ask for the newest, or for what holds now.
const LATEST: &str = "latest newest recent recently currently lately now current today still jetzt aktuell derzeit heute ahora \
    actualmente";
/// Words before a month name that also has another meaning ("may", "march") that make it a month.
const BEFORE_A_TIME: [&str; 6] = ["in", "since", "during", "last", "early", "late"];

/// The times that a query names.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Times {
    dates: Vec<PartialDate>,
    spans: Vec<Range<Date>>,
    /// The words that name them.
    words: Vec<String>,
    offset: i64,
    latest: bool,
    /// The day that was asked about last, and whether they contain it.
    last_day: Cell<Option<(i64, bool)>>,
}

/// A date in which any part may be missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PartialDate {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
}

impl Times {
    pub fn parse(query: &Query) -> Times {
        let today = date_of(query.now.saturating_add(query.utc_offset_ms));
        let text = &query.text[..crate::source::boundary(&query.text, 4096)];
        let words: Vec<&str> = text
            .split(|letter: char| !letter.is_alphanumeric() && letter != '-')
            .filter(|word| !word.is_empty())
            .collect();
        let mut times = Times { offset: query.utc_offset_ms, ..Times::default() };
        for at in 0..words.len() {
            let (span, date) = (span(&words, at, today), date(&words, at));
            if span.is_some() || date.is_some() {
                times.words.push(words[at].to_lowercase());
            }
            times.spans.extend(span);
            times.dates.extend(date);
            times.latest |= Times::are_now(&words[at].to_lowercase());
        }
        times
    }

    /// Whether a timestamp lies within one of them.
    pub fn contain(&self, at: i64) -> bool {
        let at = at.saturating_add(self.offset);
        let number = at.div_euclid(DAY_MS);
        if let Some((_, is_within)) = self.last_day.get().filter(|(day, _)| *day == number) {
            return is_within;
        }
        let day = date_of(at);
        let is_within = self.spans.iter().any(|span| span.contains(&day))
            || self.dates.iter().any(|date| date.contains(day));
        self.last_day.set(Some((number, is_within)));
        is_within
    }

    pub fn are_named(&self) -> bool {
        !(self.dates.is_empty() && self.spans.is_empty())
    }

    /// Whether this word names one of them: such a word is never treated as a typo.
    pub fn are_named_by(&self, word: &str) -> bool {
        self.words.iter().any(|named| named == word)
    }

    /// Whether a word asks for what holds now.
    pub fn are_now(word: &str) -> bool {
        LATEST.split_ascii_whitespace().any(|latest| latest == word)
    }

    pub fn asks_for_latest(&self) -> bool {
        self.latest
    }
}

impl PartialDate {
    fn contains(&self, day: Date) -> bool {
        let is = |named: Option<i64>, actual: i64| named.is_none_or(|named| named == actual);
        is(self.year, day.year().into())
            && is(self.month, day.month().into())
            && is(self.day, day.day().into())
    }
}

/// A span relative to today: `yesterday`, `last week`, `3 days ago`, `on monday`.
fn span(words: &[&str], at: usize, today: Date) -> Option<Range<Date>> {
    let word = words[at].to_lowercase();
    let before = at.checked_sub(1).and_then(|before| words.get(before)).map(|word| word.to_lowercase());
    let weekday = i64::from(today.weekday().to_monday_zero_offset());
    match (word.as_str(), before.as_deref()) {
        ("today", _) => Some(days(today, 0, 1)),
        ("yesterday", _) => Some(days(today, -1, 1)),
        ("week", Some("last")) => Some(days(today, -weekday - 7, 7)),
        ("week", Some("this")) => Some(days(today, -weekday, 7)),
        ("month", Some("last")) => Some(month_of(today, -1)),
        ("month", Some("this")) => Some(month_of(today, 0)),
        ("ago", Some(unit)) => ago(unit, words.get(at.checked_sub(2)?)?, today),
        (day, Some("on" | "last" | "since")) => {
            let named = WEEKDAYS.iter().position(|name| *name == day)? as i64;
            let back = (weekday - named).rem_euclid(7);
            Some(days(today, if back == 0 { -7 } else { -back }, 1))
        }
        _ => None,
    }
}

/// `3 days ago`; longer units get some days of tolerance on both sides.
fn ago(unit: &str, count: &str, today: Date) -> Option<Range<Date>> {
    let count = match count.to_lowercase().as_str() {
        "a" | "an" | "one" => 1,
        "two" => 2,
        "three" => 3,
        digits => digits.parse::<i64>().ok().filter(|count| (0..10_000).contains(count))?,
    };
    match unit.trim_end_matches('s') {
        "day" => Some(days(today, -count, 1)),
        "week" => Some(days(today, -7 * count - 3, 7)),
        "month" => Some(month_of(today, -count)),
        "year" => Some(days(today, -365 * count - 60, 120)),
        _ => None,
    }
}

/// `length` days, the first `from` days after `today`.
fn days(today: Date, from: i64, length: i64) -> Range<Date> {
    let first = today.saturating_add(Span::new().days(from));
    first..first.saturating_add(Span::new().days(length))
}

/// The whole month that is `months` after that of `today`.
fn month_of(today: Date, months: i64) -> Range<Date> {
    let first = today.first_of_month().saturating_add(Span::new().months(months));
    first..first.saturating_add(Span::new().months(1))
}

/// The date of a time in milliseconds since 1970.
fn date_of(ms: i64) -> Date {
    EPOCH.saturating_add(SignedDuration::from_millis(ms)).date()
}

/// A date that begins at a word: `2025-01-15`, `January 15`, `Jan 2025`, `15 January`, `2024`.
fn date(words: &[&str], at: usize) -> Option<PartialDate> {
    if let Some(date) = iso(words[at]) {
        return Some(date);
    }
    let before = at.checked_sub(1).and_then(|before| words.get(before)).copied();
    let after = words.get(at + 1).copied();
    if let Some(month) = month(words[at], before, after) {
        let day = before.and_then(day_of_month).or(after.and_then(day_of_month));
        let year = after.and_then(year).or(words.get(at + 2).copied().and_then(year));
        return Some(PartialDate { year, month: Some(month), day });
    }
    let is_said_as_year =
        before.is_some_and(|before| BEFORE_A_TIME.contains(&before.to_lowercase().as_str()));
    year(words[at])
        .filter(|_| is_said_as_year)
        .map(|year| PartialDate { year: Some(year), ..PartialDate::default() })
}

fn iso(word: &str) -> Option<PartialDate> {
    let mut parts = word.split('-');
    let year = year(parts.next()?)?;
    let month = parts.next()?.parse().ok().filter(|month| (1..=12).contains(month))?;
    let day = parts.next().and_then(|day| day.parse().ok());
    Some(PartialDate { year: Some(year), month: Some(month), day })
}

fn year(word: &str) -> Option<i64> {
    word.parse().ok().filter(|year| word.len() == 4 && (1990..2100).contains(year))
}

fn day_of_month(word: &str) -> Option<i64> {
    let digits = word.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    digits.parse().ok().filter(|day| (1..=31).contains(day) && word.len() <= 4)
}

fn month(word: &str, before: Option<&str>, after: Option<&str>) -> Option<i64> {
    let lower = word.to_lowercase();
    let is_named = |name: &str| name == lower || (lower.len() == 3 && name.starts_with(&lower));
    let number = MONTHS.split(' ').position(is_named)?;
    let is_ambiguous = matches!(lower.as_str(), "may" | "march" | "mar" | "jan" | "dec" | "sep" | "oct");
    let is_said_as_month = before.is_some_and(|word| BEFORE_A_TIME.contains(&word.to_lowercase().as_str()))
        || before.is_some_and(|word| day_of_month(word).is_some())
        || after.is_some_and(|word| day_of_month(word).is_some() || year(word).is_some());
    (!is_ambiguous || is_said_as_month).then_some(number as i64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;
    /// 2026-08-19, a Wednesday, noon.
    const NOW: i64 = 20_684 * DAY + DAY / 2;

    #[track_caller]
    fn check(text: &str, held: &[(i16, i8, i8)], not_held: &[(i16, i8, i8)]) {
        let times = Times::parse(&Query { text: text.to_owned(), now: NOW, ..Query::default() });
        let at = |(year, month, day): (i16, i8, i8)| {
            Date::constant(year, month, day).duration_since(EPOCH.date()).as_hours() * DAY / 24 + 1
        };
        assert!(held.iter().all(|date| times.contain(at(*date))), "{text}: {times:?}");
        assert!(!not_held.iter().any(|date| times.contain(at(*date))), "{text}: {times:?}");
    }

    #[test]
    fn days_and_dates_agree() {
        assert_eq!(date_of(NOW), Date::constant(2026, 8, 19));
        assert_eq!(month_of(Date::constant(2024, 3, 31), -1).end, Date::constant(2024, 3, 1));
        for day in (-200_000..200_000).step_by(997) {
            assert_eq!(date_of(day * DAY).duration_since(EPOCH.date()).as_hours(), 24 * day);
            assert_eq!(date_of((day + 1) * DAY - 1), date_of(day * DAY));
        }
    }

    #[test]
    fn dates_hold_as_much_as_was_said() {
        check("what broke on 2025-01-15?", &[(2025, 1, 15)], &[(2025, 1, 16)]);
        check("the January 15 outage", &[(2025, 1, 15), (2026, 1, 15)], &[(2026, 1, 16)]);
        check("3rd of March 2024", &[(2024, 3, 1)], &[(2025, 3, 1), (2024, 4, 1)]);
        check("what did we do in May", &[(2026, 5, 1), (2025, 5, 31)], &[(2026, 6, 1)]);
        check("since 2024", &[(2024, 7, 1)], &[(2023, 7, 1)]);
    }

    #[test]
    fn spans_relative_to_now_are_resolved() {
        check("yesterday's crash", &[(2026, 8, 18)], &[(2026, 8, 19), (2026, 8, 17)]);
        check("last week", &[(2026, 8, 10), (2026, 8, 16)], &[(2026, 8, 17), (2026, 8, 9)]);
        check("last month", &[(2026, 7, 1), (2026, 7, 31)], &[(2026, 8, 1)]);
        check("two days ago", &[(2026, 8, 17)], &[(2026, 8, 18)]);
        check("on Monday", &[(2026, 8, 17)], &[(2026, 8, 10)]);
    }

    #[test]
    fn ordinary_words_are_no_times() {
        check("this may march on 2048 items", &[], &[(2026, 5, 1), (2026, 3, 1), (2048, 1, 1)]);
    }
}
