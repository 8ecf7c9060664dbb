//! Codex: parses its hook payloads, lists the reply parts its events support, and detects how a session is run.
//!
//! Measured on the real client; recorded payloads are in `fixtures/codex`. Never uses the legacy `notify` program: it
//! reports phantom turns and only their end.

pub(crate) mod adapter;
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

use crate::agent::{Agent, TextLimits};
use crate::settings::Inspection;
use crate::transcript::BOOKMARK;
use crate::wire::{HookPayload, ReplyShape, ReplySupport, last_message};
use install::{EntryTrust, TrustUnknown};
use std::path::Path;
use towline_core::event::{
    BlockReason, EndedBy, EventKind, PromptOrigin, SessionPresence, StartedBy, ToolOutcome,
};
use towline_core::inherit::InheritSettings;
use towline_core::phrases::Phrases;
use towline_core::text::{SafeText, TextPolicy};

/// The tool that starts a subagent.
const SUBAGENT_TOOL: &str = "spawn_agent";

/// Matcher of the tools that start a subagent or change files.
pub(crate) const SUBAGENT_AND_FILE_TOOLS: &str = "^(spawn_agent|apply_patch)$";

pub(crate) const REPLY_SUPPORT: ReplySupport = ReplySupport {
    notices: Phrases(
        "SessionStart|UserPromptSubmit|PostToolUse|PermissionRequest|Stop|SubagentStart|SubagentStop|\
        PreCompact|PostCompact|Interrupt",
    ),
    context: Phrases("SessionStart|UserPromptSubmit|PostToolUse|SubagentStart|PreToolUse"),
    block: Phrases("UserPromptSubmit|PostToolUse|Stop|SubagentStop"),
    deny: Phrases("PreToolUse"),
    restart: Phrases(""),
    restarts_anew: false,
    // Codex has its own notifications (`tui.notifications`), which a hook cannot trigger.
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
    Some(match event {
        "SessionStart" => {
            let by = if wire.source.is("fork") { StartedBy::Fork } else { wire.started_by() };
            EventKind::SessionStarted { by, wishes: InheritSettings::default() }
        }
        "SessionEnd" => EventKind::SessionEnded { by: EndedBy::Other },
        "UserPromptSubmit" => prompt(wire, keeping.prompt),
        // Registered for this tool only, so that other tools do not pay for the hook.
        "PreToolUse" if wire.tool_name.is(SUBAGENT_TOOL) => EventKind::SubagentWanted { tool: tool() },
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
        "PreCompact" => EventKind::CompactionStarted { trigger: wire.compaction_trigger() },
        "PostCompact" => EventKind::CompactionEnded { trigger: wire.compaction_trigger() },
        // Next context size = input + output tokens of the newest request.
        "PostModelRequest" => {
            EventKind::ModelAnswered { context_tokens: wire.token_usage.get("total_tokens").number()? }
        }
        _ => return None,
    })
}

fn prompt(wire: &HookPayload<'_>, keeping: TextPolicy) -> EventKind {
    let raw = wire.prompt.as_deref().unwrap_or("");
    let own = Agent::Codex.own_command(raw);
    let origin = match raw.trim() {
        BOOKMARK => PromptOrigin::Bookmark,
        text if text.starts_with('/') || own.is_some() => PromptOrigin::Command,
        _ => PromptOrigin::Human,
    };
    EventKind::PromptSubmitted { prompt: SafeText::new(raw, keeping), origin, own }
}

/// The client silently runs no hook before the user has trusted it.
pub(crate) fn wants_consent(folder: &Path, inspection: &Inspection) -> Option<String> {
    let trust = install::trust(folder, inspection);
    consent_hint(trust.map(|all| all.iter().filter(|(_, trust)| *trust != EntryTrust::Trusted).count()))
}

/// The step the user must take so that the client runs the hooks that are not trusted yet.
pub(crate) fn consent_hint(untrusted: Result<usize, TrustUnknown>) -> Option<String> {
    match untrusted {
        Err(error) => Some(format!("{error}; {}", install::HOW_TO_TRUST)),
        Ok(0) => None,
        Ok(count) => Some(format!("{count} hooks are not trusted yet: {}", install::HOW_TO_TRUST)),
    }
}

/// `arguments` are those of the agent's process.
pub(crate) fn presence(arguments: &[String]) -> SessionPresence {
    match subcommand(arguments) {
        Some("exec" | "e" | "mcp-server" | "review") => SessionPresence::Headless,
        // The daemon's sessions are shown in a terminal, those of a private server in an editor.
        Some("app-server") if !is_daemon(arguments) => SessionPresence::Ide,
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
