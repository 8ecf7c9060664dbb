//! Whether a hop begins at the end of a turn: the threshold, and three barriers that each alone stop a loop.
//!
//! A pure function of what is known. The barriers are a cooldown, counters that have limits, and that nothing is done right
//! after what we did ourselves: somebody must have asked for work since.

use super::hop::Author;
use crate::event::Origin;
use crate::meter::Strategy;
use crate::session::{Session, State};
use crate::time::Timestamp;
use std::fmt;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// How often work may go on by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Hops in a row without a person in between.
    pub most_hops: u32,
    pub per_hour: u32,
    pub per_day: u32,
    pub cooldown_ms: i64,
}

/// What we did in this seat before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// When hops began and compactions were asked for, in the last day.
    pub begun: Vec<Timestamp>,
    /// When anything last became of one of them.
    pub last_moved: Option<Timestamp>,
    /// When one last began in this very session.
    pub last_here: Option<Timestamp>,
    /// Whether one of the seat has not ended.
    pub is_open: bool,
    /// Which one in a row the next would be.
    pub ordinal: u32,
    /// Who asked for the turn that has just ended.
    pub last_turn: Option<Origin>,
}

/// How the turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    ByItself,
    /// A hook kept it from ending before: that was somebody else's block, or ours has been dealt with already.
    AfterABlock,
}

/// Who is to write the handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The agent is asked.
    Asked,
    /// It is made of what is known.
    Mechanically,
}

impl Written {
    pub const ALL: [Written; 2] = [Written::Asked, Written::Mechanically];

    pub fn name(self) -> &'static str {
        match self {
            Written::Asked => "ask",
            Written::Mechanically => "mechanical",
        }
    }

    /// Reads back what `name` wrote.
    pub fn named(name: &str) -> Option<Written> {
        Written::ALL.into_iter().find(|written| written.name() == name)
    }
}

/// Everything that is known when a turn has ended.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    pub now: Timestamp,
    pub strategy: Strategy,
    pub written: Written,
    pub at_percent: u8,
    /// How full the context is, where that is known.
    pub percent: Option<u8>,
    pub session: &'a Session,
    pub ending: Ending,
    pub past: &'a Past,
    pub limits: Limits,
}

/// One reason why nothing is done although the context is nearly full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// The one before has not ended.
    Open,
    Cooldown,
    Chain,
    Hour,
    Day,
    /// Nothing was asked for since we did something ourselves.
    OwnDoing,
}

impl Barrier {
    /// Whether a person is to hear of it: a limit that was reached needs them, the others pass by themselves.
    pub fn is_a_limit(self) -> bool {
        match self {
            Barrier::Chain | Barrier::Hour | Barrier::Day => true,
            Barrier::Open | Barrier::Cooldown | Barrier::OwnDoing => false,
        }
    }
}

impl fmt::Display for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Barrier::Open => "the one before has not ended",
            Barrier::Cooldown => "the one before was a moment ago",
            Barrier::Chain => "as many followed each other as `continue.most_hops` allows",
            Barrier::Hour => "there were as many in the last hour as `continue.per_hour` allows",
            Barrier::Day => "there were as many in the last day as `continue.per_day` allows",
            Barrier::OwnDoing => "nobody has asked for anything since the one before",
        })
    }
}

/// What is to be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Decision {
    Nothing,
    Barred(Barrier),
    Compact,
    /// A hop begins; its handoff is to be written by this one.
    Hop(Author),
}

/// Decides at the end of a turn of the session itself.
pub fn at_turns_end(moment: &Moment<'_>) -> Decision {
    let is_full = moment.percent.is_some_and(|percent| percent >= moment.at_percent);
    // Helpers that still work would be lost with the conversation that they report to.
    let is_at_rest = moment.session.state == State::Completed && moment.session.seat.is_some();
    if !moment.strategy.types() || !is_full || !is_at_rest || moment.ending == Ending::AfterABlock {
        return Decision::Nothing;
    }
    match (barrier(moment), moment.strategy) {
        (Some(barrier), _) => Decision::Barred(barrier),
        (None, Strategy::Off | Strategy::Notify) => Decision::Nothing,
        (None, Strategy::Compact) => Decision::Compact,
        (None, Strategy::Handoff) => Decision::Hop(match moment.written {
            Written::Asked => Author::Agent,
            Written::Mechanically => Author::Mechanical,
        }),
    }
}

fn barrier(moment: &Moment<'_>) -> Option<Barrier> {
    let (past, limits, now) = (moment.past, moment.limits, moment.now);
    let within = |ms: i64| past.begun.iter().filter(|at| now.since_ms(**at) < ms).count();
    let cools = past.last_moved.is_some_and(|at| now.since_ms(at) < limits.cooldown_ms);
    [
        (past.is_open, Barrier::Open),
        (!has_worked(moment), Barrier::OwnDoing),
        (cools, Barrier::Cooldown),
        (past.ordinal > limits.most_hops, Barrier::Chain),
        (within(HOUR_MS) >= limits.per_hour as usize, Barrier::Hour),
        (within(DAY_MS) >= limits.per_day as usize, Barrier::Day),
    ]
    .into_iter()
    .find_map(|(bars, barrier)| bars.then_some(barrier))
}

/// The turn that has ended was asked for by a person or a continuation, after whatever we did last in this session.
fn has_worked(moment: &Moment<'_>) -> bool {
    let is_work = match moment.past.last_turn {
        Some(Origin::Human | Origin::Command | Origin::Continuation) => true,
        Some(Origin::Notification | Origin::Bookmark) | None => false,
    };
    let prompted = moment.session.prompted_at;
    is_work && prompted.is_some_and(|at| moment.past.last_here.is_none_or(|last| at > last))
}

#[cfg(test)]
mod tests;
