//! The answers that each client accepts from a hook, by event.
//!
//! Recorded from what the clients were seen to accept, not from what the product sends: any other part is a
//! flaw. Newer outputs of the clients are listed only once the product sends them.

use serde_json::{Map, Value};

/// The events in which one agent accepts each kind of answer.
struct Room {
    agent: &'static str,
    /// Text for the model.
    context: &'static [&'static str],
    /// A refusal with a reason.
    block: &'static [&'static str],
    /// Events whose answer the client ignores.
    silent: &'static [&'static str],
}

const ROOMS: [Room; 7] = [
    Room {
        agent: "claude",
        context: &[
            "SessionStart",
            "Setup",
            "UserPromptSubmit",
            "UserPromptExpansion",
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "PostToolBatch",
            "SubagentStart",
        ],
        block: &[
            "UserPromptSubmit",
            "UserPromptExpansion",
            "PostToolUse",
            "PostToolBatch",
            "Stop",
            "SubagentStop",
        ],
        silent: &["SessionEnd", "InstructionsLoaded", "StopFailure"],
    },
    Room {
        agent: "codex",
        context: &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"],
        block: &["UserPromptSubmit", "PostToolUse", "Stop", "SubagentStop"],
        silent: &["SessionEnd"],
    },
    Room {
        agent: "qwen",
        context: &["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolBatch"],
        block: &["UserPromptSubmit", "Stop"],
        silent: &["SessionEnd"],
    },
    Room {
        agent: "gemini",
        context: &["SessionStart", "BeforeAgent", "AfterTool"],
        block: &["BeforeAgent", "BeforeTool", "AfterAgent"],
        silent: &["SessionEnd", "PreCompress"],
    },
    Room {
        agent: "copilot",
        context: &["sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse"],
        block: &["userPromptSubmitted", "agentStop"],
        silent: &[],
    },
    Room { agent: "opencode", context: &SHIM_CONTEXT, block: &["Stop"], silent: &[] },
    Room { agent: "kilo", context: &SHIM_CONTEXT, block: &["Stop"], silent: &[] },
];

/// Events whose reply a shim adds as context: to the prompt, to the result of a tool that touches a file, and to the request
/// after a compaction.
const SHIM_CONTEXT: [&str; 3] = ["UserPromptSubmit", "PreFileUse", "SessionStart"];

/// The agents that take every part beside the others; the first of them shows no message.
const FLAT: [&str; 3] = ["copilot", "opencode", "kilo"];

/// The event named in a payload, if that is strictly valid JSON; empty if it names none.
pub fn event_of(payload: &[u8]) -> Option<String> {
    let asked = serde_json::from_slice::<Value>(payload).ok()?;
    Some(asked["hook_event_name"].as_str().unwrap_or("").to_owned())
}

/// The flaw in an answer to this event, if any. An empty answer is always valid. If the event is unknown,
/// only the form is checked, since a damaged payload need not be read completely.
pub fn flaw_in_answer(agent: &str, event: Option<&str>, answer: &[u8]) -> Option<String> {
    if answer.is_empty() {
        return None;
    }
    let Some(room) = ROOMS.iter().find(|room| room.agent == agent) else {
        return Some(format!("answered an agent that nobody knows: {agent:?}"));
    };
    let said = match serde_json::from_slice::<Map<String, Value>>(answer) {
        Ok(said) => said,
        Err(error) => {
            return Some(format!("printed no JSON object ({error}): {}", String::from_utf8_lossy(answer)));
        }
    };
    said.iter().find_map(|(part, value)| {
        flaw_in_part(room, event, (part, value)).map(|flaw| format!("{flaw}: {said:?}"))
    })
}

fn flaw_in_part(room: &Room, event: Option<&str>, (part, value): (&str, &Value)) -> Option<String> {
    let fits = |events: &[&str]| event.is_none_or(|event| events.contains(&event));
    let is_flat = FLAT.contains(&room.agent);
    let before_tool = if room.agent == FLAT[0] { "preToolUse" } else { "PreToolUse" };
    let is_right = match part {
        "additionalContext" => is_flat && fits(room.context) && value.is_string(),
        "permissionDecision" => is_flat && fits(&[before_tool]) && value == "deny",
        "permissionDecisionReason" => is_flat && fits(&[before_tool]) && value.is_string(),
        "systemMessage" if room.agent == FLAT[0] => false,
        "hookSpecificOutput" | "terminalSequence" if is_flat => false,
        "systemMessage" => {
            value.is_string() && !event.is_some_and(|event| event.is_empty() || room.silent.contains(&event))
        }
        "hookSpecificOutput" => {
            (fits(room.context) && is_context(event, value))
                || (fits(&["PreToolUse"]) && is_denial(event, value))
        }
        "decision" => fits(room.block) && value == "block",
        "reason" => fits(room.block) && value.is_string(),
        "terminalSequence" => {
            room.agent == "claude"
                && value.is_string()
                && !event.is_some_and(|event| event.is_empty() || room.silent.contains(&event))
        }
        _ => false,
    };
    (!is_right).then(|| format!("{} has no room for this `{part}`", event.unwrap_or("an unknown event")))
}

/// Checks the event name, too: the client discards context that does not repeat it.
fn is_context(event: Option<&str>, value: &Value) -> bool {
    value.as_object().is_some_and(|object| object.len() == 2)
        && value["additionalContext"].is_string()
        && repeats(event, value)
}

/// Both clients accept it before a tool runs, and show its reason to the model.
fn is_denial(event: Option<&str>, value: &Value) -> bool {
    value.as_object().is_some_and(|object| object.len() == 3)
        && value["permissionDecision"] == "deny"
        && value["permissionDecisionReason"].is_string()
        && repeats(event, value)
}

fn repeats(event: Option<&str>, value: &Value) -> bool {
    value["hookEventName"].as_str().is_some_and(|named| event.is_none_or(|event| event == named))
}
