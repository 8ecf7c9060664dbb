//! What a hook may answer to which event, as the clients take it.
//!
//! Written down from what the clients were seen to accept, not from what the product says: a part that its event has no
//! room for is a flaw. Later outputs of the clients are not listed before something says them.

use serde_json::{Map, Value};

/// What one agent takes from which event.
struct Room {
    agent: &'static str,
    /// Text for the model.
    context: &'static [&'static str],
    /// A refusal with a reason.
    block: &'static [&'static str],
    /// Nothing is read from these.
    silent: &'static [&'static str],
}

const ROOMS: [Room; 2] = [
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
];

/// The event that a payload names, if it is JSON to a strict reader; one without a name has an empty one.
pub fn event_of(payload: &[u8]) -> Option<String> {
    let asked = serde_json::from_slice::<Value>(payload).ok()?;
    Some(asked["hook_event_name"].as_str().unwrap_or("").to_owned())
}

/// What is wrong with an answer to this event. No answer at all is always right; of an answer to an unknown event only
/// the form is looked at, since a payload may be broken in bulk that nobody has to read.
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
    let is_right = match part {
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

/// The client throws a context away that does not repeat the event's name.
fn is_context(event: Option<&str>, value: &Value) -> bool {
    value.as_object().is_some_and(|object| object.len() == 2)
        && value["additionalContext"].is_string()
        && repeats(event, value)
}

/// Both clients take it from the event before a tool runs, and show its reason to the model.
fn is_denial(event: Option<&str>, value: &Value) -> bool {
    value.as_object().is_some_and(|object| object.len() == 3)
        && value["permissionDecision"] == "deny"
        && value["permissionDecisionReason"].is_string()
        && repeats(event, value)
}

fn repeats(event: Option<&str>, value: &Value) -> bool {
    value["hookEventName"].as_str().is_some_and(|named| event.is_none_or(|event| event == named))
}
