//! Converts events of a host without hooks into the client's own formats: a payload for the hook, and transcript lines
//! that the client's transcript reader understands.
//!
//! Redacts nothing and writes nothing: the caller does both.

use serde_json::{Value, json};
use towline_core::id::{SessionId, Uid};
use towline_core::time::Timestamp;

/// The session, time and place of an event.
#[derive(Clone, Copy, Debug)]
pub struct HostContext<'a> {
    pub session: &'a SessionId,
    pub folder: &'a str,
    /// The file to which the lines are appended.
    pub transcript: &'a str,
    pub at: Timestamp,
    /// The prefix of the lines' ids.
    pub uid: Uid,
}

#[derive(Clone, Copy, Debug)]
pub enum HostEvent<'a> {
    Begun,
    Asked { prompt: &'a str },
    Used { tool: &'a str, input: &'a Value, output: &'a str },
    Answered { words: &'a str },
    Ended { reason: &'a str },
}

impl HostEvent<'_> {
    /// The event as a private turn may report it: no text but the tool's name. A prompt decides about its own turn.
    pub fn without_text(self) -> Self {
        match self {
            HostEvent::Used { tool, .. } => HostEvent::Used { tool, input: &Value::Null, output: "" },
            HostEvent::Answered { .. } => HostEvent::Answered { words: "" },
            HostEvent::Begun | HostEvent::Asked { .. } | HostEvent::Ended { .. } => self,
        }
    }
}

/// The payload that the client would pass to its hook.
pub fn payload(scene: HostContext<'_>, told: HostEvent<'_>) -> String {
    let (event, more) = match told {
        HostEvent::Begun => ("SessionStart", json!({"source": "startup"})),
        HostEvent::Asked { prompt } => ("UserPromptSubmit", json!({"prompt": prompt})),
        HostEvent::Used { tool, input, output } => (
            "PostToolUse",
            json!({"tool_name": tool, "tool_input": input, "tool_response": {"output": output}}),
        ),
        HostEvent::Answered { words } => {
            ("Stop", json!({"last_assistant_message": words, "stop_hook_active": false}))
        }
        HostEvent::Ended { reason } => ("SessionEnd", json!({"reason": reason})),
    };
    let mut payload = json!({
        "hook_event_name": event, "session_id": scene.session.as_str(), "cwd": scene.folder,
        "transcript_path": scene.transcript,
    });
    if let (Some(payload), Value::Object(more)) = (payload.as_object_mut(), more) {
        payload.extend(more);
    }
    payload.to_string()
}

/// The transcript lines that the client would have written: none, or whole lines.
pub fn lines(scene: HostContext<'_>, told: HostEvent<'_>) -> String {
    let line = |kind: &str, part: &str, content: Value| {
        let entry = json!({
            "type": kind, "uuid": format!("{}-{part}", scene.uid), "sessionId": scene.session.as_str(),
            "cwd": scene.folder, "timestamp": scene.at.to_utc(), "isSidechain": false,
            "message": {"role": kind, "content": content},
        });
        format!("{entry}\n")
    };
    match told {
        HostEvent::Asked { prompt } => line("user", "asked", json!(prompt)),
        HostEvent::Begun | HostEvent::Ended { .. } | HostEvent::Answered { words: "" } => String::new(),
        HostEvent::Answered { words } => {
            line("assistant", "answered", json!([{"type": "text", "text": words}]))
        }
        HostEvent::Used { tool, input, output } => {
            let call = format!("call-{}", scene.uid);
            let used = json!([{"type": "tool_use", "id": call, "name": tool, "input": input}]);
            let came = json!([{"type": "tool_result", "tool_use_id": call, "content": output}]);
            line("assistant", "used", used) + &line("user", "came", came)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Agent, TextLimits};
    use towline_core::text::{SecretPolicy, TextPolicy};

    #[test]
    fn host_events_are_parsed_like_the_clients_own() {
        let session = SessionId::parse("host-1").unwrap();
        let scene = HostContext {
            session: &session,
            folder: "/w",
            transcript: "/t.jsonl",
            at: Timestamp(1_700_000_000_000),
            uid: Uid([7; 16]),
        };
        let keeping = TextPolicy { longest_bytes: 100, secrets: SecretPolicy::Redacted };
        let keepings = TextLimits { prompt: keeping, answer: keeping };
        let input = json!({"path": "a.rs"});
        let all = [
            (HostEvent::Begun, "SessionStart", 0),
            (HostEvent::Asked { prompt: "paint it" }, "UserPromptSubmit", 1),
            (HostEvent::Used { tool: "FileSave", input: &input, output: "saved" }, "PostToolUse", 2),
            (HostEvent::Answered { words: "painted" }, "Stop", 1),
            (HostEvent::Ended { reason: "exit" }, "SessionEnd", 0),
        ];
        for (told, event, count) in all {
            let heard = Agent::Claude.parse_hook(payload(scene, told).as_bytes(), keepings).unwrap().unwrap();
            assert_eq!((heard.event.as_str(), heard.session.id.as_str()), (event, "host-1"));
            assert_eq!(heard.transcript.as_deref(), Some("/t.jsonl"));
            assert_eq!(lines(scene, told).lines().count(), count, "{event}");
        }
    }
}
