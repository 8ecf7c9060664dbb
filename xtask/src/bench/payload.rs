//! The recorded payloads of all agents, adapted to a case: session, folder, size.
//!
//! Payloads are edited as text, never parsed and printed again, to keep the client's order of keys, on which
//! the cost of parsing depends.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use serde::de::IgnoredAny;
use serde_json::Deserializer;
use towline_agents::Agent;
use towline_testkit::mutate::recordings;

use crate::outcome::{Failure, Result};

/// One payload as the client sends it: without the white space of the stored file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload(String);

/// The payload of each event, from the newest client that sent it.
pub struct Recordings {
    payloads: BTreeMap<(Agent, String), Payload>,
}

/// Preferred variants of an event, in order; if it has none of them, the first by name is taken.
const PREFERRED: [&str; 10] = [
    "",
    "Bash",
    "bash",
    "run_shell_command",
    "read",
    "startup",
    "new",
    "prompt_input_exit",
    "permission_prompt",
    "ToolPermission",
];

impl Recordings {
    /// Reads `folder/<agent>/<version>/<Event>[.variant].json`.
    pub fn load(folder: &Path) -> Recordings {
        let mut recorded = recordings(folder);
        // The first of each event is kept.
        recorded.sort_by_cached_key(|recording| rank(&recording.name));
        let mut payloads = BTreeMap::new();
        for recording in recorded {
            let agent = Agent::from_name(&recording.agent);
            let (_, event, _) = parts(&recording.name);
            if let Some(agent) = agent {
                let payload = || Payload::compact(&String::from_utf8_lossy(&recording.payload));
                payloads.entry((agent, event.to_owned())).or_insert_with(payload);
            }
        }
        Recordings { payloads }
    }

    pub fn events_of(&self, agent: Agent) -> impl Iterator<Item = &str> {
        let of_agent = self.payloads.keys().filter(move |(owner, _)| *owner == agent);
        of_agent.map(|(_, event)| event.as_str())
    }

    pub fn payload(&self, agent: Agent, event: &str) -> Result<&Payload> {
        self.payloads.get(&(agent, own_name(agent, event).to_owned())).ok_or_else(|| Failure::Missing {
            what: format!("a recorded {event} of {}", agent.name()),
            mend: "record one into crates/agents/fixtures".to_owned(),
        })
    }
}

/// The agent's own name of an event.
fn own_name(agent: Agent, event: &str) -> &str {
    match (agent, event) {
        (Agent::Copilot, "SessionStart") => "sessionStart",
        (Agent::Copilot, "SessionEnd") => "sessionEnd",
        (Agent::Copilot, "UserPromptSubmit") => "userPromptSubmitted",
        (Agent::Copilot, "PostToolUse") => "postToolUse",
        (Agent::Copilot, "PermissionRequest") => "notification",
        (Agent::Copilot, "Stop") => "agentStop",
        (Agent::Gemini, "UserPromptSubmit") => "BeforeAgent",
        (Agent::Gemini, "PostToolUse") => "AfterTool",
        (Agent::Gemini, "PermissionRequest") => "Notification",
        (Agent::Gemini, "Stop") => "AfterAgent",
        _ => event,
    }
}

/// Orders recordings: the newest version first, and in it the preferred variant of an event.
fn rank(name: &str) -> (Reverse<Vec<u64>>, usize) {
    let (version, _, variant) = parts(name);
    let numbers = version.split('.').map(|number| number.parse().unwrap_or_default()).collect();
    (
        Reverse(numbers),
        PREFERRED.iter().position(|preferred| *preferred == variant).unwrap_or(PREFERRED.len()),
    )
}

/// Returns the version, the event and the variant in `version/Event.variant`.
fn parts(name: &str) -> (&str, &str, &str) {
    let (version, file) = name.split_once('/').unwrap_or(("", name));
    let (event, variant) = file.split_once('.').unwrap_or((file, ""));
    (version, event, variant)
}

impl Payload {
    /// Removes the white space outside strings.
    fn compact(json: &str) -> Payload {
        let mut compact = String::with_capacity(json.len());
        let (mut in_text, mut escaped) = (false, false);
        for character in json.chars() {
            if in_text || !character.is_whitespace() {
                compact.push(character);
            }
            in_text ^= character == '"' && !escaped;
            escaped = in_text && character == '\\' && !escaped;
        }
        Payload(compact)
    }

    pub fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Replaces the value of the text field `key`; a payload without that field stays as it is.
    pub fn with(&self, key: &str, value: &str) -> Payload {
        let opening = format!("\"{key}\":\"");
        let Some(start) = self.0.find(&opening).map(|at| at + opening.len()) else { return self.clone() };
        // From the opening quote to the closing one.
        let mut texts = Deserializer::from_str(&self.0[start - 1..]).into_iter::<IgnoredAny>();
        texts.next();
        let end = start - 1 + texts.byte_offset() - 1;
        Payload(format!("{}{value}{}", &self.0[..start], &self.0[end..]))
    }

    /// Removes the text field `key`; a payload without that field stays as it is.
    pub fn without(&self, key: &str) -> Payload {
        let emptied = self.with(key, "").0;
        let field = format!("\"{key}\":\"\"");
        let text = emptied.replacen(&format!("{field},"), "", 1);
        Payload(text.replacen(&format!(",{field}"), "", 1))
    }

    /// Pads the tool's result until the payload has `size` bytes.
    pub fn grown_to(&self, size: usize) -> Result<Payload> {
        let at = self.answer_start().ok_or_else(|| Failure::malformed("recorded tool result", &self.0))?;
        let missing = size.saturating_sub(self.0.len());
        let lines =
            (0..).map(|number| format!("{number:06} src/lib.rs: a \\\"quoted\\\" word, a tab\\t, ümlaut\\n"));
        let mut filler = String::with_capacity(missing + 80);
        for line in lines {
            if filler.len() + line.len() > missing {
                break;
            }
            filler.push_str(&line);
        }
        filler.push_str(&"x".repeat(missing - filler.len()));
        Ok(Payload(format!("{}{filler}{}", &self.0[..at], &self.0[at..])))
    }

    /// The offset of the result's text: the result itself, or its `stdout`.
    fn answer_start(&self) -> Option<usize> {
        const ANSWERS: [&str; 2] = ["\"tool_response\":", "\"toolResult\":"];
        const OUTPUTS: [&str; 3] = ["\"stdout\":\"", "\"textResultForLlm\":\"", "\"llmContent\":\""];
        let answer = ANSWERS.iter().find_map(|key| Some(self.0.find(key)? + key.len()))?;
        if self.0[answer..].starts_with('"') {
            return Some(answer + 1);
        }
        OUTPUTS.iter().find_map(|key| Some(answer + self.0[answer..].find(key)? + key.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::Repository;

    fn payload(json: &str) -> Payload {
        Payload::compact(json)
    }

    #[test]
    fn white_space_goes_outside_texts_only() {
        assert_eq!(
            payload("{\n \"a b\": \"c \\\" d\",\n \"e\": [1, 2]\n}").0,
            r#"{"a b":"c \" d","e":[1,2]}"#
        );
    }

    #[test]
    fn field_is_replaced_and_the_order_kept() {
        let changed = payload(r#"{"b":"x\"y","a":"z"}"#).with("b", "new");
        assert_eq!(changed.0, r#"{"b":"new","a":"z"}"#);
        assert_eq!(changed.with("c", "new"), changed);
    }

    #[test]
    fn field_is_removed_wherever_it_is() {
        let whole = payload(r#"{"b":"x\"y","a":"z"}"#);
        assert_eq!(whole.without("b").0, r#"{"a":"z"}"#);
        assert_eq!(whole.without("a").0, r#"{"b":"x\"y"}"#);
        assert_eq!(whole.without("c"), whole);
    }

    #[test]
    fn grown_payload_has_the_size_and_is_valid() {
        for json in [r#"{"tool_response":{"stdout":"one"},"a":1}"#, r#"{"tool_response":"one","a":1}"#] {
            for size in [40, 1024, 200 * 1024] {
                let grown = payload(json).grown_to(size).unwrap();
                assert_eq!(grown.bytes().len(), size.max(json.len()));
                serde_json::from_slice::<serde_json::Value>(grown.bytes()).unwrap();
            }
        }
        assert!(payload("{}").grown_to(40).is_err());
    }

    #[test]
    fn newest_version_wins_and_versions_are_numbers() {
        assert!(rank("2.1.325/Stop") < rank("2.1.197/Stop"));
        assert!(rank("2.10.0/Stop") < rank("2.9.0/Stop"));
    }

    #[test]
    fn plain_recording_is_preferred_to_its_variants() {
        let mut names = ["1/PostToolUse.Agent", "1/PostToolUse.Bash", "1/Stop.active", "1/Stop"];
        names.sort_by_key(|name| rank(name));
        assert_eq!(names[..2], ["1/Stop", "1/PostToolUse.Bash"]);
    }

    #[test]
    fn recordings_hold_every_event_that_has_a_bound() {
        let repository = Repository::here().unwrap();
        let recordings = Recordings::load(&repository.root().join("crates/agents/fixtures"));
        for agent in Agent::ALL {
            for event in
                ["SessionStart", "UserPromptSubmit", "PostToolUse", "PermissionRequest", "Stop", "SessionEnd"]
            {
                let payload = recordings.payload(agent, event).unwrap();
                let value: serde_json::Value = serde_json::from_slice(payload.bytes()).unwrap();
                let named = value["hook_event_name"].as_str().unwrap();
                assert!(named.eq_ignore_ascii_case(own_name(agent, event)), "{named}");
            }
            let grown = recordings.payload(agent, "PostToolUse").unwrap().grown_to(11 * 1024).unwrap();
            assert_eq!(grown.bytes().len(), 11 * 1024, "{agent:?}");
            serde_json::from_slice::<serde_json::Value>(grown.bytes()).unwrap();
        }
    }
}
