//! Decides at the end of a turn whether a hop begins: a threshold, and three barriers that each alone stop a loop.
//!
//! A pure function of its input. The barriers are a cooldown, limited counters, and the rule that no hop follows
//! Towline's own action directly: a prompt must have come in between.

use super::hop::HandoffAuthor;
use crate::event::PromptOrigin;
use crate::meter::ContextStrategy;
use crate::session::{Session, SessionState};
use crate::time::Timestamp;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// How often a seat may continue automatically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopLimits {
    /// Hops in a row without the user in between.
    pub most_hops: u32,
    pub per_hour: u32,
    pub per_day: u32,
    pub cooldown_ms: i64,
}

/// Earlier hops and compactions in this seat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeatHistory {
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
    pub last_turn: Option<PromptOrigin>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnding {
    ByItself,
    /// A hook blocked the end before: another program's hook, or ours, which was handled already.
    AfterABlock,
}

named_enum! {
    /// How the handoff is written.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum HandoffMethod as named {
        /// By the agent, on request.
        Asked = "ask",
        /// From the captured turns, without a model.
        Mechanically = "mechanical",
    }
}

/// The input of the decision at the end of a turn.
#[derive(Clone, Copy, Debug)]
pub struct TurnEndInput<'a> {
    pub now: Timestamp,
    pub strategy: ContextStrategy,
    pub written: HandoffMethod,
    pub at_percent: u8,
    /// Context usage, if known.
    pub percent: Option<u8>,
    pub session: &'a Session,
    pub ending: TurnEnding,
    pub past: &'a SeatHistory,
    pub limits: HopLimits,
}

/// Why no hop begins although the context is nearly full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HopBarrier {
    #[error("the one before has not ended")]
    Open,
    #[error(
        "the one before was a moment ago; the next may begin in {left_s} s, at the end of a turn (`continue.cooldown_s`)"
    )]
    Cooldown { left_s: i64 },
    #[error("as many followed each other as `continue.most_hops` allows")]
    Chain,
    #[error("there were as many in the last hour as `continue.per_hour` allows")]
    Hour,
    #[error("there were as many in the last day as `continue.per_day` allows")]
    Day,
    #[error("nobody has asked for anything since the one before")]
    OwnDoing,
}

impl HopBarrier {
    /// Whether to notify the user: they see a full context and nothing happens. The other barriers pass by themselves.
    pub fn is_told(self) -> bool {
        !matches!(self, HopBarrier::Open | HopBarrier::OwnDoing)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum HopDecision {
    Nothing,
    Barred(HopBarrier),
    Compact,
    /// A hop begins, with a handoff by this author.
    Hop(HandoffAuthor),
}

/// Decides at the end of a turn of the session itself, not of a subagent.
pub fn at_turns_end(moment: &TurnEndInput<'_>) -> HopDecision {
    let is_full = moment.percent.is_some_and(|percent| percent >= moment.at_percent);
    // Running subagents would be lost with the conversation that they report to.
    let is_finished = moment.session.state == SessionState::Completed && moment.session.seat.is_some();
    if !moment.strategy.types() || !is_full || !is_finished || moment.ending == TurnEnding::AfterABlock {
        return HopDecision::Nothing;
    }
    match (barrier(moment), moment.strategy) {
        (Some(barrier), _) => HopDecision::Barred(barrier),
        (None, ContextStrategy::Off | ContextStrategy::Notify) => HopDecision::Nothing,
        (None, ContextStrategy::Compact) => HopDecision::Compact,
        (None, ContextStrategy::Handoff) => HopDecision::Hop(match moment.written {
            HandoffMethod::Asked => HandoffAuthor::Agent,
            HandoffMethod::Mechanically => HandoffAuthor::Mechanical,
        }),
    }
}

fn barrier(moment: &TurnEndInput<'_>) -> Option<HopBarrier> {
    let (past, limits, now) = (moment.past, moment.limits, moment.now);
    let count_within = |ms: i64| past.begun.iter().filter(|at| now.since_ms(**at) < ms).count();
    let left_ms = past.last_moved.map_or(0, |at| limits.cooldown_ms - now.since_ms(at));
    [
        (past.is_open, HopBarrier::Open),
        (!was_prompted_since(moment), HopBarrier::OwnDoing),
        (left_ms > 0, HopBarrier::Cooldown { left_s: (left_ms + 999) / 1000 }),
        (past.ordinal > limits.most_hops, HopBarrier::Chain),
        (count_within(HOUR_MS) >= limits.per_hour as usize, HopBarrier::Hour),
        (count_within(DAY_MS) >= limits.per_day as usize, HopBarrier::Day),
    ]
    .into_iter()
    .find_map(|(applies, barrier)| applies.then_some(barrier))
}

/// Whether the turn was prompted by the user or a continuation, after Towline's last action in this session.
fn was_prompted_since(moment: &TurnEndInput<'_>) -> bool {
    let prompted = moment.session.prompted_at;
    moment.past.last_turn.is_some_and(PromptOrigin::is_work)
        && prompted.is_some_and(|at| moment.past.last_here.is_none_or(|last| at > last))
}

#[cfg(test)]
mod tests;
