//! GitHub Copilot CLI: parses its hook payloads, lists the reply parts its events support, and detects how a session is run.
//!
//! Measured on the real client; recorded payloads are in `fixtures/copilot`. Ignores `permissionRequest`, which also comes
//! where nobody is asked, and `errorOccurred`, which comes for each attempt that is repeated.

pub(crate) mod adapter;
mod entry;
pub(crate) mod input;
pub mod install;
pub(crate) mod screen;
pub(crate) mod status;
pub(crate) mod tail;
pub(crate) mod tool_action;
pub mod transcript;

use crate::agent::{Agent, TextLimits};
use crate::transcript::BOOKMARK;
use crate::wire::{HookPayload, ReplyShape, ReplySupport};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use towline_core::continuing::form;
use towline_core::event::{BlockReason, EndedBy, EventKind, PromptOrigin, SessionPresence, ToolOutcome};
use towline_core::inherit::InheritSettings;
use towline_core::phrases::Phrases;
use towline_core::text::{SafeText, TextPolicy};

/// Background shells report back as prompts that start with this.
const NOTIFICATION: &str = "<system_notification>";

/// The tool that starts a subagent.
const SUBAGENT_TOOL: &str = "task";

/// Matcher of the tools that start a subagent, read or change files.
pub(crate) const SUBAGENT_AND_FILE_TOOLS: &str = "task|view|create|edit";

/// The client shows no message of a hook, and passes nothing on to the terminal.
pub(crate) const REPLY_SUPPORT: ReplySupport = ReplySupport {
    notices: Phrases(""),
    context: Phrases("sessionStart|userPromptSubmitted|preToolUse|postToolUse"),
    block: Phrases("userPromptSubmitted|agentStop"),
    deny: Phrases("preToolUse"),
    terminal: Phrases(""),
    restart: Phrases(""),
    restarts_anew: false,
    shape: ReplyShape::Flat,
};

pub(crate) fn event_kind(
    event: &str,
    wire: &HookPayload<'_>,
    keeping: TextLimits,
    bytes: u64,
) -> Option<EventKind> {
    let tool = || SafeText::new(wire.tool_name.as_deref().unwrap_or(""), keeping.prompt);
    Some(match event {
        "sessionStart" => {
            // The source is `new` after a launch as after `/clear`, and not known as either.
            EventKind::SessionStarted { by: wire.started_by(), wishes: InheritSettings::default() }
        }
        // The same reason for `/clear` and `/exit`.
        "sessionEnd" => EventKind::SessionEnded { by: EndedBy::Other },
        "userPromptSubmitted" => prompt(wire, keeping.prompt),
        // Registered for this tool only, so that other tools do not pay for the hook.
        "preToolUse" if wire.tool_name.is(SUBAGENT_TOOL) => EventKind::SubagentWanted { tool: tool() },
        "postToolUse" => EventKind::ToolFinished { tool: tool(), outcome: ToolOutcome::Done, bytes },
        "postToolUseFailure" => EventKind::ToolFinished { tool: tool(), outcome: ToolOutcome::Failed, bytes },
        "notification" => EventKind::AttentionAsked { reason: asked_for(wire)? },
        // The payload does not hold the last message.
        "agentStop" => EventKind::TurnEnded { background: None, answer: None },
        "subagentStart" => EventKind::SubagentStarted,
        "subagentStop" => EventKind::SubagentStopped,
        "preCompact" => EventKind::CompactionStarted { trigger: wire.compaction_trigger() },
        _ => return None,
    })
}

/// Only notifications that mean waiting for the user.
fn asked_for(wire: &HookPayload<'_>) -> Option<BlockReason> {
    match wire.notification_type.as_deref()? {
        "permission_prompt" => Some(BlockReason::Permission),
        "elicitation_dialog" => Some(BlockReason::Question),
        _ => None,
    }
}

fn prompt(wire: &HookPayload<'_>, keeping: TextPolicy) -> EventKind {
    let raw = wire.prompt.as_deref().unwrap_or("");
    let origin = match raw.trim() {
        text if text.starts_with(NOTIFICATION) || is_own_request(text) => PromptOrigin::Notification,
        text if text.starts_with('/') => PromptOrigin::Command,
        BOOKMARK => PromptOrigin::Bookmark,
        _ => PromptOrigin::Human,
    };
    let own = Agent::Copilot.own_command(raw);
    EventKind::PromptSubmitted { prompt: SafeText::new(raw, keeping), origin, own }
}

/// Whether this is the reason with which we keep a turn from ending: the client passes it on as a prompt.
fn is_own_request(prompt: &str) -> bool {
    prompt.starts_with(form::REQUEST)
}

/// Hooks inside a subagent carry its id in place of the session's, and those about a subagent's own subagent another one. A
/// skill that the user invokes comes as its whole text.
pub(crate) fn corrected(wire: &mut HookPayload<'_>) {
    if wire.parent_agent_id.0.is_some() {
        let of_file =
            wire.transcript_path.as_deref().and_then(session_of).map(|id| Cow::Owned(id.to_owned()));
        let is_inside = wire.session_id.as_deref() == wire.agent_id.as_deref();
        let of_parent = || wire.parent_agent_id.0.take().filter(|_| is_inside);
        if let Some(session) = of_file.or_else(of_parent) {
            wire.session_id.0 = Some(session);
        }
    }
    if let Some(typed) = wire.prompt.as_deref().and_then(invoked_skill) {
        wire.prompt.0 = Some(Cow::Owned(typed));
    }
}

/// The id of the session that writes this transcript.
fn session_of(transcript: &str) -> Option<&str> {
    Path::new(transcript).parent()?.file_name()?.to_str()
}

/// The command that was typed to invoke a skill: `/tow fresh`.
fn invoked_skill(prompt: &str) -> Option<String> {
    let (name, text) = prompt.strip_prefix("The user explicitly invoked the \"")?.split_once("\" skill.")?;
    let arguments =
        text.rsplit_once("\nARGUMENTS: ").and_then(|(_, rest)| rest.strip_suffix("\n</skill-context>"));
    Some(format!("{name} {}", arguments.unwrap_or_default()).trim_end().to_owned())
}

/// The transcript of a session.
pub(crate) fn transcript_of(copilot_home: &Path, session: &str) -> PathBuf {
    copilot_home.join(SESSIONS).join(session).join(TRANSCRIPT)
}

/// The folder of all sessions below the agent's folder, and the transcript in each session's folder.
const SESSIONS: &str = "session-state";
const TRANSCRIPT: &str = "events.jsonl";

/// `arguments` are those of the agent's process.
pub(crate) fn presence(arguments: &[String]) -> SessionPresence {
    let has = |names: &[&str]| {
        arguments.iter().any(|word| names.iter().any(|name| word.split('=').next() == Some(*name)))
    };
    if has(&["-p", "--prompt"]) {
        SessionPresence::Headless
    } else if has(&["--acp", "--server"]) {
        SessionPresence::Ide
    } else {
        SessionPresence::Terminal
    }
}
