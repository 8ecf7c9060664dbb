//! Gemini CLI: parses its hook payloads, lists the reply parts its events support, and detects how a session is run.
//!
//! Measured on the real client; recorded payloads are in `fixtures/gemini`. The client announces a compression before
//! every request, whether it compresses or not, and never tells that one is done: neither is an event here. The end of a
//! turn says nothing of how it ended, and repeats the answer in fragments: both are taken from the transcript.

pub(crate) mod adapter;
pub(crate) mod context;
mod entry;
pub(crate) mod input;
pub mod install;
pub(crate) mod screen;
pub(crate) mod tail;
pub(crate) mod tool_action;
pub mod transcript;

use crate::agent::{Agent, TextLimits};
use crate::json::RawValue;
use crate::transcript::prompt_origin;
use crate::wire::{HookPayload, ReplyShape, ReplySupport};
use serde::Deserialize;
use towline_core::compose::GO_ON;
use towline_core::event::{BlockReason, EndedBy, EventKind, PromptOrigin, SessionPresence, ToolOutcome};
use towline_core::inherit::InheritSettings;
use towline_core::phrases::Phrases;
use towline_core::text::{SafeText, TextPolicy};

/// The tool that starts a subagent.
const SUBAGENT_TOOL: &str = "invoke_agent";

/// The beginning of context that a hook added to a prompt, and its end.
pub(super) const HOOK_CONTEXT: &str = "<hook_context>";
const HOOK_CONTEXT_END: &str = "</hook_context>";

/// The line between a prompt and the contents of the files that it names.
pub(super) const REFERENCED: &str = "\n--- Content from referenced files ---";

/// The beginning of the reasons with which our hooks keep a turn from ending: the client sends them as prompts.
const OWN_REASON: &str = "[towline] ";

pub(crate) const REPLY_SUPPORT: ReplySupport = ReplySupport {
    notices: Phrases("SessionStart|BeforeAgent|AfterTool|Notification|AfterAgent"),
    context: Phrases("SessionStart|BeforeAgent|AfterTool"),
    // A tool is denied in the same way.
    block: Phrases("BeforeAgent|BeforeTool|AfterAgent"),
    deny: Phrases(""),
    restart: Phrases("AfterAgent"),
    restarts_anew: false,
    // The client has its own notifications (`general.enableNotifications`), which a hook cannot trigger.
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
            EventKind::SessionStarted { by: wire.started_by(), wishes: InheritSettings::default() }
        }
        "SessionEnd" => EventKind::SessionEnded { by: ended_by(wire) },
        "BeforeAgent" => prompt(wire, keeping.prompt),
        // Registered for this tool only, so that other tools do not pay for the hook.
        "BeforeTool" if wire.tool_name.is(SUBAGENT_TOOL) => EventKind::SubagentWanted { tool: tool() },
        "AfterTool" => EventKind::ToolFinished { tool: tool(), outcome: outcome(wire.tool_response), bytes },
        "Notification" => return notification(wire),
        "AfterAgent" => EventKind::TurnEnded { background: None, answer: None },
        _ => return None,
    })
}

fn ended_by(wire: &HookPayload<'_>) -> EndedBy {
    match wire.reason.as_deref() {
        Some("clear") => EndedBy::Clear,
        Some("exit" | "prompt_input_exit" | "logout") => EndedBy::Exit,
        _ => EndedBy::Other,
    }
}

fn prompt(wire: &HookPayload<'_>, keeping: TextPolicy) -> EventKind {
    let text = typed_text(wire.prompt.as_deref().unwrap_or(""));
    let own = Agent::Gemini.own_command(text);
    EventKind::PromptSubmitted { prompt: SafeText::new(text, keeping), origin: own_or_human(text), own }
}

/// The origin of a prompt. The client sends commands that it does not know to the model.
pub(super) fn own_or_human(text: &str) -> PromptOrigin {
    match text {
        _ if text.starts_with(OWN_REASON) => PromptOrigin::Notification,
        _ if text.starts_with(GO_ON[0]) => PromptOrigin::Continuation,
        _ if text.trim_start().starts_with('/') || Agent::Gemini.own_command(text).is_some() => {
            PromptOrigin::Command
        }
        _ => prompt_origin(text),
    }
}

/// A prompt without the context of hooks before it and the files behind it.
pub(crate) fn typed_text(prompt: &str) -> &str {
    let end = prompt.find(REFERENCED).unwrap_or(prompt.len());
    let typed = &prompt[..end];
    let context = typed.strip_prefix(HOOK_CONTEXT).and_then(|rest| rest.split_once(HOOK_CONTEXT_END));
    context.map_or(typed, |(_, rest)| rest.trim_start())
}

fn outcome(response: RawValue<'_>) -> ToolOutcome {
    let Response { error, said } = response.fields();
    if error.is_present() {
        return ToolOutcome::Failed;
    }
    let (start, end) = said.text_edges(EDGE_BYTES).unwrap_or_default();
    command_outcome(start.strip_prefix("<untrusted_context>\n").unwrap_or(&start), &end)
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Response<'a> {
    error: RawValue<'a>,
    #[serde(rename = "llmContent")]
    said: RawValue<'a>,
}

/// How much of a tool's output is read at its beginning and at its end: unescaping all of 11 KB made this hook cost 0.85
/// instead of 0.70 times `/bin/true`.
const EDGE_BYTES: usize = 2048;

/// A command that fails or is cancelled is a call that succeeds: only the beginning and the end of its output say so.
pub(super) fn command_outcome(start: &str, end: &str) -> ToolOutcome {
    let code = end.lines().rev().take(6).find_map(|line| line.strip_prefix("Exit Code: "));
    if start.starts_with("Command was cancelled by user") {
        ToolOutcome::Interrupted
    } else if code.is_some_and(|code| code.trim() != "0") {
        ToolOutcome::Failed
    } else {
        ToolOutcome::Done
    }
}

fn notification(wire: &HookPayload<'_>) -> Option<EventKind> {
    let is_question = wire.details.get("type").text().as_deref() == Some("ask_user");
    let reason = if is_question { BlockReason::Question } else { BlockReason::Permission };
    wire.notification_type.is("ToolPermission").then_some(EventKind::AttentionAsked { reason })
}

/// `arguments` are those of the agent's process.
pub(crate) fn presence(arguments: &[String]) -> SessionPresence {
    let has = |names: &[&str]| arguments.iter().any(|word| names.contains(&word.as_str()));
    if has(&["--acp", "--experimental-acp"]) {
        SessionPresence::Ide
    } else if has(&["-p", "--prompt"]) || arguments.iter().any(|word| word.starts_with("--prompt=")) {
        SessionPresence::Headless
    } else {
        SessionPresence::Terminal
    }
}
