//! Decides at the end of a turn whether a hop begins: a threshold, and three barriers that each alone stop a loop.
//!
//! A pure function of its input. The barriers are a cooldown, limited counters, and the rule that no hop follows
//! Towline's own action directly: a prompt must have come in between.

use super::hop::Author;
use crate::event::Origin;
use crate::meter::Strategy;
use crate::session::{Session, State};
use crate::time::Timestamp;
use std::fmt;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// How often a seat may continue automatically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Hops in a row without the user in between.
    pub most_hops: u32,
    pub per_hour: u32,
    pub per_day: u32,
    pub cooldown_ms: i64,
}

/// Earlier hops and compactions in this seat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// Start times of hops and compaction requests in the last day.
    pub begun: Vec<Timestamp>,
    /// When one of them last changed its stage.
    pub last_moved: Option<Timestamp>,
    /// When one last began in this session.
    pub last_here: Option<Timestamp>,
    /// Whether a hop of the seat has not ended.
    pub is_open: bool,
    /// The position in the chain of the next hop.
    pub ordinal: u32,
    /// Origin of the turn that has just ended.
    pub last_turn: Option<Origin>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    ByItself,
    /// A hook blocked the end before: another program's hook, or ours, which was handled already.
    AfterABlock,
}

/// How the handoff is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// By the agent, on request.
    Asked,
    /// From the captured turns, without a model.
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

    /// The inverse of `name`.
    pub fn named(name: &str) -> Option<Written> {
        Written::ALL.into_iter().find(|written| written.name() == name)
    }
}

/// The input of the decision at the end of a turn.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    pub now: Timestamp,
    pub strategy: Strategy,
    pub written: Written,
    pub at_percent: u8,
    /// Context usage, if known.
    pub percent: Option<u8>,
    pub session: &'a Session,
    pub ending: Ending,
    pub past: &'a Past,
    pub limits: Limits,
}

/// Why no hop begins although the context is nearly full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// The previous hop has not ended.
    Open,
    Cooldown,
    Chain,
    Hour,
    Day,
    /// No prompt has arrived since Towline's own last action.
    OwnDoing,
}

impl Barrier {
    /// Whether to notify the user: a reached limit needs them, the other barriers pass by themselves.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Decision {
    Nothing,
    Barred(Barrier),
    Compact,
    /// A hop begins, with a handoff by this author.
    Hop(Author),
}

/// Decides at the end of a turn of the session itself, not of a subagent.
pub fn at_turns_end(moment: &Moment<'_>) -> Decision {
    let is_full = moment.percent.is_some_and(|percent| percent >= moment.at_percent);
    // Running subagents would be lost with the conversation that they report to.
    let is_finished = moment.session.state == State::Completed && moment.session.seat.is_some();
    if !moment.strategy.types() || !is_full || !is_finished || moment.ending == Ending::AfterABlock {
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
    let count_within = |ms: i64| past.begun.iter().filter(|at| now.since_ms(**at) < ms).count();
    let is_cooling = past.last_moved.is_some_and(|at| now.since_ms(at) < limits.cooldown_ms);
    [
        (past.is_open, Barrier::Open),
        (!was_prompted_since(moment), Barrier::OwnDoing),
        (is_cooling, Barrier::Cooldown),
        (past.ordinal > limits.most_hops, Barrier::Chain),
        (count_within(HOUR_MS) >= limits.per_hour as usize, Barrier::Hour),
        (count_within(DAY_MS) >= limits.per_day as usize, Barrier::Day),
    ]
    .into_iter()
    .find_map(|(applies, barrier)| applies.then_some(barrier))
}

/// Whether the turn was prompted by the user or a continuation, after Towline's last action in this session.
fn was_prompted_since(moment: &Moment<'_>) -> bool {
    let is_work = match moment.past.last_turn {
        Some(Origin::Human | Origin::Command | Origin::Continuation) => true,
        Some(Origin::Notification | Origin::Bookmark) | None => false,
    };
    let prompted = moment.session.prompted_at;
    is_work && prompted.is_some_and(|at| moment.past.last_here.is_none_or(|last| at > last))
}

#[cfg(test)]
mod tests;
