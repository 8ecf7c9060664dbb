//! Parses times and names as people and models write them: `14:05`, `yesterday 9:00-9:30`, `2h ago`, `1a2b3c4d#12`.
//!
//! An expression is a pure value without clock or zone: callers supply today's date and resolve midnight.

mod civil;
mod read;

pub use civil::{CivilRange, ClockTime};

use crate::time::Timestamp;
use civil::{days_back_from, weekday_name};
use jiff::civil::{Date, Weekday};
use std::fmt;

/// The accepted forms, for messages and help.
pub const FORMS: &str = "14:05, 14:05:30, 14:05-14:20, 2026-11-14, 2026-11-14 14:05, 2026-11-14T14:05-14:20, \
                         2026-11-14T14:05:00Z, today 14:05, yesterday 14:05-15:00, monday 9:00, 2h ago, -30m, \
                         1a2b3c4d#12, 1a2b3c4d#10-12, 1a2b3c4d#12.3, or a session's id";

/// A parsed expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeExpression {
    /// A range of clock times; without a day, the latest day that matches.
    Clock { span: ClockSpan, day: Option<DayExpr> },
    /// A whole day.
    Day(DayExpr),
    /// A time range given with its zone, the end excluded.
    Exact { from: Timestamp, until: Timestamp },
    /// From this long ago until now.
    Ago { ms: i64 },
    /// Turns of a session by number, both ends included, or one detail of one turn.
    Turn { session: SessionHint, from: u32, to: u32, detail: Option<u32> },
    /// A session by its id.
    Session(SessionHint),
}

/// A range of clock times, both ends included at their given precision. An end before its start is on the next day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockSpan {
    pub from: ClockTime,
    pub to: ClockTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayExpr {
    Date(Date),
    Today,
    Yesterday,
    /// The latest one, today included.
    Last(Weekday),
}

/// A session by its whole id, or the beginning or end of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionHint {
    pub agent: Option<String>,
    pub id: String,
}

impl SessionHint {
    /// Whether `session` matches. The caller decides about several matches.
    pub fn fits(&self, session: &crate::id::SessionKey) -> bool {
        let id = session.id.as_str();
        let is_agent = self.agent.as_deref().is_none_or(|agent| agent == session.agent.as_str());
        is_agent && (id.starts_with(&self.id) || id.ends_with(&self.id))
    }
}

/// Why an expression cannot be parsed; names the invalid part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read `{part}`: {why}; write {}", FORMS)]
pub struct BadExpression {
    part: String,
    why: &'static str,
}

impl TimeExpression {
    pub fn parse(raw: &str) -> Result<TimeExpression, BadExpression> {
        read::parse_expression(raw)
    }

    /// The civil time ranges this may mean, the likeliest first: callers use the first with any result. Empty for
    /// expressions that are not civil time.
    pub fn windows(&self, today: Date) -> Box<dyn Iterator<Item = CivilRange>> {
        match *self {
            TimeExpression::Clock { span, day: None } => {
                Box::new(days_back_from(today).map(move |date| span.on(date)))
            }
            TimeExpression::Clock { span, day: Some(day) } => {
                Box::new(day.dates(today).map(move |date| span.on(date)))
            }
            TimeExpression::Day(day) => Box::new(day.dates(today).map(CivilRange::of_day)),
            TimeExpression::Exact { .. }
            | TimeExpression::Ago { .. }
            | TimeExpression::Turn { .. }
            | TimeExpression::Session(_) => Box::new(std::iter::empty()),
        }
    }

    /// The time range, the end excluded, if no calendar is needed to determine it.
    pub fn range(&self, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
        match self {
            TimeExpression::Exact { from, until } => Some((*from, *until)),
            TimeExpression::Ago { ms } => Some((now.plus_ms(ms.saturating_neg()), now.plus_ms(1))),
            TimeExpression::Clock { .. }
            | TimeExpression::Day(_)
            | TimeExpression::Turn { .. }
            | TimeExpression::Session(_) => None,
        }
    }
}

impl ClockSpan {
    fn on(self, date: Date) -> CivilRange {
        CivilRange::of_seconds(date, self.from.first_second(), self.to.end())
    }
}

impl DayExpr {
    /// The possible days, the likeliest first. A weekday's name may mean today, or a week ago if that time has not come
    /// yet today.
    fn dates(self, today: Date) -> impl Iterator<Item = Date> {
        let (first, second) = match self {
            DayExpr::Date(date) => (date, None),
            DayExpr::Today => (today, None),
            DayExpr::Yesterday => (today.yesterday().unwrap_or(today), None),
            DayExpr::Last(weekday) => {
                let before = today.nth_weekday(-1, weekday).unwrap_or(today);
                if today.weekday() == weekday { (today, Some(before)) } else { (before, None) }
            }
        };
        std::iter::once(first).chain(second)
    }
}

impl fmt::Display for TimeExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeExpression::Clock { span, day: None } => write!(f, "{span}"),
            TimeExpression::Clock { span, day: Some(day) } => write!(f, "{day} {span}"),
            TimeExpression::Day(day) => write!(f, "{day}"),
            TimeExpression::Exact { from, .. } => f.write_str(&from.to_utc()),
            TimeExpression::Ago { ms } => write!(f, "{}s ago", ms / 1000),
            TimeExpression::Turn { session, from, to, detail } => match detail {
                Some(detail) => write!(f, "{session}#{from}.{detail}"),
                None if from == to => write!(f, "{session}#{from}"),
                None => write!(f, "{session}#{from}-{to}"),
            },
            TimeExpression::Session(session) => write!(f, "{session}"),
        }
    }
}

impl fmt::Display for ClockSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from == self.to { write!(f, "{}", self.from) } else { write!(f, "{}-{}", self.from, self.to) }
    }
}

impl fmt::Display for DayExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DayExpr::Date(date) => write!(f, "{date}"),
            DayExpr::Today => f.write_str("today"),
            DayExpr::Yesterday => f.write_str("yesterday"),
            DayExpr::Last(weekday) => f.write_str(weekday_name(*weekday)),
        }
    }
}

impl fmt::Display for SessionHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.agent {
            Some(agent) => write!(f, "{agent}:{}", self.id),
            None => f.write_str(&self.id),
        }
    }
}

#[cfg(test)]
mod tests;
