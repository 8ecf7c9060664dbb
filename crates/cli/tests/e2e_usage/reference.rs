//! The reference counter: slow, naive, and of its own mind. It reads the agents' files with `serde_json` alone.
//!
//! Uses nothing of what it is held against: no reader, no store, no calendar of ours.

use jiff::tz::TimeZone;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Input, read from the cache, written to it, of that for an hour, output.
pub type Counts = [u64; 5];

/// One answer of a model.
#[derive(Clone, Debug)]
pub struct Message {
    pub agent: &'static str,
    /// All sessions whose files hold it.
    pub sessions: BTreeSet<String>,
    pub project: String,
    pub model: String,
    pub at_ms: i64,
    pub counts: Counts,
}

/// A file of an agent: whose it is, and all of its text.
pub struct Held {
    pub agent: &'static str,
    pub text: String,
}

/// Every answer that the files tell of, once.
pub fn messages(files: &[Held]) -> Vec<Message> {
    let mut found: BTreeMap<String, Message> = BTreeMap::new();
    for file in files {
        let lines: Vec<Value> =
            file.text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let told = match file.agent {
            "claude" => claude(&lines),
            _ => codex(&lines),
        };
        for (id, message) in told {
            match found.get_mut(&id) {
                Some(known) => known.sessions.extend(message.sessions),
                None => drop(found.insert(id, message)),
            }
        }
    }
    found.into_values().collect()
}

/// One line for every block of a message, all under its id: the last one's numbers are right, the first one's time.
fn claude(lines: &[Value]) -> BTreeMap<String, Message> {
    let mut found: BTreeMap<String, Message> = BTreeMap::new();
    for line in lines.iter().filter(|line| line["type"] == "assistant") {
        let (message, usage) = (&line["message"], &line["message"]["usage"]);
        let number = |name: &str| usage[name].as_u64().unwrap_or(0);
        let hour = usage["cache_creation"]["ephemeral_1h_input_tokens"].as_u64().unwrap_or(0);
        let counts = [
            number("input_tokens"),
            number("cache_read_input_tokens"),
            number("cache_creation_input_tokens"),
            hour,
            number("output_tokens"),
        ];
        let Some(id) =
            message["id"].as_str().filter(|_| counts != [0; 5] && message["model"] != "<synthetic>")
        else {
            continue;
        };
        let message = Message {
            agent: "claude",
            sessions: [text(&line["sessionId"])].into(),
            project: folder_name(&line["cwd"]),
            model: text(&message["model"]),
            at_ms: milliseconds(&line["timestamp"]),
            counts,
        };
        found.entry(id.to_owned()).or_insert(message).counts = counts;
    }
    found
}

/// Newer files record what each response used; older ones only count, and repeat the count.
fn codex(lines: &[Value]) -> BTreeMap<String, Message> {
    let is_recorded = lines.iter().any(|line| line["type"] == "token_usage_record");
    let meta = lines.iter().find(|line| line["type"] == "session_meta").map(|line| line["payload"].clone());
    let meta = meta.unwrap_or_default();
    let session = if meta["session_id"].is_string() { text(&meta["session_id"]) } else { text(&meta["id"]) };
    let (mut model, mut turn, mut found) = (String::new(), String::new(), BTreeMap::new());
    for line in lines {
        let payload = &line["payload"];
        let (id, usage) = match (line["type"].as_str(), payload["type"].as_str()) {
            (Some("turn_context"), _) => {
                (model, turn) = (text(&payload["model"]), text(&payload["turn_id"]));
                continue;
            }
            (Some("token_usage_record"), _) => (text(&payload["response_id"]), &payload["usage"]),
            (Some("event_msg"), Some("token_count")) if !is_recorded => {
                let total = &payload["info"]["total_token_usage"]["total_tokens"];
                (format!("{turn} at {total}"), &payload["info"]["last_token_usage"])
            }
            _ => continue,
        };
        let number = |name: &str| usage[name].as_u64().unwrap_or(0);
        let (read, write) = (number("cached_input_tokens"), number("cache_write_input_tokens"));
        let counts = [number("input_tokens") - read - write, read, write, 0, number("output_tokens")];
        let message = Message {
            agent: "codex",
            sessions: [session.clone()].into(),
            project: folder_name(&meta["cwd"]),
            model: model.clone(),
            at_ms: milliseconds(&line["timestamp"]),
            counts,
        };
        if counts != [0; 5] {
            found.entry(id).or_insert(message);
        }
    }
    found
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn folder_name(value: &Value) -> String {
    text(value).rsplit('/').next().unwrap_or_default().to_owned()
}

fn milliseconds(value: &Value) -> i64 {
    value.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok()).map_or(0, |at| at.as_millisecond())
}

/// Messages and tokens by whatever a message is put under.
pub fn by(messages: &[Message], key: impl Fn(&Message) -> String) -> BTreeMap<String, (u64, Counts)> {
    let mut sums: BTreeMap<String, (u64, Counts)> = BTreeMap::new();
    for message in messages {
        let sum = sums.entry(key(message)).or_default();
        sum.0 += 1;
        for (all, one) in sum.1.iter_mut().zip(message.counts) {
            *all += one;
        }
    }
    sums
}

/// The day of a message on a wall in this zone.
pub fn day(message: &Message, zone: &TimeZone) -> String {
    let at = jiff::Timestamp::from_millisecond(message.at_ms).unwrap_or_default();
    zone.to_datetime(at).date().to_string()
}

/// Sessions that share messages are one family, by the name of the first: which of them a copy belongs to, no file says.
pub fn families(messages: &[Message]) -> BTreeMap<String, String> {
    let mut of: BTreeMap<String, String> = messages
        .iter()
        .flat_map(|message| &message.sessions)
        .map(|name| (name.clone(), name.clone()))
        .collect();
    loop {
        let before = of.clone();
        for message in messages {
            let Some(first) = message.sessions.iter().filter_map(|name| of.get(name)).min().cloned() else {
                continue;
            };
            for name in &message.sessions {
                of.insert(name.clone(), first.clone());
            }
        }
        if of == before {
            return of;
        }
    }
}
