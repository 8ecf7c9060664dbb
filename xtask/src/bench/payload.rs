//! The recorded payloads of both agents, adapted to a case: session, folder, size.
//!
//! Payloads are edited as text, never parsed and printed again, to keep the client's order of keys, on which
//! the cost of parsing depends.

use std::collections::BTreeMap;
use std::path::Path;

use crate::outcome::Failure;

/// An agent with hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agent {
    Claude,
    Codex,
}

pub const AGENTS: [Agent; 2] = [Agent::Claude, Agent::Codex];

impl Agent {
    pub fn word(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
        }
    }
}

/// One payload as the client sends it: without the white space of the stored file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload(String);

/// The payload of each event, from the newest client that sent it.
pub struct Recordings {
    payloads: BTreeMap<(Agent, String), Payload>,
}

/// Preferred variants of an event, in order; if it has none of them, the first by name is taken.
const PREFERRED: [&str; 4] = ["", "Bash", "startup", "prompt_input_exit"];

impl Recordings {
    /// Reads `folder/<agent>/<version>/<Event>[.variant].json`.
    pub fn load(folder: &Path) -> Result<Recordings, Failure> {
        let mut payloads = BTreeMap::new();
        for agent in AGENTS {
            let mut versions = names(&folder.join(agent.word()))?;
            versions.sort_by_key(|version| numbers(version));
            for version in versions {
                let recorded = of_version(&folder.join(agent.word()).join(version))?;
                payloads.extend(recorded.into_iter().map(|(event, payload)| ((agent, event), payload)));
            }
        }
        Ok(Recordings { payloads })
    }

    pub fn events_of(&self, agent: Agent) -> impl Iterator<Item = &str> {
        let of_agent = self.payloads.keys().filter(move |(owner, _)| *owner == agent);
        of_agent.map(|(_, event)| event.as_str())
    }

    pub fn payload(&self, agent: Agent, event: &str) -> Result<&Payload, Failure> {
        self.payloads.get(&(agent, event.to_owned())).ok_or_else(|| Failure::Missing {
            what: format!("a recorded {event} of {}", agent.word()),
            mend: "record one into crates/agents/fixtures".to_owned(),
        })
    }
}

fn names(folder: &Path) -> Result<Vec<String>, Failure> {
    let entries = std::fs::read_dir(folder).map_err(Failure::read(folder))?;
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.map_err(Failure::read(folder))?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn numbers(version: &str) -> Vec<u64> {
    version.split('.').map(|number| number.parse().unwrap_or_default()).collect()
}

fn of_version(folder: &Path) -> Result<BTreeMap<String, Payload>, Failure> {
    let files: Vec<String> = names(folder)?.into_iter().filter(|name| name.ends_with(".json")).collect();
    let mut payloads = BTreeMap::new();
    for name in by_preference(&files) {
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path).map_err(Failure::read(&path))?;
        let (event, _) = event_and_variant(name);
        payloads.entry(event.to_owned()).or_insert_with(|| Payload::compact(&text));
    }
    Ok(payloads)
}

/// Sorts so that the preferred variant of each event comes first.
fn by_preference(files: &[String]) -> Vec<&str> {
    let mut files: Vec<&str> = files.iter().map(String::as_str).collect();
    files.sort_by_key(|name| {
        let (_, variant) = event_and_variant(name);
        PREFERRED.iter().position(|preferred| *preferred == variant).unwrap_or(PREFERRED.len())
    });
    files
}

fn event_and_variant(name: &str) -> (&str, &str) {
    let stem = name.strip_suffix(".json").unwrap_or(name);
    stem.split_once('.').unwrap_or((stem, ""))
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
        let length = text_length(&self.0[start..]);
        Payload(format!("{}{value}{}", &self.0[..start], &self.0[start + length..]))
    }

    /// Removes the text field `key`; a payload without that field stays as it is.
    pub fn without(&self, key: &str) -> Payload {
        let emptied = self.with(key, "").0;
        let field = format!("\"{key}\":\"\"");
        let text = emptied.replacen(&format!("{field},"), "", 1);
        Payload(text.replacen(&format!(",{field}"), "", 1))
    }

    /// Pads the tool's result until the payload has `size` bytes.
    pub fn grown_to(&self, size: usize) -> Result<Payload, Failure> {
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
        const ANSWER: &str = "\"tool_response\":";
        const OUTPUT: &str = "\"stdout\":\"";
        let answer = self.0.find(ANSWER)? + ANSWER.len();
        if self.0[answer..].starts_with('"') {
            return Some(answer + 1);
        }
        self.0[answer..].find(OUTPUT).map(|at| answer + at + OUTPUT.len())
    }
}

/// The length of the JSON string whose opening quote has just passed.
fn text_length(rest: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'"' if !escaped => return at,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    rest.len()
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
        assert!(numbers("2.1.325") > numbers("2.1.197"));
        assert!(numbers("2.10.0") > numbers("2.9.0"));
    }

    #[test]
    fn plain_recording_is_preferred_to_its_variants() {
        let files = ["Stop.active.json", "Stop.json", "PostToolUse.Agent.json", "PostToolUse.Bash.json"];
        let files: Vec<String> = files.map(str::to_owned).to_vec();
        assert_eq!(by_preference(&files)[..2], ["Stop.json", "PostToolUse.Bash.json"]);
    }

    #[test]
    fn recordings_hold_every_event_that_has_a_bound() {
        let repository = Repository::here().unwrap();
        let recordings = Recordings::load(&repository.root().join("crates/agents/fixtures")).unwrap();
        for agent in AGENTS {
            for event in
                ["SessionStart", "UserPromptSubmit", "PostToolUse", "PermissionRequest", "Stop", "SessionEnd"]
            {
                let payload = recordings.payload(agent, event).unwrap();
                let value: serde_json::Value = serde_json::from_slice(payload.bytes()).unwrap();
                assert_eq!(value["hook_event_name"], event);
            }
        }
    }
}
