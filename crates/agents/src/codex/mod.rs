//! Codex: parses its hook payloads, lists the reply parts its events support, and detects how a session is run.
//!
//! Measured on the real client; recorded payloads are in `fixtures/codex`. Never uses the legacy `notify` program: it
//! reports phantom turns and only their end.

pub(crate) mod ask;
pub(crate) mod context;
mod entry;
pub mod history;
pub(crate) mod input;
pub mod install;
pub(crate) mod screen;
pub mod server;
pub(crate) mod tail;
pub(crate) mod tool_action;
pub mod transcript;
mod wire;

use crate::agent::{Agent, HookEvent, PayloadError, ProcessContext, TextLimits};
use crate::settings::Inspection;
use crate::skim::without_bulk;
use crate::transcript::BOOKMARK;
use crate::wire::{ReplySupport, last_message, parse, payload_text, tool_bytes, turn_ending};
use install::EntryTrust;
use std::path::Path;
use towline_core::event::{
    BlockReason, CompactionTrigger, EndedBy, EventKind, PromptOrigin, SessionPresence, StartedBy, ToolOutcome,
};
use towline_core::id::{SubagentId, TurnId};
use towline_core::inherit::InheritSettings;
use towline_core::text::{SafeText, TextPolicy};
use wire::CodexPayload;

/// The tool that starts a subagent.
const SUBAGENT_TOOL: &str = "spawn_agent";

/// Matcher of the tools that start a subagent or change files.
pub(crate) const SUBAGENT_AND_FILE_TOOLS: &str = "^(spawn_agent|apply_patch)$";

pub(crate) const REPLY_SUPPORT: ReplySupport = ReplySupport {
    notices: &[
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PermissionRequest",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Interrupt",
    ],
    context: &["SessionStart", "UserPromptSubmit", "PostToolUse", "SubagentStart", "PreToolUse"],
    block: &["UserPromptSubmit", "PostToolUse", "Stop", "SubagentStop"],
    deny: &["PreToolUse"],
    // Codex has its own notifications (`tui.notifications`), which a hook cannot trigger.
    terminal: &[],
};

pub(crate) fn parse_hook(payload: &[u8], keeping: TextLimits) -> Result<Option<HookEvent>, PayloadError> {
    let slim = without_bulk(payload);
    let text = payload_text(&slim);
    let wire: CodexPayload<'_> = parse(&text)?;
    let Some(event) = wire.hook_event_name.as_deref() else {
        return Err(PayloadError::Missing { field: "hook_event_name" });
    };
    let bytes = tool_bytes(wire.tool_input, wire.tool_response, payload.len().saturating_sub(slim.len()));
    let Some(happening) = event_kind(event, &wire, keeping, bytes) else { return Ok(None) };
    Ok(Some(HookEvent {
        event: event.to_owned(),
        session: Agent::Codex.session(wire.session_id.0)?,
        subagent: wire.agent_id.as_deref().and_then(|id| SubagentId::parse(id).ok()),
        turn: wire.turn_id.as_deref().and_then(|id| TurnId::parse(id).ok()),
        happening,
        folder: wire.cwd.into_owned(),
        transcript: wire.transcript_path.into_owned(),
        helper_transcript: wire.agent_transcript_path.into_owned(),
        model: wire.model.into_owned(),
        typed: wire.prompt.as_deref().map(prompt_end),
        ending: turn_ending(&wire.last_assistant_message, wire.stop_hook_active),
    }))
}

/// `bytes`: the size of a tool's input and output.
fn event_kind(event: &str, wire: &CodexPayload<'_>, keeping: TextLimits, bytes: u64) -> Option<EventKind> {
    let tool = || SafeText::new(wire.tool_name.as_deref().unwrap_or(""), keeping.prompt);
    Some(match event {
        "SessionStart" => {
            EventKind::SessionStarted { by: started_by(wire), wishes: InheritSettings::default() }
        }
        "SessionEnd" => EventKind::SessionEnded { by: EndedBy::Other },
        "UserPromptSubmit" => prompt(wire, keeping.prompt),
        // Registered for this tool only, so that other tools do not pay for the hook.
        "PreToolUse" if wire.tool_name.is(SUBAGENT_TOOL) => EventKind::HelperWanted { tool: tool() },
        // Failed commands are not recognisable here: the payload has no exit code.
        "PostToolUse" => EventKind::ToolFinished { tool: tool(), outcome: ToolOutcome::Done, bytes },
        "PermissionRequest" => EventKind::PermissionAsked { tool: tool(), reason: BlockReason::Permission },
        "Stop" => EventKind::TurnEnded {
            background: None,
            answer: last_message(&wire.last_assistant_message, keeping.answer),
        },
        "Interrupt" => EventKind::Interrupted,
        "SubagentStart" => EventKind::SubagentStarted,
        "SubagentStop" => EventKind::SubagentStopped,
        "PreCompact" => EventKind::CompactionStarted { trigger: trigger(wire) },
        "PostCompact" => EventKind::CompactionEnded { trigger: trigger(wire) },
        "PostModelRequest" => EventKind::ModelAnswered { context_tokens: context_tokens(wire)? },
        _ => return None,
    })
}

fn started_by(wire: &CodexPayload<'_>) -> StartedBy {
    match wire.source.as_deref() {
        Some("startup") => StartedBy::Startup,
        Some("resume") => StartedBy::Resume,
        Some("clear") => StartedBy::Clear,
        Some("compact") => StartedBy::Compact,
        Some("fork") => StartedBy::Fork,
        _ => StartedBy::Unknown,
    }
}

fn prompt(wire: &CodexPayload<'_>, keeping: TextPolicy) -> EventKind {
    let raw = wire.prompt.as_deref().unwrap_or("");
    let own = Agent::Codex.own_command(raw);
    let origin = match raw.trim() {
        BOOKMARK => PromptOrigin::Bookmark,
        text if text.starts_with('/') || own.is_some() => PromptOrigin::Command,
        _ => PromptOrigin::Human,
    };
    EventKind::PromptSubmitted { prompt: SafeText::new(raw, keeping), origin, own }
}

/// The end of a prompt: longer than the part searched on screens, and short enough to copy.
fn prompt_end(prompt: &str) -> String {
    let from = prompt.char_indices().rev().nth(4 * DISTINCTIVE_CHARACTERS).map_or(0, |(at, _)| at);
    prompt[from..].to_owned()
}

fn trigger(wire: &CodexPayload<'_>) -> CompactionTrigger {
    if wire.trigger.is("auto") { CompactionTrigger::Auto } else { CompactionTrigger::Manual }
}

/// Next context size = input + output tokens of the newest request.
fn context_tokens(wire: &CodexPayload<'_>) -> Option<u64> {
    wire.token_usage.get("total_tokens").number()
}

/// The client silently runs no hook before the user has trusted it.
pub(crate) fn wants_consent(folder: &Path, inspection: &Inspection) -> Option<String> {
    let untrusted = match install::trust(folder, inspection) {
        Err(error) => return Some(format!("{error}; {}", install::HOW_TO_TRUST)),
        Ok(judged) => judged.into_iter().filter(|(_, trust)| *trust != EntryTrust::Trusted).count(),
    };
    (untrusted > 0).then(|| format!("{untrusted} hooks are not trusted yet: {}", install::HOW_TO_TRUST))
}

/// The same for our plugin's hooks.
pub(crate) fn plugin_wants_consent(folder: &Path, plugin: &str) -> Option<String> {
    match install::untrusted_of_plugin(folder, plugin) {
        Err(error) => Some(format!("{error}; {}", install::HOW_TO_TRUST)),
        Ok(0) => None,
        Ok(count) => Some(format!("{count} hooks are not trusted yet: {}", install::HOW_TO_TRUST)),
    }
}

pub(crate) fn presence(surroundings: &ProcessContext<'_>) -> SessionPresence {
    let arguments = (surroundings.arguments)();
    match subcommand(&arguments) {
        Some("exec" | "e" | "mcp-server" | "review") => SessionPresence::Headless,
        // The daemon's sessions are shown in a terminal, those of a private server in an editor.
        Some("app-server") if !is_daemon(&arguments) => SessionPresence::Ide,
        _ => SessionPresence::Terminal,
    }
}

pub(crate) fn is_daemon(arguments: &[String]) -> bool {
    subcommand(arguments) == Some("app-server")
        && arguments.iter().any(|word| word.starts_with("unix://") || word == "daemon")
}

/// How much of a prompt's end is searched: enough to be distinctive, little enough to be on the screen.
const DISTINCTIVE_CHARACTERS: usize = 100;

/// Searches the sent prompts: lines with the composer's mark, except for the last one, which is the composer itself,
/// and the indented lines below them. Ignores whitespace, since the terminal wraps. A prompt must match in full; for
/// one longer than a screen may show, the end is enough.
pub(crate) fn shows_prompt(screen: &str, prompt: &str) -> bool {
    let without_space = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let text = without_space(prompt);
    let is_long = text.chars().count() > DISTINCTIVE_CHARACTERS;
    let tail: String =
        text.chars().skip(text.chars().count().saturating_sub(DISTINCTIVE_CHARACTERS)).collect();
    let is_match = |sent: &String| if is_long { sent.ends_with(&tail) } else { *sent == text };
    !text.is_empty()
        && sent_prompts(screen).iter().map(|sent| without_space(sent)).any(|sent| is_match(&sent))
}

fn sent_prompts(screen: &str) -> Vec<String> {
    let mut prompts: Vec<String> = vec![];
    let mut inside = false;
    for line in screen.lines() {
        if let Some(first) = line.strip_prefix('›') {
            prompts.push(first.to_owned());
            inside = true;
        } else if inside && line.starts_with("  ") {
            prompts.last_mut().into_iter().for_each(|prompt| prompt.push_str(line));
        } else {
            inside = false;
        }
    }
    prompts.pop();
    prompts
}

/// The first known subcommand. Few options take a separate value, and none of those values is a subcommand's name.
fn subcommand(arguments: &[String]) -> Option<&str> {
    const KNOWN: [&str; 6] = ["exec", "e", "mcp-server", "review", "app-server", "resume"];
    arguments.iter().skip(1).map(String::as_str).find(|word| KNOWN.contains(word))
}
