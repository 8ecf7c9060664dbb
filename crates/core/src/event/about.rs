//! Properties of every event kind: its name, urgency and actor, whether it is a prompt, and whether it ends something.
//!
//! Derived from the event kind alone; `step` decides the effect on a session.

use super::{EventKind, PromptOrigin, ToolOutcome};
use crate::text::SafeText;

/// How soon an event must be applied to the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// With the next projection run, whenever that is: no displayed state depends on it.
    Whenever,
    /// Like `Whenever` while the session is known to be working; otherwise the event may end a block.
    UnlessWorking,
    /// At once: the displayed state changes.
    Shown,
    /// At once, and the agent waits for an answer that depends on it.
    Answered,
}

impl EventKind {
    pub fn urgency(&self) -> Urgency {
        match self {
            EventKind::ModelAnswered { .. }
            | EventKind::ContextMeasured { .. }
            | EventKind::ContextAnnounced { .. }
            | EventKind::MemoryGiven { .. }
            | EventKind::FolderChanged
            | EventKind::TaskCompleted
            | EventKind::BatonCame(_)
            | EventKind::InheritanceGiven { .. }
            | EventKind::IntentMade { .. }
            | EventKind::IntentMoved { .. }
            | EventKind::BookmarkSet(_)
            | EventKind::BookmarkPlaced { .. }
            | EventKind::BookmarkDeleted { .. }
            | EventKind::BookmarkRestored { .. }
            | EventKind::MarkerWanted { .. }
            | EventKind::HandoffAsked { .. }
            | EventKind::HandoffWritten { .. }
            | EventKind::HopMoved { .. }
            | EventKind::HandoffGiven { .. }
            | EventKind::HopTold { .. } => Urgency::Whenever,
            EventKind::ToolFinished { outcome: ToolOutcome::Interrupted, .. } => Urgency::Shown,
            EventKind::ToolFinished { outcome: ToolOutcome::Done | ToolOutcome::Failed, .. }
            | EventKind::ToolsFinished => Urgency::UnlessWorking,
            EventKind::SessionEnded { .. }
            | EventKind::PermissionAsked { .. }
            | EventKind::PermissionRefused { .. }
            | EventKind::AttentionAsked { .. }
            | EventKind::AttentionGiven
            | EventKind::TurnFailed { .. }
            | EventKind::Interrupted
            | EventKind::SubagentStarted
            | EventKind::SubagentStopped
            | EventKind::CompactionStarted { .. }
            | EventKind::CompactionEnded { .. }
            | EventKind::TurnEnded { .. }
            | EventKind::SeatFound
            | EventKind::Seen
            | EventKind::BatonPassed
            | EventKind::BatonDropped
            | EventKind::FreshAsked
            | EventKind::FreshTakenBack
            | EventKind::InheritanceTaken { .. }
            | EventKind::Observed { .. } => Urgency::Shown,
            EventKind::SessionStarted { .. }
            | EventKind::PromptSubmitted { .. }
            | EventKind::HelperWanted { .. } => Urgency::Answered,
        }
    }

    /// The event kind as one word, for tables and users.
    pub fn name(&self) -> &'static str {
        match self {
            EventKind::SessionStarted { .. } => "session_started",
            EventKind::SessionEnded { .. } => "session_ended",
            EventKind::PromptSubmitted { .. } => "prompt_submitted",
            EventKind::ToolFinished { .. } => "tool_finished",
            EventKind::ToolsFinished => "tools_finished",
            EventKind::PermissionAsked { .. } => "permission_asked",
            EventKind::PermissionRefused { .. } => "permission_refused",
            EventKind::AttentionAsked { .. } => "attention_asked",
            EventKind::AttentionGiven => "attention_given",
            EventKind::TurnEnded { .. } => "turn_ended",
            EventKind::TurnFailed { .. } => "turn_failed",
            EventKind::Interrupted => "interrupted",
            EventKind::SubagentStarted => "subagent_started",
            EventKind::SubagentStopped => "subagent_stopped",
            EventKind::CompactionStarted { .. } => "compaction_started",
            EventKind::CompactionEnded { .. } => "compaction_ended",
            EventKind::ModelAnswered { .. } => "model_answered",
            EventKind::ContextMeasured { .. } => "context_measured",
            EventKind::ContextAnnounced { .. } => "context_announced",
            EventKind::MemoryGiven { .. } => "memory_given",
            EventKind::HelperWanted { .. } => "helper_wanted",
            EventKind::FolderChanged => "folder_changed",
            EventKind::TaskCompleted => "task_completed",
            EventKind::SeatFound => "seat_found",
            EventKind::Seen => "seen",
            EventKind::BatonPassed => "baton_passed",
            EventKind::BatonDropped => "baton_dropped",
            EventKind::BatonCame(_) => "baton_came",
            EventKind::FreshAsked => "fresh_asked",
            EventKind::FreshTakenBack => "fresh_taken_back",
            EventKind::InheritanceTaken { .. } => "inheritance_taken",
            EventKind::InheritanceGiven { .. } => "inheritance_given",
            EventKind::IntentMade { .. } => "intent_made",
            EventKind::IntentMoved { .. } => "intent_moved",
            EventKind::HandoffAsked { .. } => "handoff_asked",
            EventKind::HandoffWritten { .. } => "handoff_written",
            EventKind::HopMoved { .. } => "hop_moved",
            EventKind::HandoffGiven { .. } => "handoff_given",
            EventKind::HopTold { .. } => "hop_told",
            EventKind::Observed { .. } => "observed",
            EventKind::BookmarkSet(_) => "bookmark_set",
            EventKind::BookmarkPlaced { .. } => "bookmark_placed",
            EventKind::BookmarkDeleted { .. } => "bookmark_deleted",
            EventKind::BookmarkRestored { .. } => "bookmark_restored",
            EventKind::MarkerWanted { .. } => "marker_wanted",
        }
    }

    /// Whether the agent acted. Our own findings and the user's actions are no sign that the agent is alive.
    pub fn is_agent_activity(&self) -> bool {
        let is_users = matches!(
            self,
            EventKind::Seen
                | EventKind::BatonPassed
                | EventKind::BatonDropped
                | EventKind::FreshAsked
                | EventKind::FreshTakenBack
                | EventKind::InheritanceTaken { .. }
                | EventKind::BookmarkDeleted { .. }
                | EventKind::BookmarkRestored { .. }
        );
        let is_ours = matches!(
            self,
            EventKind::SeatFound
                | EventKind::Observed { .. }
                | EventKind::BatonCame(_)
                | EventKind::InheritanceGiven { .. }
                | EventKind::IntentMade { .. }
                | EventKind::IntentMoved { .. }
                | EventKind::BookmarkSet(_)
                | EventKind::BookmarkPlaced { .. }
                | EventKind::MarkerWanted { .. }
                | EventKind::ContextMeasured { .. }
                | EventKind::ContextAnnounced { .. }
                | EventKind::MemoryGiven { .. }
                | EventKind::HandoffAsked { .. }
                | EventKind::HandoffWritten { .. }
                | EventKind::HopMoved { .. }
                | EventKind::HandoffGiven { .. }
                | EventKind::HopTold { .. }
        );
        !is_users && !is_ours
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
        | EventKind::HelperWanted { tool }) = self
        else {
            return None;
        };
        Some(tool)
    }
}
