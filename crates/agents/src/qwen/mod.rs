//! Qwen Code: parses its hook payloads and lists the reply parts its events support.
//!
//! Measured on the real client; recorded payloads are in `fixtures/qwen`. Its events resemble those of another agent, but
//! it reports a prompt again after every round of tools, and an interruption only as waiting for input.

pub(crate) mod adapter;
pub mod install;
pub(crate) mod screen;
pub(crate) mod tail;
pub(crate) mod tool_action;
pub mod transcript;

use crate::agent::{Agent, TextLimits};
use crate::transcript::BOOKMARK;
use crate::wire::{HookPayload, ReplyShape, ReplySupport, last_message, running_tasks};
use towline_core::event::{BlockReason, EndedBy, EventKind, PromptOrigin, ToolOutcome, TurnFailure};
use towline_core::inherit::InheritSettings;
use towline_core::phrases::Phrases;
use towline_core::text::{SafeText, TextPolicy};

/// The tool that starts a subagent.
const SUBAGENT_TOOL: &str = "agent";

/// The tool whose permission dialog is really a question.
const QUESTION_TOOL: &str = "ask_user_question";

/// Background tasks report back as prompts that start with this.
pub(super) const TASK_NOTIFICATION: &str = "<task-notification>";

pub(crate) const REPLY_SUPPORT: ReplySupport = ReplySupport {
    // Shown at the end of a turn only.
    notices: Phrases("Stop"),
    context: Phrases("SessionStart|UserPromptSubmit|PostToolUse|PostToolBatch"),
    block: Phrases("UserPromptSubmit|Stop"),
    deny: Phrases("PreToolUse"),
    restart: Phrases(""),
    restarts_anew: false,
    terminal: Phrases(""),
    shape: ReplyShape::Nested,
};

pub(crate) fn event_kind(
    event: &str,
    wire: &HookPayload<'_>,
    keeping: TextLimits,
    bytes: u64,
) -> Option<EventKind> {
    let tool = || SafeText::new(wire.tool_name.as_deref().unwrap_or(""), keeping.prompt);
    let is = |name: &str| wire.tool_name.is(name);
    Some(match event {
        "SessionStart" => {
            EventKind::SessionStarted { by: wire.started_by(), wishes: InheritSettings::default() }
        }
        "SessionEnd" => EventKind::SessionEnded { by: ended_by(wire) },
        // After tools and after a blocked stop the event comes again, without what the user submitted.
        "UserPromptSubmit" if wire.submitted_prompt.is_present() => prompt(wire, keeping.prompt),
        "PreToolUse" if is(SUBAGENT_TOOL) => EventKind::SubagentWanted { tool: tool() },
        "PostToolUse" => EventKind::ToolFinished { tool: tool(), outcome: ToolOutcome::Done, bytes },
        "PostToolUseFailure" => EventKind::ToolFinished { tool: tool(), outcome: ToolOutcome::Failed, bytes },
        "PostToolBatch" => EventKind::ToolsFinished,
        "PermissionRequest" => {
            let reason = if is(QUESTION_TOOL) { BlockReason::Question } else { BlockReason::Permission };
            EventKind::PermissionAsked { tool: tool(), reason }
        }
        "Notification" => return notification(wire),
        "Stop" => EventKind::TurnEnded {
            background: running_tasks(wire),
            answer: last_message(&wire.last_assistant_message, keeping.answer),
        },
        "StopFailure" if wire.error.is("rate_limit") => {
            EventKind::TurnFailed { failure: TurnFailure::UsageLimit, until: None }
        }
        "StopFailure" => EventKind::TurnFailed { failure: TurnFailure::Other, until: None },
        "SubagentStart" => EventKind::SubagentStarted,
        "SubagentStop" => EventKind::SubagentStopped,
        "PreCompact" => EventKind::CompactionStarted { trigger: wire.compaction_trigger() },
        "PostCompact" => EventKind::CompactionEnded { trigger: wire.compaction_trigger() },
        _ => return None,
    })
}

fn ended_by(wire: &HookPayload<'_>) -> EndedBy {
    match wire.reason.as_deref() {
        Some("clear") => EndedBy::Clear,
        Some("prompt_input_exit") => EndedBy::Exit,
        _ => EndedBy::Other,
    }
}

fn prompt(wire: &HookPayload<'_>, keeping: TextPolicy) -> EventKind {
    let raw = wire.prompt.as_deref().unwrap_or("");
    let origin = match raw.trim() {
        text if text.starts_with(TASK_NOTIFICATION) => PromptOrigin::Notification,
        text if text.starts_with('/') => PromptOrigin::Command,
        BOOKMARK => PromptOrigin::Bookmark,
        _ => PromptOrigin::Human,
    };
    EventKind::PromptSubmitted {
        prompt: SafeText::new(raw, keeping),
        origin,
        own: Agent::Qwen.own_command(raw),
    }
}

/// The client waits for input after every turn. After a turn that has not ended otherwise, the user has stopped it.
fn notification(wire: &HookPayload<'_>) -> Option<EventKind> {
    match wire.notification_type.as_deref() {
        Some("permission_prompt") => Some(EventKind::AttentionAsked { reason: BlockReason::Permission }),
        Some("idle_prompt") => Some(EventKind::Interrupted),
        Some(_) | None => None,
    }
}
