//! A session and its turns, as they are remembered between events.
//!
//! Plain data: what changes it is decided in `step`, and where it is kept is the store's business.

use crate::bookmark::SinceBookmark;
use crate::event::{EndedBy, Origin, Presence, Reason, StartedBy};
use crate::id::{SessionKey, SubagentId, TurnId, Uid};
use crate::inherit::{Inheriting, Wishes};
use crate::meter::Meter;
use crate::project::ProjectTraces;
use crate::text::Kept;
use crate::time::Timestamp;
use std::collections::BTreeSet;

/// What a session is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Idle,
    Working,
    Blocked(Reason),
    Completed,
    Interrupted,
    /// Stopped by a usage limit.
    Limited,
    Ended,
}

impl State {
    /// The names of all states in which a session can sit somewhere.
    pub const SITTING: [&str; 6] = ["idle", "working", "blocked", "completed", "interrupted", "limited"];

    pub fn name(self) -> &'static str {
        match self {
            State::Idle => "idle",
            State::Working => "working",
            State::Blocked(_) => "blocked",
            State::Completed => "completed",
            State::Interrupted => "interrupted",
            State::Limited => "limited",
            State::Ended => "ended",
        }
    }

    /// The reason of a block, as one word.
    pub fn reason(self) -> Option<&'static str> {
        let State::Blocked(reason) = self else { return None };
        Some(reason.name())
    }

    /// Reads back what `name` and `reason` wrote.
    pub fn parse(name: &str, reason: Option<&str>) -> Option<State> {
        Some(match (name, reason) {
            ("idle", _) => State::Idle,
            ("working", _) => State::Working,
            ("blocked", Some("question")) => State::Blocked(Reason::Question),
            ("blocked", Some("elicitation")) => State::Blocked(Reason::Elicitation),
            ("blocked", _) => State::Blocked(Reason::Permission),
            ("completed", _) => State::Completed,
            ("interrupted", _) => State::Interrupted,
            ("limited", _) => State::Limited,
            ("ended", _) => State::Ended,
            _ => return None,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The row's global id.
    pub uid: Uid,
    pub key: SessionKey,
    pub state: State,
    pub since: Timestamp,
    /// Whether a person has looked since the state changed.
    pub seen: bool,
    pub started_at: Timestamp,
    pub started_by: StartedBy,
    pub last_event_at: Timestamp,
    pub ended: Option<(Timestamp, EndedBy)>,
    pub presence: Presence,
    pub folder: Option<String>,
    pub transcript: Option<String>,
    pub model: Option<String>,
    pub project: Option<ProjectTraces>,
    /// The key of the seat it sits or sat in.
    pub seat: Option<String>,
    /// The session that sat there before it: the chain.
    pub previous: Option<SessionKey>,
    /// The last prompt that a person gave.
    pub prompt: Option<Kept>,
    /// When the agent was last asked for something.
    pub prompted_at: Option<Timestamp>,
    /// The last answer that the end of a turn told.
    pub answer: Option<Kept>,
    /// How far it is with what it inherits, and what the user wanted of that when it started.
    pub inheriting: Inheriting,
    pub wishes: Wishes,
    /// Since when whoever comes next is to know nothing of it.
    pub fresh_at: Option<Timestamp>,
    /// The tool that a block waits for, and the helper that wants it.
    pub asked: Option<Asked>,
    /// When the usage limit that stopped it ends, where that is known.
    pub limited_until: Option<Timestamp>,
    /// When its model was last given what is remembered; a compaction takes that away.
    pub recalled_at: Option<Timestamp>,
    /// Tasks that it has completed since the last prompt of a person.
    pub tasks: u32,
    /// Helpers at work inside it.
    pub subagents: BTreeSet<SubagentId>,
    /// Tasks that outlived the turn that started them, as the agent counted them at the end of that turn.
    pub background: u32,
    pub context_tokens: Option<u64>,
    /// How full the context is, and who has heard of it.
    pub meter: Meter,
    pub compactions: u32,
    pub turns: u32,
    pub since_bookmark: SinceBookmark,
    /// The turn that has not ended.
    pub open_turn: Option<Turn>,
}

/// What a dialog is about, as far as the agent says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub tool: Kept,
    pub subagent: Option<SubagentId>,
    /// When: one dialog may follow another without a change of state.
    pub at: Timestamp,
}

/// A time in which an agent could not go on without a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    pub uid: Uid,
    pub reason: Reason,
    pub began_at: Timestamp,
    pub ended_at: Timestamp,
}

/// One prompt and all that followed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub uid: Uid,
    /// Counted within the session, from 1.
    pub ordinal: u32,
    /// The agent's own id of it.
    pub id: Option<TurnId>,
    pub origin: Origin,
    pub prompt: Kept,
    pub started_at: Timestamp,
    pub ended: Option<(Timestamp, TurnOutcome)>,
    pub tool_calls: u32,
    pub tool_failures: u32,
    /// Prompts given while it ran.
    pub steered: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnOutcome {
    Completed,
    Failed,
    Interrupted,
    /// Something else began, or the session ended, before its end was seen.
    Abandoned,
}

impl TurnOutcome {
    pub fn name(self) -> &'static str {
        match self {
            TurnOutcome::Completed => "completed",
            TurnOutcome::Failed => "failed",
            TurnOutcome::Interrupted => "interrupted",
            TurnOutcome::Abandoned => "abandoned",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_reads_back_from_its_words() {
        let blocks = [Reason::Permission, Reason::Question, Reason::Elicitation].map(State::Blocked);
        let plain =
            [State::Idle, State::Working, State::Completed, State::Interrupted, State::Limited, State::Ended];
        for state in plain.into_iter().chain(blocks) {
            assert_eq!(State::parse(state.name(), state.reason()), Some(state));
        }
        assert_eq!(State::parse("dreaming", None), None);
    }
}
