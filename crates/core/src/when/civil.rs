//! Clock times and civil time ranges without a zone, on jiff's civil types.
//!
//! Does not know which instants they are.

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Weekday};
use std::fmt;

const SECONDS_OF_DAY: u32 = 86_400;

/// The weekdays by name, in lower case; the first three letters of a name stand for it.
const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

pub(super) fn weekday_named(word: &str) -> Option<Weekday> {
    let named = WEEKDAYS.iter().find(|(name, _)| *name == word || &name[..3] == word);
    named.map(|(_, weekday)| *weekday)
}

pub(super) fn weekday_name(weekday: Weekday) -> &'static str {
    WEEKDAYS.iter().find(|(_, other)| *other == weekday).map_or("", |(name, _)| name)
}

/// The day and all before it, newest first.
pub(super) fn days_back_from(date: Date) -> impl Iterator<Item = Date> {
    std::iter::successors(Some(date), |date| date.yesterday().ok()).take_while(|date| date.year() >= 1)
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

/// A range of civil time, the end excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CivilRange {
    pub from: DateTime,
    pub until: DateTime,
}

impl CivilRange {
    pub fn of_day(date: Date) -> CivilRange {
        CivilRange::of_seconds(date, 0, SECONDS_OF_DAY)
    }

    /// The seconds of a day; an end that is not after its start is on the next day.
    pub(super) fn of_seconds(date: Date, from: u32, until: u32) -> CivilRange {
        let until = if until > from { until } else { until + SECONDS_OF_DAY };
        let at = |second: u32| date.at(0, 0, 0, 0).saturating_add(SignedDuration::from_secs(second.into()));
        CivilRange { from: at(from), until: at(until) }
    }
}
