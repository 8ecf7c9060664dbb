//! What is asked of every happening: its name, how soon it must be known, whose it is, what it asks for and what it ends.
//!
//! Answers from the happening alone; what it does to a session is decided by `step`.

use super::{Happening, Origin, ToolOutcome};
use crate::text::Kept;

/// How soon the database must know of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Whenever somebody folds next: nothing that is shown depends on it.
    Whenever,
    /// Like `Whenever` while the session is known to be working; else it may end a block.
    UnlessWorking,
    /// At once: what is shown changes.
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

    /// The event's kind as one word, for tables and people.
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

    /// Whether the agent did something; what we found out, or a person looked at or told us, is no sign of life.
    pub fn is_the_agents(&self) -> bool {
        let is_a_persons = matches!(
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
        !is_a_persons && !is_ours
    }

    /// Whether somebody asks the agent for something: what a background task reports, a mark that is typed, and a
    /// command of ours ask for nothing.
    pub fn is_real_prompt(&self) -> bool {
        let Happening::PromptSubmitted { origin, own: None, .. } = self else { return false };
        match origin {
            Origin::Human | Origin::Command | Origin::Continuation => true,
            Origin::Notification | Origin::Bookmark => false,
        }
    }

    /// Whether it is a marker that stands in the conversation: nobody asks for anything by it.
    pub fn is_marker(&self) -> bool {
        matches!(self, Happening::PromptSubmitted { origin: Origin::Bookmark, .. })
    }

    /// Whether the transcript is worth reading now: something came to its end, or is about to be cut.
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

    /// The tool that the event speaks of.
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
