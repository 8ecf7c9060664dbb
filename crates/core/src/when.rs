//! Times and names as people and models write them: `14:05`, `yesterday 9:00-9:30`, `2h ago`, `1a2b3c4d#12`.
//!
//! Reading gives a pure value. There is no clock and no zone in it: what today is, and where its midnight lies, is told
//! by whoever looks.

mod civil;
mod read;

pub use civil::{Clock, Date, Moment, Weekday, Window};

use crate::time::Timestamp;
use std::fmt;

/// The forms that are accepted, for messages and help.
pub const FORMS: &str = "14:05, 14:05:30, 14:05-14:20, 2026-11-14, 2026-11-14 14:05, 2026-11-14T14:05-14:20, \
                         2026-11-14T14:05:00Z, today 14:05, yesterday 14:05-15:00, monday 9:00, 2h ago, -30m, \
                         1a2b3c4d#12, 1a2b3c4d#10-12, 1a2b3c4d#12.3, or a session's id";

/// What an expression asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A stretch of the clock; without a day, the latest day that has it.
    Clock {
        span: Span,
        day: Option<Day>,
    },
    Day(Day),
    /// A stretch of time that was given with its zone, the end excluded.
    Exact {
        from: Timestamp,
        until: Timestamp,
    },
    /// From this long ago until now.
    Ago {
        ms: i64,
    },
    /// Turns of a session by number, both ends included, or one detail of one turn.
    Turn {
        session: SessionHint,
        from: u32,
        to: u32,
        detail: Option<u32>,
    },
    Session(SessionHint),
}

/// A stretch of the clock, both ends included as precisely as they were given. An end before its start is on the next day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub from: Clock,
    pub to: Clock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Day {
    Date(Date),
    Today,
    Yesterday,
    /// The latest one, today included.
    Last(Weekday),
}

/// A session as it was named: its whole id, or the beginning or the end of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionHint {
    pub agent: Option<String>,
    pub id: String,
}

impl SessionHint {
    /// Whether this may be the session that is meant. Whoever asks decides what several mean.
    pub fn fits(&self, session: &crate::id::SessionKey) -> bool {
        let id = session.id.as_str();
        let is_agent = self.agent.as_deref().is_none_or(|agent| agent == session.agent.as_str());
        is_agent && (id.starts_with(&self.id) || id.ends_with(&self.id))
    }
}

/// Why an expression cannot be read: names the part that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadExpression {
    part: String,
    why: &'static str,
}

impl fmt::Display for BadExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read `{}`: {}; write {FORMS}", self.part, self.why)
    }
}

impl std::error::Error for BadExpression {}

impl Wanted {
    /// Reads an expression.
    pub fn parse(raw: &str) -> Result<Wanted, BadExpression> {
        read::wanted(raw)
    }

    /// The stretches of civil time that are meant, the likeliest first: whoever asks takes the first that has anything.
    /// Empty for what is not civil time.
    pub fn windows(&self, today: Date) -> Box<dyn Iterator<Item = Window>> {
        match *self {
            Wanted::Clock { span, day: None } => Box::new(today.and_before().map(move |date| span.on(date))),
            Wanted::Clock { span, day: Some(day) } => {
                Box::new(day.dates(today).map(move |date| span.on(date)))
            }
            Wanted::Day(day) => Box::new(day.dates(today).map(Window::of_day)),
            Wanted::Exact { .. } | Wanted::Ago { .. } | Wanted::Turn { .. } | Wanted::Session(_) => {
                Box::new(std::iter::empty())
            }
        }
    }

    /// The stretch of time that is meant, the end excluded, where no calendar is needed to know it.
    pub fn stretch(&self, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
        match self {
            Wanted::Exact { from, until } => Some((*from, *until)),
            Wanted::Ago { ms } => Some((now.plus_ms(ms.saturating_neg()), now.plus_ms(1))),
            Wanted::Clock { .. } | Wanted::Day(_) | Wanted::Turn { .. } | Wanted::Session(_) => None,
        }
    }
}

impl Span {
    fn on(self, date: Date) -> Window {
        let from = Moment { date, second: self.from.first_second() };
        let until = Moment { date, second: self.to.end() };
        let until = if until.second > from.second { until } else { Moment { date: date.next(), ..until } };
        Window { from, until }
    }
}

impl Day {
    /// The days that it can be, the likeliest first. A weekday's name may mean today, or today a week ago if today has
    /// not come that far.
    fn dates(self, today: Date) -> impl Iterator<Item = Date> {
        let (first, second) = match self {
            Day::Date(date) => (date, None),
            Day::Today => (today, None),
            Day::Yesterday => (today.back(1), None),
            Day::Last(weekday) => {
                let first = today.last(weekday);
                (first, (first == today).then(|| today.back(7)))
            }
        };
        std::iter::once(first).chain(second)
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Clock { span, day: None } => write!(f, "{span}"),
            Wanted::Clock { span, day: Some(day) } => write!(f, "{day} {span}"),
            Wanted::Day(day) => write!(f, "{day}"),
            Wanted::Exact { from, .. } => f.write_str(&from.to_utc()),
            Wanted::Ago { ms } => write!(f, "{}s ago", ms / 1000),
            Wanted::Turn { session, from, to, detail } => match detail {
                Some(detail) => write!(f, "{session}#{from}.{detail}"),
                None if from == to => write!(f, "{session}#{from}"),
                None => write!(f, "{session}#{from}-{to}"),
            },
            Wanted::Session(session) => write!(f, "{session}"),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from == self.to { write!(f, "{}", self.from) } else { write!(f, "{}-{}", self.from, self.to) }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Day::Date(date) => write!(f, "{date}"),
            Day::Today => f.write_str("today"),
            Day::Yesterday => f.write_str("yesterday"),
            Day::Last(weekday) => f.write_str(weekday.name()),
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
