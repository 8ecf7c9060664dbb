//! Claude Code: parses its hook payloads, lists the reply parts its events support, and detects how a session is run.
//!
//! Measured on the real client; recorded payloads are in `fixtures/claude`. Events that are not listed here are
//! ignored, and none is required to exist.

pub(crate) mod adapter;
pub(crate) mod ask;
pub(crate) mod context;
mod entry;
pub mod host;
pub(crate) mod input;
pub mod install;
pub mod repair;
mod reset;
pub(crate) mod screen;
pub(crate) mod status;
pub(crate) mod tail;
pub(crate) mod tool_action;
pub mod transcript;

use crate::agent::{Agent, ProcessContext, TextLimits};
use crate::transcript::BOOKMARK;
use crate::wire::{HookPayload, ReplyShape, ReplySupport, last_message, running_tasks};
use towline_core::event::{
    BlockReason, EndedBy, EventKind, PromptOrigin, SessionPresence, ToolOutcome, TurnFailure,
};
use towline_core::inherit::InheritSettings;
use towline_core::phrases::Phrases;
use towline_core::text::{SafeText, TextPolicy};
use transcript::BESIDE;

/// Background tasks report back as prompts that start with this.
const TASK_NOTIFICATION: &str = "<task-notification>";

/// The tool whose permission dialog is really a question.
const QUESTION_TOOL: &str = "AskUserQuestion";

/// The current and the former name of the tool that starts a subagent.
const SUBAGENT_TOOLS: [&str; 2] = ["Agent", "Task"];

/// Matcher of the tools that start a subagent, read or change files.
pub(crate) const SUBAGENT_AND_FILE_TOOLS: &str = "Agent|Task|Read|Edit|MultiEdit|Write|NotebookEdit";

pub(crate) const REPLY_SUPPORT: ReplySupport = ReplySupport {
    notices: Phrases(
        "SessionStart|UserPromptSubmit|PostToolUse|PostToolUseFailure|PostToolBatch|PermissionRequest|Stop|\
        SubagentStart|SubagentStop|PreCompact|PostCompact|Notification",
    ),
    // `Stop` accepts context too, but then continues the turn: that is a block, and must be requested as one.
    context: Phrases(
        "SessionStart|UserPromptSubmit|PostToolUse|PostToolUseFailure|PostToolBatch|SubagentStart|PreToolUse",
    ),
    block: Phrases("UserPromptSubmit|PostToolUse|Stop|SubagentStop"),
    deny: Phrases("PreToolUse"),
    restart: Phrases(""),
    restarts_anew: false,
    // Each was observed to pass it on. The two compaction events do too, but also print the reply on the screen.
    terminal: Phrases(
        "SessionStart|UserPromptSubmit|PostToolUse|PostToolUseFailure|PermissionRequest|Stop|SubagentStop|\
        Notification",
    ),
    shape: ReplyShape::Nested,
};

pub(crate) fn event_kind(
    event: &str,
    wire: &HookPayload<'_>,
    keeping: TextLimits,
    bytes: u64,
) -> Option<EventKind> {
    let tool = || SafeText::new(wire.tool_name.as_deref().unwrap_or(""), keeping.prompt);
    Some(match event {
        "SessionStart" => {
            EventKind::SessionStarted { by: wire.started_by(), wishes: InheritSettings::default() }
        }
        "SessionEnd" => EventKind::SessionEnded { by: ended_by(wire) },
        "UserPromptSubmit" => prompt(wire, keeping.prompt),
        // Registered for these tools only, so that other tools do not pay for the hook.
        "PreToolUse" if wire.tool_name.as_deref().is_some_and(|name| SUBAGENT_TOOLS.contains(&name)) => {
            EventKind::SubagentWanted { tool: tool() }
        }
        "PostToolUse" => EventKind::ToolFinished { tool: tool(), outcome: ToolOutcome::Done, bytes },
        "PostToolUseFailure" => {
            let is_interrupt = wire.is_interrupt.is_true();
            let outcome = if is_interrupt { ToolOutcome::Interrupted } else { ToolOutcome::Failed };
            EventKind::ToolFinished { tool: tool(), outcome, bytes }
        }
        "PostToolBatch" => EventKind::ToolsFinished,
        "PermissionRequest" => EventKind::PermissionAsked { tool: tool(), reason: permission_reason(wire) },
        "PermissionDenied" => EventKind::PermissionRefused { tool: tool() },
        "Notification" => return notification(wire),
        "Elicitation" => EventKind::AttentionAsked { reason: BlockReason::Elicitation },
        "ElicitationResult" => EventKind::AttentionGiven,
        "Stop" => EventKind::TurnEnded {
            background: running_tasks(wire),
            answer: last_message(&wire.last_assistant_message, keeping.answer),
        },
        "StopFailure" => EventKind::TurnFailed { failure: failure(wire), until: None },
        // Every compaction ends with the stop of a nameless subagent that had no start.
        "SubagentStart" | "SubagentStop" if wire.agent_type.as_deref().unwrap_or("").is_empty() => {
            return None;
        }
        "SubagentStart" => EventKind::SubagentStarted,
        "SubagentStop" => EventKind::SubagentStopped,
        "PreCompact" => EventKind::CompactionStarted { trigger: wire.compaction_trigger() },
        "PostCompact" => EventKind::CompactionEnded { trigger: wire.compaction_trigger() },
        "CwdChanged" => EventKind::FolderChanged,
        "TaskCompleted" => EventKind::TaskCompleted,
        _ => return None,
    })
}

fn ended_by(wire: &HookPayload<'_>) -> EndedBy {
    match wire.reason.as_deref() {
        Some("clear") => EndedBy::Clear,
        Some("prompt_input_exit" | "logout") => EndedBy::Exit,
        _ => EndedBy::Other,
    }
}

fn prompt(wire: &HookPayload<'_>, keeping: TextPolicy) -> EventKind {
    let raw = wire.prompt.as_deref().unwrap_or("");
    let origin = match raw.trim_start() {
        text if text.starts_with(TASK_NOTIFICATION) => PromptOrigin::Notification,
        text if text.starts_with('/') => PromptOrigin::Command,
        text if text.trim_end() == BOOKMARK => PromptOrigin::Bookmark,
        _ => PromptOrigin::Human,
    };
    let own = Agent::Claude.own_command(raw);
    EventKind::PromptSubmitted { prompt: SafeText::new(raw, keeping), origin, own }
}

/// A prompt without what editors and the client put before it.
pub(crate) fn typed_text(prompt: &str) -> &str {
    let mut text = prompt.trim_start();
    while BESIDE.iter().any(|start| text.starts_with(start)) {
        let name = text[1..].split(['>', ' ']).next().unwrap_or_default();
        let Some((_, rest)) = text.split_once(&format!("</{name}>")) else { break };
        text = rest.trim_start();
    }
    text
}

fn permission_reason(wire: &HookPayload<'_>) -> BlockReason {
    if wire.tool_name.is(QUESTION_TOOL) { BlockReason::Question } else { BlockReason::Permission }
}

/// Only notifications that mean waiting for the user; clients that send no type send a permission's text.
fn notification(wire: &HookPayload<'_>) -> Option<EventKind> {
    let reason = match wire.notification_type.as_deref() {
        Some("permission_prompt") => BlockReason::Permission,
        Some("elicitation_dialog") => BlockReason::Elicitation,
        Some("agent_needs_input") => BlockReason::Question,
        Some("elicitation_response") => return Some(EventKind::AttentionGiven),
        None if wire.message.as_deref().is_some_and(|text| text.contains("permission")) => {
            BlockReason::Permission
        }
        Some(_) | None => return None,
    };
    Some(EventKind::AttentionAsked { reason })
}

fn failure(wire: &HookPayload<'_>) -> TurnFailure {
    if wire.error.is("rate_limit") { TurnFailure::UsageLimit } else { TurnFailure::Other }
}

/// The client passes its entry point to its hooks.
pub(crate) fn presence(surroundings: &ProcessContext<'_>) -> SessionPresence {
    match (surroundings.variable)("CLAUDE_CODE_ENTRYPOINT").as_deref() {
        None | Some("cli") => SessionPresence::Terminal,
        Some(entry) if entry.starts_with("sdk") || entry.contains("action") || entry == "mcp" => {
            SessionPresence::Headless
        }
        Some(_) => SessionPresence::Ide,
    }
}
