//! Calendar dates and clock times without a zone.
//!
//! Does not know which instants they are.

use crate::time::{civil_from_days, days_from_civil};
use std::fmt;

const SECONDS_OF_DAY: u32 = 86_400;

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CivilDate {
    /// Days since 1970-01-01.
    days: i64,
}

impl CivilDate {
    /// `None` for a day that does not exist or has no four-digit year.
    pub fn new(year: i64, month: i64, day: i64) -> Option<CivilDate> {
        let is_sane = (1..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
        let days = is_sane.then(|| days_from_civil(year, month, day))?;
        (civil_from_days(days) == (year, month, day)).then_some(CivilDate { days })
    }

    pub fn year_month_day(self) -> (i64, i64, i64) {
        civil_from_days(self.days)
    }

    /// Seconds from the epoch to this day's midnight in UTC.
    pub(super) fn utc_seconds(self) -> i64 {
        self.days * i64::from(SECONDS_OF_DAY)
    }

    pub(super) fn next(self) -> CivilDate {
        CivilDate { days: self.days + 1 }
    }

    pub(super) fn back(self, days: i64) -> CivilDate {
        CivilDate { days: self.days - days }
    }

    /// This day and all before it, newest first.
    pub(super) fn and_before(self) -> impl Iterator<Item = CivilDate> {
        let first = days_from_civil(1, 1, 1);
        (first..=self.days).rev().map(|days| CivilDate { days })
    }

    /// The latest such weekday, this day included.
    pub(super) fn last(self, weekday: Weekday) -> CivilDate {
        let known_monday = days_from_civil(2026, 11, 9);
        let today = (self.days - known_monday).rem_euclid(7);
        let target = Weekday::ALL.iter().position(|day| *day == weekday).map_or(0, |at| at as i64);
        self.back((today - target).rem_euclid(7))
    }
}

impl fmt::Display for CivilDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.year_month_day();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Weekday {
        Monday = "monday",
        Tuesday = "tuesday",
        Wednesday = "wednesday",
        Thursday = "thursday",
        Friday = "friday",
        Saturday = "saturday",
        Sunday = "sunday",
    }
}

impl Weekday {
    /// Parses a name or its first three letters, in lower case.
    pub(super) fn parse(word: &str) -> Option<Weekday> {
        Weekday::ALL.into_iter().find(|day| day.name() == word || &day.name()[..3] == word)
    }
}

/// A time on the clock. Without seconds it is the whole minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockTime {
    pub hour: u8,
    pub minute: u8,
    pub second: Option<u8>,
}

impl ClockTime {
    /// The end of a day, valid only as the end of a span.
    pub(super) const MIDNIGHT_AFTER: ClockTime = ClockTime { hour: 24, minute: 0, second: None };

    pub(super) fn first_second(self) -> u32 {
        u32::from(self.hour) * 3600 + u32::from(self.minute) * 60 + u32::from(self.second.unwrap_or(0))
    }

    /// The second of the day right after it.
    pub(super) fn end(self) -> u32 {
        let duration = if self.second.is_some() { 1 } else { 60 };
        (self.first_second() + duration).min(SECONDS_OF_DAY)
    }
}

impl fmt::Display for ClockTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.hour, self.minute)?;
        self.second.map_or(Ok(()), |second| write!(f, ":{second:02}"))
    }
}

/// A point in civil time. `second` counts from midnight; a whole day's seconds mean the next midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CivilTime {
    pub date: CivilDate,
    pub second: u32,
}

/// A range of civil time, the end excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CivilRange {
    pub from: CivilTime,
    pub until: CivilTime,
}

impl CivilRange {
    pub fn of_day(date: CivilDate) -> CivilRange {
        CivilRange { from: CivilTime { date, second: 0 }, until: CivilTime { date, second: SECONDS_OF_DAY } }
    }
}

impl fmt::Display for CivilTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute, second) = (self.second / 3600, self.second / 60 % 60, self.second % 60);
        write!(f, "{} {hour:02}:{minute:02}:{second:02}", self.date)
    }
}

impl fmt::Display for CivilRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} .. {}", self.from, self.until)
    }
}
