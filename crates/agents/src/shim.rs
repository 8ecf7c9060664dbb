//! The wire format of in-process plugin shims: clients whose plugins run inside the client instead of starting a program.
//!
//! A shim is a small script of ours in the client's plugin folder. It translates what the client tells its plugins into
//! the events below, calls `tow hook AGENT EVENT` with one JSON object on stdin, one call after the other, and applies the
//! flat reply in the client's own way. Names no client, and needs no transcript: the payload holds the last message and
//! the context usage.
//!
//! Every payload has `session_id` (of the session that the user sees) and `cwd`; inside a subagent also `agent_id`.

use crate::agent::{Agent, TextLimits};
use crate::transcript::prompt_origin;
use crate::wire::{HookPayload, ReplyShape, ReplySupport, last_message};
use towline_core::compose::GO_ON;
use towline_core::continuing::form;
use towline_core::event::{BlockReason, EndedBy, EventKind, PromptOrigin, ToolOutcome, TurnFailure};
use towline_core::inherit::InheritSettings;
use towline_core::phrases::Phrases;
use towline_core::text::SafeText;

/// The events that a shim sends.
pub const EVENTS: &[&str] = &[
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "Question",
    "Answered",
    "Stop",
    "StopFailure",
    "Interrupt",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
];

/// Sent before a tool touches a file, if the user wants warnings: no event of the session.
pub(crate) const BEFORE_FILES: &str = "PreFileUse";

/// A shim applies a reply: it adds context to the prompt, to the result of a tool, and after a compaction to the next
/// request; shows notices, throws to deny a subagent, and at the end of a turn prompts the session, or a new one in the same
/// window, without a keystroke.
pub(crate) const REPLY_SUPPORT: ReplySupport = ReplySupport {
    notices: Phrases("UserPromptSubmit|PostToolUse|Stop"),
    context: Phrases("UserPromptSubmit|PreFileUse|SessionStart"),
    block: Phrases("Stop"),
    deny: Phrases("PreToolUse"),
    restart: Phrases("Stop"),
    restarts_anew: true,
    terminal: Phrases(""),
    shape: ReplyShape::Flat,
};

/// Status codes of a request that failed because an allowance is used up.
const LIMITS: [&str; 2] = ["402", "429"];

pub(crate) fn event_kind(
    agent: Agent,
    event: &str,
    (wire, bytes): (&HookPayload<'_>, u64),
    keeping: TextLimits,
) -> Option<EventKind> {
    let tool = || SafeText::new(wire.tool_name.as_deref().unwrap_or(""), keeping.prompt);
    let finished = |outcome| EventKind::ToolFinished { tool: tool(), outcome, bytes };
    Some(match event {
        "SessionStart" => {
            EventKind::SessionStarted { by: wire.started_by(), wishes: InheritSettings::default() }
        }
        "SessionEnd" => EventKind::SessionEnded { by: ended_by(wire) },
        "UserPromptSubmit" => {
            let raw = wire.prompt.as_deref().unwrap_or("");
            let prompt = SafeText::new(raw, keeping.prompt);
            EventKind::PromptSubmitted { prompt, origin: origin(agent, raw), own: agent.own_command(raw) }
        }
        // Sent for the tool that starts a subagent only.
        "PreToolUse" => EventKind::SubagentWanted { tool: tool() },
        "PostToolUse" => finished(ToolOutcome::Done),
        "PostToolUseFailure" => finished(ToolOutcome::Failed),
        "PermissionRequest" => EventKind::AttentionAsked { reason: BlockReason::Permission },
        "Question" => EventKind::AttentionAsked { reason: BlockReason::Question },
        "Answered" => EventKind::AttentionGiven,
        "Stop" => {
            let answer = last_message(&wire.last_assistant_message, keeping.answer);
            EventKind::TurnEnded { background: None, answer }
        }
        "StopFailure" => EventKind::TurnFailed { failure: failure(wire), until: None },
        "Interrupt" => EventKind::Interrupted,
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
        Some("exit") => EndedBy::Exit,
        _ => EndedBy::Other,
    }
}

fn failure(wire: &HookPayload<'_>) -> TurnFailure {
    let is_limit = wire.error.as_deref().is_some_and(|code| LIMITS.contains(&code));
    if is_limit { TurnFailure::UsageLimit } else { TurnFailure::Other }
}

/// The origin of a prompt, in payloads as in the client's records. What a shim prompts with is ours.
pub(crate) fn origin(agent: Agent, text: &str) -> PromptOrigin {
    match text.trim_start() {
        text if text.starts_with(form::REQUEST) => PromptOrigin::Notification,
        text if text.starts_with(GO_ON[0]) => PromptOrigin::Continuation,
        text if text.starts_with('/') || agent.own_command(text).is_some() => PromptOrigin::Command,
        text => prompt_origin(text),
    }
}

/// The text of a shim: `script` with the program's path, the agent's name and the tools to tell of as literals.
pub(crate) fn text(script: &str, agent: Agent, tow: &str, file_tools: &[&str]) -> String {
    let literal = |text: &str| serde_json::Value::from(text).to_string();
    let script = script.replace("@FILE_TOOLS@", &serde_json::Value::from(file_tools).to_string());
    script.replace("@AGENT@", &literal(agent.name())).replace("@TOW@", &literal(tow))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_and_the_agent_are_literals_whatever_their_names() {
        let script = "const TOW = @TOW@; const AGENT = @AGENT@; const FILE_TOOLS = @FILE_TOOLS@;";
        let expected =
            r#"const TOW = "/a \"b\"/tow"; const AGENT = "kilo"; const FILE_TOOLS = ["read","edit"];"#;
        assert_eq!(text(script, Agent::Kilo, "/a \"b\"/tow", &["read", "edit"]), expected);
    }

    #[test]
    fn a_prompt_of_ours_is_not_the_users() {
        for (text, expected) in [
            ("paint it", PromptOrigin::Human),
            ("/tow fresh", PromptOrigin::Command),
            ("[towline] The context is 90 % full.", PromptOrigin::Notification),
            ("Go on with the work as the handoff 1a2b3c4d says.", PromptOrigin::Continuation),
            ("·", PromptOrigin::Bookmark),
        ] {
            assert_eq!(origin(Agent::Opencode, text), expected, "{text}");
        }
    }
}
