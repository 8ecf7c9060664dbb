//! Properties of every event kind: its name, urgency and actor, whether it is a prompt, and whether it ends something.
//!
//! Derived from the event kind alone; `step` decides the effect on a session.

use super::{Happening, Origin, ToolOutcome};
use crate::text::Kept;

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

impl Happening {
    pub fn urgency(&self) -> Urgency {
        match self {
            Happening::ModelAnswered { .. }
            | Happening::ContextMeasured { .. }
            | Happening::ContextAnnounced { .. }
            | Happening::MemoryGiven { .. }
            | Happening::FolderChanged
            | Happening::TaskCompleted
            | Happening::BatonCame(_)
            | Happening::InheritanceGiven { .. }
            | Happening::IntentMade { .. }
            | Happening::IntentMoved { .. }
            | Happening::BookmarkSet(_)
            | Happening::BookmarkPlaced { .. }
            | Happening::BookmarkDeleted { .. }
            | Happening::BookmarkRestored { .. }
            | Happening::MarkerWanted { .. }
            | Happening::HandoffAsked { .. }
            | Happening::HandoffWritten { .. }
            | Happening::HopMoved { .. }
            | Happening::HandoffGiven { .. }
            | Happening::HopTold { .. } => Urgency::Whenever,
            Happening::ToolFinished { outcome: ToolOutcome::Interrupted, .. } => Urgency::Shown,
            Happening::ToolFinished { outcome: ToolOutcome::Done | ToolOutcome::Failed, .. }
            | Happening::ToolsFinished => Urgency::UnlessWorking,
            Happening::SessionEnded { .. }
            | Happening::PermissionAsked { .. }
            | Happening::PermissionRefused { .. }
            | Happening::AttentionAsked { .. }
            | Happening::AttentionGiven
            | Happening::TurnFailed { .. }
            | Happening::Interrupted
            | Happening::SubagentStarted
            | Happening::SubagentStopped
            | Happening::CompactionStarted { .. }
            | Happening::CompactionEnded { .. }
            | Happening::TurnEnded { .. }
            | Happening::SeatFound
            | Happening::Seen
            | Happening::BatonPassed
            | Happening::BatonDropped
            | Happening::FreshAsked
            | Happening::FreshTakenBack
            | Happening::InheritanceTaken { .. }
            | Happening::Observed { .. } => Urgency::Shown,
            Happening::SessionStarted { .. }
            | Happening::PromptSubmitted { .. }
            | Happening::HelperWanted { .. } => Urgency::Answered,
        }
    }

    /// The event kind as one word, for tables and users.
    pub fn name(&self) -> &'static str {
        match self {
            Happening::SessionStarted { .. } => "session_started",
            Happening::SessionEnded { .. } => "session_ended",
            Happening::PromptSubmitted { .. } => "prompt_submitted",
            Happening::ToolFinished { .. } => "tool_finished",
            Happening::ToolsFinished => "tools_finished",
            Happening::PermissionAsked { .. } => "permission_asked",
            Happening::PermissionRefused { .. } => "permission_refused",
            Happening::AttentionAsked { .. } => "attention_asked",
            Happening::AttentionGiven => "attention_given",
            Happening::TurnEnded { .. } => "turn_ended",
            Happening::TurnFailed { .. } => "turn_failed",
            Happening::Interrupted => "interrupted",
            Happening::SubagentStarted => "subagent_started",
            Happening::SubagentStopped => "subagent_stopped",
            Happening::CompactionStarted { .. } => "compaction_started",
            Happening::CompactionEnded { .. } => "compaction_ended",
            Happening::ModelAnswered { .. } => "model_answered",
            Happening::ContextMeasured { .. } => "context_measured",
            Happening::ContextAnnounced { .. } => "context_announced",
            Happening::MemoryGiven { .. } => "memory_given",
            Happening::HelperWanted { .. } => "helper_wanted",
            Happening::FolderChanged => "folder_changed",
            Happening::TaskCompleted => "task_completed",
            Happening::SeatFound => "seat_found",
            Happening::Seen => "seen",
            Happening::BatonPassed => "baton_passed",
            Happening::BatonDropped => "baton_dropped",
            Happening::BatonCame(_) => "baton_came",
            Happening::FreshAsked => "fresh_asked",
            Happening::FreshTakenBack => "fresh_taken_back",
            Happening::InheritanceTaken { .. } => "inheritance_taken",
            Happening::InheritanceGiven { .. } => "inheritance_given",
            Happening::IntentMade { .. } => "intent_made",
            Happening::IntentMoved { .. } => "intent_moved",
            Happening::HandoffAsked { .. } => "handoff_asked",
            Happening::HandoffWritten { .. } => "handoff_written",
            Happening::HopMoved { .. } => "hop_moved",
            Happening::HandoffGiven { .. } => "handoff_given",
            Happening::HopTold { .. } => "hop_told",
            Happening::Observed { .. } => "observed",
            Happening::BookmarkSet(_) => "bookmark_set",
            Happening::BookmarkPlaced { .. } => "bookmark_placed",
            Happening::BookmarkDeleted { .. } => "bookmark_deleted",
            Happening::BookmarkRestored { .. } => "bookmark_restored",
            Happening::MarkerWanted { .. } => "marker_wanted",
        }
    }

    /// Whether the agent acted. Our own findings and the user's actions are no sign that the agent is alive.
    pub fn is_the_agents(&self) -> bool {
        let is_users = matches!(
            self,
            Happening::Seen
                | Happening::BatonPassed
                | Happening::BatonDropped
                | Happening::FreshAsked
                | Happening::FreshTakenBack
                | Happening::InheritanceTaken { .. }
                | Happening::BookmarkDeleted { .. }
                | Happening::BookmarkRestored { .. }
        );
        let is_ours = matches!(
            self,
            Happening::SeatFound
                | Happening::Observed { .. }
                | Happening::BatonCame(_)
                | Happening::InheritanceGiven { .. }
                | Happening::IntentMade { .. }
                | Happening::IntentMoved { .. }
                | Happening::BookmarkSet(_)
                | Happening::BookmarkPlaced { .. }
                | Happening::MarkerWanted { .. }
                | Happening::ContextMeasured { .. }
                | Happening::ContextAnnounced { .. }
                | Happening::MemoryGiven { .. }
                | Happening::HandoffAsked { .. }
                | Happening::HandoffWritten { .. }
                | Happening::HopMoved { .. }
                | Happening::HandoffGiven { .. }
                | Happening::HopTold { .. }
        );
        !is_users && !is_ours
    }

    /// Whether the prompt asks the agent for work: reports of background tasks, markers and Towline commands do not.
    pub fn is_real_prompt(&self) -> bool {
        let Happening::PromptSubmitted { origin, own: None, .. } = self else { return false };
        match origin {
            Origin::Human | Origin::Command | Origin::Continuation => true,
            Origin::Notification | Origin::Bookmark => false,
        }
    }

    /// Whether the event is a bookmark marker in the conversation, which asks for nothing.
    pub fn is_marker(&self) -> bool {
        matches!(self, Happening::PromptSubmitted { origin: Origin::Bookmark, .. })
    }

    /// Whether the transcript is worth reading now: a turn or a session ended, or a compaction is about to cut it.
    pub fn ends_something(&self) -> bool {
        matches!(
            self,
            Happening::TurnEnded { .. }
                | Happening::TurnFailed { .. }
                | Happening::Interrupted
                | Happening::SubagentStopped
                | Happening::CompactionStarted { .. }
                | Happening::SessionEnded { .. }
        )
    }

    pub fn tool(&self) -> Option<&Kept> {
        let (Happening::ToolFinished { tool, .. }
        | Happening::PermissionAsked { tool, .. }
        | Happening::PermissionRefused { tool }
        | Happening::HelperWanted { tool }) = self
        else {
            return None;
        };
        Some(tool)
    }
}
