//! Claude Code: parses its hook payloads, lists the reply parts its events support, and detects how a session is run.
//!
//! Measured on the real client; recorded payloads are in `fixtures/claude`. Events that are not listed here are
//! ignored, and none is required to exist.

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
mod wire;

use crate::agent::{Agent, HookEvent, PayloadError, ProcessContext, TextLimits};
use crate::json::Nested;
use crate::skim::without_bulk;
use crate::transcript::BOOKMARK;
use crate::wire::{ReplySupport, last_message, parse, payload_text, tool_bytes, turn_ending};
use towline_core::event::{
    BlockReason, CompactionTrigger, EndedBy, EventKind, PromptOrigin, SessionPresence, StartedBy,
    ToolOutcome, TurnFailure,
};
use towline_core::id::{SubagentId, TurnId};
use towline_core::inherit::InheritSettings;
use towline_core::text::{SafeText, TextPolicy};
use wire::{BackgroundTask, ClaudePayload};

/// Background tasks report back as prompts that start with this.
const TASK_NOTIFICATION: &str = "<task-notification>";

/// The tool whose permission dialog is really a question.
const QUESTION_TOOL: &str = "AskUserQuestion";

/// The current and the former name of the tool that starts a subagent.
const SUBAGENT_TOOLS: [&str; 2] = ["Agent", "Task"];

/// Matcher of the tools that start a subagent, read or change files.
pub(crate) const SUBAGENT_AND_FILE_TOOLS: &str = "Agent|Task|Read|Edit|MultiEdit|Write|NotebookEdit";

pub(crate) const REPLY_SUPPORT: ReplySupport = ReplySupport {
    notices: &[
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "PermissionRequest",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Notification",
    ],
    // `Stop` accepts context too, but then continues the turn: that is a block, and must be requested as one.
    context: &[
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "SubagentStart",
        "PreToolUse",
    ],
    block: &["UserPromptSubmit", "PostToolUse", "Stop", "SubagentStop"],
    deny: &["PreToolUse"],
    // Each was observed to pass it on. The two compaction events do too, but also print the reply on the screen.
    terminal: &[
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUseFailure",
        "PermissionRequest",
        "Stop",
        "SubagentStop",
        "Notification",
    ],
};

pub(crate) fn parse_hook(payload: &[u8], keeping: TextLimits) -> Result<Option<HookEvent>, PayloadError> {
    let slim = without_bulk(payload);
    let text = payload_text(&slim);
    let wire: ClaudePayload<'_> = parse(&text)?;
    let Some(event) = wire.hook_event_name.as_deref() else {
        return Err(PayloadError::Missing { field: "hook_event_name" });
    };
    let bytes = tool_bytes(wire.tool_input, wire.tool_response, payload.len().saturating_sub(slim.len()));
    let Some(happening) = event_kind(event, &wire, keeping, bytes) else { return Ok(None) };
    let folder = if wire.new_cwd.0.is_some() { wire.new_cwd } else { wire.cwd };
    Ok(Some(HookEvent {
        event: event.to_owned(),
        session: Agent::Claude.session(wire.session_id.0)?,
        subagent: wire.agent_id.as_deref().and_then(|id| SubagentId::parse(id).ok()),
        turn: wire.prompt_id.as_deref().and_then(|id| TurnId::parse(id).ok()),
        happening,
        folder: folder.into_owned(),
        transcript: wire.transcript_path.into_owned(),
        helper_transcript: wire.agent_transcript_path.into_owned(),
        model: wire.model.into_owned(),
        typed: None,
        ending: turn_ending(&wire.last_assistant_message, wire.stop_hook_active),
    }))
}

/// `bytes`: the size of a tool's input and output.
fn event_kind(event: &str, wire: &ClaudePayload<'_>, keeping: TextLimits, bytes: u64) -> Option<EventKind> {
    let tool = || SafeText::new(wire.tool_name.as_deref().unwrap_or(""), keeping.prompt);
    Some(match event {
        "SessionStart" => {
            EventKind::SessionStarted { by: started_by(wire), wishes: InheritSettings::default() }
        }
        "SessionEnd" => EventKind::SessionEnded { by: ended_by(wire) },
        "UserPromptSubmit" => prompt(wire, keeping.prompt),
        // Registered for these tools only, so that other tools do not pay for the hook.
        "PreToolUse" if wire.tool_name.as_deref().is_some_and(|name| SUBAGENT_TOOLS.contains(&name)) => {
            EventKind::HelperWanted { tool: tool() }
        }
        "PostToolUse" => EventKind::ToolFinished { tool: tool(), outcome: ToolOutcome::Done, bytes },
        "PostToolUseFailure" => EventKind::ToolFinished { tool: tool(), outcome: tool_failure(wire), bytes },
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
        "PreCompact" => EventKind::CompactionStarted { trigger: trigger(wire) },
        "PostCompact" => EventKind::CompactionEnded { trigger: trigger(wire) },
        "CwdChanged" => EventKind::FolderChanged,
        "TaskCompleted" => EventKind::TaskCompleted,
        _ => return None,
    })
}

fn started_by(wire: &ClaudePayload<'_>) -> StartedBy {
    match wire.source.as_deref() {
        Some("startup") => StartedBy::Startup,
        Some("resume") => StartedBy::Resume,
        Some("clear") => StartedBy::Clear,
        Some("compact") => StartedBy::Compact,
        _ => StartedBy::Unknown,
    }
}

fn ended_by(wire: &ClaudePayload<'_>) -> EndedBy {
    match wire.reason.as_deref() {
        Some("clear") => EndedBy::Clear,
        Some("prompt_input_exit" | "logout") => EndedBy::Exit,
        _ => EndedBy::Other,
    }
}

fn prompt(wire: &ClaudePayload<'_>, keeping: TextPolicy) -> EventKind {
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

fn tool_failure(wire: &ClaudePayload<'_>) -> ToolOutcome {
    if wire.is_interrupt.is_true() { ToolOutcome::Interrupted } else { ToolOutcome::Failed }
}

fn permission_reason(wire: &ClaudePayload<'_>) -> BlockReason {
    if wire.tool_name.is(QUESTION_TOOL) { BlockReason::Question } else { BlockReason::Permission }
}

/// Only notifications that mean waiting for the user; clients that send no type send a permission's text.
fn notification(wire: &ClaudePayload<'_>) -> Option<EventKind> {
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

fn running_tasks(wire: &ClaudePayload<'_>) -> Option<u32> {
    let tasks: Vec<Nested<BackgroundTask<'_>>> = wire.background_tasks.parse_as()?;
    let is_running = |task: &&Nested<BackgroundTask<'_>>| {
        task.0.status.as_deref().is_none_or(|status| status == "running")
    };
    u32::try_from(tasks.iter().filter(is_running).count()).ok()
}

fn failure(wire: &ClaudePayload<'_>) -> TurnFailure {
    if wire.error.is("rate_limit") { TurnFailure::UsageLimit } else { TurnFailure::Other }
}

fn trigger(wire: &ClaudePayload<'_>) -> CompactionTrigger {
    if wire.trigger.is("auto") { CompactionTrigger::Auto } else { CompactionTrigger::Manual }
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
