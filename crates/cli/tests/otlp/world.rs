//! An environment with transcripts of made-up sessions and a configured receiver.

use std::fs::{self, File};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use towline_testkit::TestEnv;

use crate::receiver::Receiver;

/// 2026-11-01T10:00:00Z, when the sessions take place.
pub const TEN: i64 = 1_793_527_200_000;
pub const MINUTE: i64 = 60_000;
pub const HOUR: i64 = 60 * MINUTE;

pub struct World {
    pub env: TestEnv,
}

impl World {
    pub fn new() -> World {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
        env.set_now(TEN + HOUR);
        World { env }
    }

    /// A world that sends to this receiver, with more lines for the `otlp` table.
    pub fn sending_to(receiver: &Receiver, more: &str) -> World {
        let world = World::new();
        world.configure(&receiver.endpoint(), more);
        world
    }

    pub fn configure(&self, endpoint: &str, more: &str) {
        self.write_config(&format!("[otlp]\nendpoint = \"{endpoint}\"\n{more}"), TEN - HOUR);
    }

    /// As if the configuration had been written at this time.
    pub fn write_config(&self, text: &str, at: i64) {
        let folder = self.env.home().join(".config/towline");
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("config.toml");
        fs::write(&path, text).unwrap();
        let at = UNIX_EPOCH + Duration::from_millis(at.unsigned_abs());
        File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
    }

    /// Writes a transcript where the client would keep it, and returns its path.
    pub fn transcript(&self, session: &str, folder: &str, entries: &[Value]) -> String {
        self.write_entries(session, (session, folder), entries)
    }

    /// The same for a subagent of the session `s-1`.
    pub fn subagent(&self, place: &str, entries: &[Value]) {
        self.write_entries(place, ("s-1", "/home/dev/project"), entries);
    }

    fn write_entries(&self, name: &str, (session, folder): (&str, &str), entries: &[Value]) -> String {
        let path = self.env.home().join(format!(".claude/projects/-p/{name}.jsonl"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let line = |entry: &Value| {
            let mut entry = entry.clone();
            (entry["sessionId"], entry["cwd"]) = (json!(session), json!(folder));
            format!("{entry}\n")
        };
        fs::write(&path, entries.iter().map(line).collect::<String>()).unwrap();
        path.display().to_string()
    }

    /// Reads all transcripts, as nobody else does meanwhile.
    pub fn import(&self) {
        self.env.tow(&["import"]).ok();
        self.env.wait_no_process();
    }

    /// Background work as a hook starts it.
    pub fn work(&self) {
        self.env.tow(&["work", "--quiet"]).ok();
        self.env.wait_no_process();
    }

    /// The doctor's row about the receiver.
    pub fn doctor(&self) -> String {
        let report = self.env.tow(&["doctor", "--json"]).json();
        let checks = report["checks"].as_array().unwrap();
        let row = checks.iter().find(|check| check["name"] == "otlp");
        row.map(|row| {
            format!("{}: {}", row["status"].as_str().unwrap_or("?"), row["detail"].as_str().unwrap_or("?"))
        })
        .unwrap_or_default()
    }
}

/// An entry at so many seconds after ten.
fn entry(id: &str, kind: &str, seconds: i64, content: Value) -> Value {
    let at = towline_core::time::Timestamp(TEN + seconds * 1000).to_utc();
    let mut message = json!({"role": kind, "content": content});
    if kind == "assistant" {
        message["id"] = json!(format!("msg-{id}"));
        message["type"] = json!("message");
        message["model"] = json!("claude-opus-5-5");
        message["usage"] = json!({"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 1000,
            "cache_creation_input_tokens": 10});
    }
    json!({"type": kind, "uuid": id, "timestamp": at, "isSidechain": false, "message": message})
}

/// A turn of two minutes that begins at this minute: a prompt, calls of a tool that take ten seconds each, an answer.
pub fn turn(name: &str, minute: i64, prompt: &str, calls: usize) -> Vec<Value> {
    let begins = minute * 60;
    let mut entries = vec![entry(&format!("{name}-p"), "user", begins, json!(prompt))];
    for (number, begins) in (0..calls).zip((begins + 10..).step_by(10)) {
        let id = format!("toolu_{name}_{number}");
        let input = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make secret-target"}}]);
        let output = json!([{"type": "tool_result", "tool_use_id": id, "content": "all well", "is_error": number == 1}]);
        entries.push(entry(&format!("{name}-i{number}"), "assistant", begins, input));
        entries.push(entry(&format!("{name}-o{number}"), "user", begins + 7, output));
    }
    let answer = json!([{"type": "text", "text": "The lighthouse is repaired."}]);
    entries.push(entry(&format!("{name}-a"), "assistant", begins + 120, answer));
    entries
}

/// The identifiers of spans, sorted.
pub fn ids(spans: &[opentelemetry_proto::tonic::trace::v1::Span]) -> Vec<Vec<u8>> {
    let mut ids: Vec<Vec<u8>> = spans.iter().map(|span| span.span_id.clone()).collect();
    ids.sort();
    ids
}

/// Insists that no span was sent twice.
#[track_caller]
pub fn insist_on_each_once(receiver: &Receiver) {
    let mut ids = ids(&receiver.spans());
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count, "{:?}", receiver.names());
}
