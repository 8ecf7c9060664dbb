//! A session and its turns, as stored between events.
//!
//! Plain data: `step` decides every change, and the store persists it.

use crate::bookmark::BookmarkCounters;
use crate::event::{BlockReason, EndedBy, EventScene, PromptOrigin, SessionPresence, StartedBy};
use crate::id::{SessionKey, SubagentId, TurnId, Uid};
use crate::inherit::{InheritSettings, InheritState};
use crate::meter::UsageMeter;
use crate::project::ProjectIdentity;
use crate::text::SafeText;
use crate::time::Timestamp;
use std::collections::BTreeSet;

/// The activity of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionState {
    #[default]
    Idle,
    Working,
    Blocked(BlockReason),
    Completed,
    Interrupted,
    /// Stopped by a usage limit.
    Limited,
    Ended,
}

impl SessionState {
    /// The names of all states in which a session can occupy a seat.
    pub const SITTING: [&str; 6] = ["idle", "working", "blocked", "completed", "interrupted", "limited"];

    pub fn name(self) -> &'static str {
        match self {
            SessionState::Idle => "idle",
            SessionState::Working => "working",
            SessionState::Blocked(_) => "blocked",
            SessionState::Completed => "completed",
            SessionState::Interrupted => "interrupted",
            SessionState::Limited => "limited",
            SessionState::Ended => "ended",
        }
    }

    /// The reason of a block, as one word.
    pub fn reason(self) -> Option<&'static str> {
        let SessionState::Blocked(reason) = self else { return None };
        Some(reason.name())
    }

    /// The inverse of `name` and `reason`.
    pub fn parse(name: &str, reason: Option<&str>) -> Option<SessionState> {
        Some(match (name, reason) {
            ("idle", _) => SessionState::Idle,
            ("working", _) => SessionState::Working,
            ("blocked", Some("question")) => SessionState::Blocked(BlockReason::Question),
            ("blocked", Some("elicitation")) => SessionState::Blocked(BlockReason::Elicitation),
            ("blocked", _) => SessionState::Blocked(BlockReason::Permission),
            ("completed", _) => SessionState::Completed,
            ("interrupted", _) => SessionState::Interrupted,
            ("limited", _) => SessionState::Limited,
            ("ended", _) => SessionState::Ended,
            _ => return None,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The row's global id.
    pub uid: Uid,
    pub key: SessionKey,
    pub state: SessionState,
    pub since: Timestamp,
    /// Whether the user has looked since the state changed.
    pub seen: bool,
    pub started_at: Timestamp,
    pub started_by: StartedBy,
    pub last_event_at: Timestamp,
    pub ended: Option<(Timestamp, EndedBy)>,
    pub presence: SessionPresence,
    pub folder: Option<String>,
    pub transcript: Option<String>,
    pub model: Option<String>,
    pub project: Option<ProjectIdentity>,
    /// The key of its current or last seat.
    pub seat: Option<String>,
    /// The session before it in the same seat: the chain.
    pub previous: Option<SessionKey>,
    /// The last prompt by the user.
    pub prompt: Option<SafeText>,
    /// When the agent was last prompted.
    pub prompted_at: Option<Timestamp>,
    /// The last answer that the end of a turn reported.
    pub answer: Option<SafeText>,
    /// How far the inheritance has got, and the user's settings for it at the start.
    pub inheriting: InheritState,
    pub wishes: InheritSettings,
    /// Since when the next session must not inherit from this one.
    pub fresh_at: Option<Timestamp>,
    /// The tool that a block waits for, and the subagent that requested it.
    pub asked: Option<OpenDialog>,
    /// When the usage limit that stopped it ends, if known.
    pub limited_until: Option<Timestamp>,
    /// When its model was last given memories, also recorded with 0, after a fresh start or if nothing fits; a compaction
    /// clears this.
    pub memories_given_at: Option<Timestamp>,
    /// Tasks completed since the user's last prompt.
    pub tasks: u32,
    /// Subagents at work.
    pub subagents: BTreeSet<SubagentId>,
    /// Tasks that outlived the turn that started them, as the agent counted them at the end of that turn.
    pub background: u32,
    pub context_tokens: Option<u64>,
    /// How full the context is, and which audiences were notified.
    pub meter: UsageMeter,
    pub compactions: u32,
    pub turns: u32,
    pub since_bookmark: BookmarkCounters,
    /// The turn that has not ended.
    pub open_turn: Option<SessionTurn>,
}

impl Session {
    /// Where it runs, as an event would report it. What the user writes about a session carries this: it may outlive all
    /// other events of the session.
    pub fn scene(&self) -> EventScene {
        EventScene {
            presence: self.presence,
            folder: self.folder.clone(),
            transcript: self.transcript.clone(),
            model: self.model.clone(),
            place: None,
            project: self.project.clone(),
        }
    }
}

/// The tool call that an open dialog is about, as far as the agent reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenDialog {
    pub tool: SafeText,
    pub subagent: Option<SubagentId>,
    /// One dialog may follow another without a change of state.
    pub at: Timestamp,
}

/// A period in which an agent could not proceed without the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserWait {
    pub uid: Uid,
    pub reason: BlockReason,
    pub began_at: Timestamp,
    pub ended_at: Timestamp,
}

/// One prompt and everything that followed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionTurn {
    pub uid: Uid,
    /// Counted within the session, from 1.
    pub ordinal: u32,
    /// The agent's own id of it.
    pub id: Option<TurnId>,
    pub origin: PromptOrigin,
    pub prompt: SafeText,
    pub started_at: Timestamp,
    pub ended: Option<(Timestamp, TurnOutcome)>,
    pub tool_calls: u32,
    pub tool_failures: u32,
    /// Prompts given while it ran.
    pub steered: u32,
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TurnOutcome {
        Completed = "completed",
        Failed = "failed",
        Interrupted = "interrupted",
        /// Another turn began, or the session ended, before its end was seen.
        Abandoned = "abandoned",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_parses_back_from_its_name_and_reason() {
        let blocks = [BlockReason::Permission, BlockReason::Question, BlockReason::Elicitation]
            .map(SessionState::Blocked);
        let plain = [
            SessionState::Idle,
            SessionState::Working,
            SessionState::Completed,
            SessionState::Interrupted,
            SessionState::Limited,
            SessionState::Ended,
        ];
        for state in plain.into_iter().chain(blocks) {
            assert_eq!(SessionState::parse(state.name(), state.reason()), Some(state));
        }
        assert_eq!(SessionState::parse("dreaming", None), None);
    }
}
