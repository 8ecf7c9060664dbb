//! Properties of every event kind: its name, urgency and actor, whether it is a prompt, and whether it ends something.
//!
//! Derived from the event kind alone; `step` decides the effect on a session.

use super::{EventKind, PromptOrigin, ToolOutcome};
use crate::bookmark::BookmarkOrigin;
use crate::text::SafeText;

/// How soon an event must be applied to the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// At the next apply, whenever that is: no displayed state depends on it.
    Whenever,
    /// Like `Whenever` while the session is known to be working; otherwise the event may end a block.
    UnlessWorking,
    /// At once: the displayed state changes.
    Shown,
    /// At once, and the agent waits for an answer that depends on it.
    Answered,
}

/// The actor that caused an event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Actor {
    Agent,
    Person,
    Towline,
}

impl EventKind {
    /// Whether it holds what the user wrote or decided: the journal keeps it until it is forgotten.
    pub fn is_kept(&self) -> bool {
        if let EventKind::BookmarkSet(set) = self {
            return set.label.is_some() || set.how == BookmarkOrigin::Manual;
        }
        matches!(self, EventKind::BookmarkDeleted { .. } | EventKind::BookmarkRestored { .. })
    }

    /// Of every kind: its name, its urgency, and who acted.
    fn properties(&self) -> (&'static str, Urgency, Actor) {
        use Actor::{Agent, Person, Towline};
        use Urgency::{Answered, Shown, UnlessWorking, Whenever};
        match self {
            EventKind::SessionStarted { .. } => ("session_started", Answered, Agent),
            EventKind::SessionEnded { .. } => ("session_ended", Shown, Agent),
            EventKind::PromptSubmitted { .. } => ("prompt_submitted", Answered, Agent),
            EventKind::ToolFinished { .. } => ("tool_finished", UnlessWorking, Agent),
            EventKind::ToolsFinished => ("tools_finished", UnlessWorking, Agent),
            EventKind::PermissionAsked { .. } => ("permission_asked", Shown, Agent),
            EventKind::PermissionRefused { .. } => ("permission_refused", Shown, Agent),
            EventKind::AttentionAsked { .. } => ("attention_asked", Shown, Agent),
            EventKind::AttentionGiven => ("attention_given", Shown, Agent),
            EventKind::TurnEnded { .. } => ("turn_ended", Shown, Agent),
            EventKind::TurnFailed { .. } => ("turn_failed", Shown, Agent),
            EventKind::Interrupted => ("interrupted", Shown, Agent),
            EventKind::SubagentStarted => ("subagent_started", Shown, Agent),
            EventKind::SubagentStopped => ("subagent_stopped", Shown, Agent),
            EventKind::CompactionStarted { .. } => ("compaction_started", Shown, Agent),
            EventKind::CompactionEnded { .. } => ("compaction_ended", Shown, Agent),
            EventKind::ModelAnswered { .. } => ("model_answered", Whenever, Agent),
            EventKind::ContextMeasured { .. } => ("context_measured", Whenever, Towline),
            EventKind::ContextAnnounced { .. } => ("context_announced", Whenever, Towline),
            EventKind::MemoryGiven { .. } => ("memory_given", Whenever, Towline),
            EventKind::SubagentWanted { .. } => ("helper_wanted", Answered, Agent),
            EventKind::FolderChanged => ("folder_changed", Whenever, Agent),
            EventKind::TaskCompleted => ("task_completed", Whenever, Agent),
            EventKind::SeatFound => ("seat_found", Shown, Towline),
            EventKind::Seen => ("seen", Shown, Person),
            EventKind::BatonPassed => ("baton_passed", Shown, Person),
            EventKind::BatonDropped => ("baton_dropped", Shown, Person),
            EventKind::BatonCame(_) => ("baton_came", Whenever, Towline),
            EventKind::FreshAsked => ("fresh_asked", Shown, Person),
            EventKind::FreshTakenBack => ("fresh_taken_back", Shown, Person),
            EventKind::InheritanceTaken { .. } => ("inheritance_taken", Shown, Person),
            EventKind::InheritanceGiven { .. } => ("inheritance_given", Whenever, Towline),
            EventKind::IntentMade { .. } => ("intent_made", Whenever, Towline),
            EventKind::IntentMoved { .. } => ("intent_moved", Whenever, Towline),
            EventKind::HandoffAsked { .. } => ("handoff_asked", Whenever, Towline),
            EventKind::HandoffWritten { .. } => ("handoff_written", Whenever, Towline),
            EventKind::HopMoved { .. } => ("hop_moved", Whenever, Towline),
            EventKind::HandoffGiven { .. } => ("handoff_given", Whenever, Towline),
            EventKind::HopTold { .. } => ("hop_told", Whenever, Towline),
            EventKind::Observed { .. } => ("observed", Shown, Towline),
            EventKind::BookmarkSet(_) => ("bookmark_set", Whenever, Towline),
            EventKind::BookmarkPlaced { .. } => ("bookmark_placed", Whenever, Towline),
            EventKind::BookmarkDeleted { .. } => ("bookmark_deleted", Whenever, Person),
            EventKind::BookmarkRestored { .. } => ("bookmark_restored", Whenever, Person),
            EventKind::MarkerWanted { .. } => ("marker_wanted", Whenever, Towline),
        }
    }

    pub fn urgency(&self) -> Urgency {
        let is_stop = matches!(self, EventKind::ToolFinished { outcome: ToolOutcome::Interrupted, .. });
        if is_stop { Urgency::Shown } else { self.properties().1 }
    }

    /// The event kind as one word, for tables and users.
    pub fn name(&self) -> &'static str {
        self.properties().0
    }

    /// Whether the agent acted. Our own findings and the user's actions are no sign that the agent is alive.
    pub fn is_agent_activity(&self) -> bool {
        self.properties().2 == Actor::Agent
    }

    /// Whether the prompt asks the agent for work: reports of background tasks, markers and Towline commands do not.
    pub fn is_real_prompt(&self) -> bool {
        matches!(self, EventKind::PromptSubmitted { origin, own: None, .. } if origin.is_work())
    }

    /// Whether the event is a bookmark marker in the conversation, which asks for nothing.
    pub fn is_marker(&self) -> bool {
        matches!(self, EventKind::PromptSubmitted { origin: PromptOrigin::Bookmark, .. })
    }

    /// Whether the transcript is worth reading now: a turn or a session ended, or a compaction is about to cut it.
    pub fn ends_something(&self) -> bool {
        matches!(
            self,
            EventKind::TurnEnded { .. }
                | EventKind::TurnFailed { .. }
                | EventKind::Interrupted
                | EventKind::SubagentStopped
                | EventKind::CompactionStarted { .. }
                | EventKind::SessionEnded { .. }
        )
    }

    pub fn tool(&self) -> Option<&SafeText> {
        let (EventKind::ToolFinished { tool, .. }
        | EventKind::PermissionAsked { tool, .. }
        | EventKind::PermissionRefused { tool }
        | EventKind::SubagentWanted { tool }) = self
        else {
            return None;
        };
        Some(tool)
    }
}
