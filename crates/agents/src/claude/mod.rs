//! Claude Code: parses its hook payloads, lists the reply parts its events support, and detects how a session is run.
//!
//! Measured on the real client; recorded payloads are in `fixtures/claude`. Events that are not listed here are
//! ignored, and none is required to exist.

pub(crate) mod ask;
pub(crate) mod context;
pub(crate) mod deed;
mod entry;
pub mod host;
pub(crate) mod input;
pub mod install;
pub mod repair;
mod reset;
pub(crate) mod screen;
pub(crate) mod status;
pub(crate) mod tail;
pub mod transcript;
mod wire;

use crate::reader::BOOKMARK;
use crate::skim::without_bulk;
use crate::wire::{ReplySupport, last_message, parse, payload_text, turn_ending};
use crate::{Agent, Heard, Keepings, PayloadError, Surroundings};
use towline_core::event::{
    EndedBy, Failure, Happening, Origin, Presence, Reason, StartedBy, ToolOutcome, Trigger,
};
use towline_core::id::{SubagentId, TurnId};
use towline_core::inherit::Wishes;
use towline_core::text::{Keeping, Kept};
use wire::ClaudePayload;

/// Background tasks report back as prompts that start with this.
const TASK_NOTIFICATION: &str = "<task-notification>";

/// The tool whose permission dialog is really a question.
const QUESTION_TOOL: &str = "AskUserQuestion";

/// The current and the former name of the tool that starts a subagent.
const SUBAGENT_TOOLS: [&str; 2] = ["Agent", "Task"];

/// The same, with the tools that read or change files.
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

pub(crate) fn hear(payload: &[u8], keeping: Keepings) -> Result<Option<Heard>, PayloadError> {
    let slim = without_bulk(payload);
    let text = payload_text(&slim);
    let wire: ClaudePayload<'_> = parse(&text)?;
    let Some(event) = wire.hook_event_name.as_deref() else {
        return Err(PayloadError::Missing { field: "hook_event_name" });
    };
    let bytes = wire.tool_bytes(payload.len().saturating_sub(slim.len()));
    let Some(happening) = event_kind(event, &wire, keeping, bytes) else { return Ok(None) };
    let folder = if wire.new_cwd.0.is_some() { wire.new_cwd } else { wire.cwd };
    Ok(Some(Heard {
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
        ending: turn_ending(&wire.last_assistant_message, &wire.stop_hook_active),
    }))
}

/// `bytes`: the size of a tool's input and output.
fn event_kind(event: &str, wire: &ClaudePayload<'_>, keeping: Keepings, bytes: u64) -> Option<Happening> {
    let tool = || Kept::new(wire.tool_name.as_deref().unwrap_or(""), keeping.prompt);
    Some(match event {
        "SessionStart" => Happening::SessionStarted { by: started_by(wire), wishes: Wishes::default() },
        "SessionEnd" => Happening::SessionEnded { by: ended_by(wire) },
        "UserPromptSubmit" => prompt(wire, keeping.prompt),
        // Registered for these tools only, so that other tools do not pay for the hook.
        "PreToolUse" if wire.tool_name.as_deref().is_some_and(|name| SUBAGENT_TOOLS.contains(&name)) => {
            Happening::HelperWanted { tool: tool() }
        }
        "PostToolUse" => Happening::ToolFinished { tool: tool(), outcome: ToolOutcome::Done, bytes },
        "PostToolUseFailure" => Happening::ToolFinished { tool: tool(), outcome: tool_failure(wire), bytes },
        "PostToolBatch" => Happening::ToolsFinished,
        "PermissionRequest" => Happening::PermissionAsked { tool: tool(), reason: permission_reason(wire) },
        "PermissionDenied" => Happening::PermissionRefused { tool: tool() },
        "Notification" => return notification(wire),
        "Elicitation" => Happening::AttentionAsked { reason: Reason::Elicitation },
        "ElicitationResult" => Happening::AttentionGiven,
        "Stop" => Happening::TurnEnded {
            background: running_tasks(wire),
            answer: last_message(&wire.last_assistant_message, keeping.answer),
        },
        "StopFailure" => Happening::TurnFailed { failure: failure(wire), until: None },
        // Every compaction ends with the stop of a nameless subagent that had no start.
        "SubagentStart" | "SubagentStop" if wire.agent_type.as_deref().unwrap_or("").is_empty() => {
            return None;
        }
        "SubagentStart" => Happening::SubagentStarted,
        "SubagentStop" => Happening::SubagentStopped,
        "PreCompact" => Happening::CompactionStarted { trigger: trigger(wire) },
        "PostCompact" => Happening::CompactionEnded { trigger: trigger(wire) },
        "CwdChanged" => Happening::FolderChanged,
        "TaskCompleted" => Happening::TaskCompleted,
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

fn prompt(wire: &ClaudePayload<'_>, keeping: Keeping) -> Happening {
    let raw = wire.prompt.as_deref().unwrap_or("");
    let origin = match raw.trim_start() {
        text if text.starts_with(TASK_NOTIFICATION) => Origin::Notification,
        text if text.starts_with('/') => Origin::Command,
        text if text.trim_end() == BOOKMARK => Origin::Bookmark,
        _ => Origin::Human,
    };
    let own = Agent::Claude.own_command(raw);
    Happening::PromptSubmitted { prompt: Kept::new(raw, keeping), origin, own }
}

fn tool_failure(wire: &ClaudePayload<'_>) -> ToolOutcome {
    if wire.is_interrupt.0.as_bool() == Some(true) { ToolOutcome::Interrupted } else { ToolOutcome::Failed }
}

fn permission_reason(wire: &ClaudePayload<'_>) -> Reason {
    if wire.tool_name.is(QUESTION_TOOL) { Reason::Question } else { Reason::Permission }
}

/// Only notifications that mean waiting for the user; clients that send no type send a permission's text.
fn notification(wire: &ClaudePayload<'_>) -> Option<Happening> {
    let reason = match wire.notification_type.as_deref() {
        Some("permission_prompt") => Reason::Permission,
        Some("elicitation_dialog") => Reason::Elicitation,
        Some("agent_needs_input") => Reason::Question,
        Some("elicitation_response") => return Some(Happening::AttentionGiven),
        None if wire.message.as_deref().is_some_and(|text| text.contains("permission")) => Reason::Permission,
        Some(_) | None => return None,
    };
    Some(Happening::AttentionAsked { reason })
}

fn running_tasks(wire: &ClaudePayload<'_>) -> Option<u32> {
    let tasks = wire.background_tasks.0.as_array()?;
    let running =
        tasks.iter().filter(|task| task.get("status").is_none_or(|status| status == "running")).count();
    u32::try_from(running).ok()
}

fn failure(wire: &ClaudePayload<'_>) -> Failure {
    if wire.error.is("rate_limit") { Failure::UsageLimit } else { Failure::Other }
}

fn trigger(wire: &ClaudePayload<'_>) -> Trigger {
    if wire.trigger.is("auto") { Trigger::Auto } else { Trigger::Manual }
}

/// The client passes its entry point to its hooks.
pub(crate) fn presence(surroundings: &Surroundings<'_>) -> Presence {
    match (surroundings.variable)("CLAUDE_CODE_ENTRYPOINT").as_deref() {
        None | Some("cli") => Presence::Terminal,
        Some(entry) if entry.starts_with("sdk") || entry.contains("action") || entry == "mcp" => {
            Presence::Headless
        }
        Some(_) => Presence::Ide,
    }
}
