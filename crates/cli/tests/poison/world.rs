//! Sessions into which the texts came, from every side; and clients that ask for what was made of them.

use crate::corpus::Poison;
use serde_json::{Value, json};
use std::fs;
use towline_core::time::Timestamp;
use towline_testkit::{Run, TestEnv};

/// Sunday, 15 November 2026, 12:00 in universal time.
pub const NOON: i64 = 1_794_744_000_000;
/// A turn for each text, a minute apart.
const MINUTE: i64 = 60_000;

pub fn env() -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.set("TZ", "UTC");
    env.set_now(NOON);
    // A loaded machine is slow, not wrong.
    for (key, value) in [("hook.deadline_ms", "2500"), ("hook.patience_ms", "2000")] {
        env.tow(&["config", "set", key, value]).ok();
    }
    env
}

/// From where a text comes into a session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// A person pastes it.
    Prompt,
    /// A command prints it, a file is called so, the agent repeats it.
    Tool,
    /// The same, and a page that was fetched holds it.
    Web,
}

impl From {
    fn id(self) -> &'static str {
        match self {
            From::Prompt => "11111111-aaaa-4000-8000-0000aaaaaaaa",
            From::Tool => "22222222-aaaa-4000-8000-0000bbbbbbbb",
            From::Web => "33333333-aaaa-4000-8000-0000cccccccc",
        }
    }

    pub fn short(self) -> &'static str {
        &self.id()[28..]
    }
}

/// A session with a turn for each of these, written where the agent keeps it, and captured.
pub fn session(env: &TestEnv, from: From, corpus: &[Poison]) -> Run {
    let mut written = Written { env, from, at: NOON - 5 * 3_600_000, lines: vec![] };
    for (number, poison) in (1..).zip(corpus) {
        written.turn(number, &poison.text);
    }
    let path = env.home().join(format!(".claude/projects/-project/{}.jsonl", from.id()));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, written.lines.join("\n") + "\n").unwrap();
    let captured = env.tow(&["capture", "--at-once", "claude", &path.display().to_string()]).ok();
    // A capture distils for a while, and leaves the rest.
    env.tow(&["work"]).ok();
    captured
}

struct Written<'a> {
    env: &'a TestEnv,
    from: From,
    at: i64,
    lines: Vec<String>,
}

impl Written<'_> {
    /// A command fails, a file is changed, the command passes, the agent says what it was. Each place has a word of its own.
    fn turn(&mut self, number: u32, text: &str) {
        self.at += MINUTE;
        if self.from == From::Prompt {
            self.entry("user", json!(format!("Look into part {number}. {text} promptword{number}")));
            self.said(json!({"type": "text", "text": format!("Part {number} is as it should be.")}));
            return;
        }
        self.entry("user", json!(format!("Part {number} fails, mend it")));
        if self.from == From::Web {
            let url = json!({"url": format!("https://pages.example/{number}"), "prompt": "what is it?"});
            self.tool("WebFetch", &url, (&format!("{text} webword{number}"), false));
        }
        let command = json!({"command": format!("cargo test part_{number}")});
        self.tool("Bash", &command, (&format!("error: {text} toolword{number}"), true));
        let file = format!("{}/src/{text} {number}.rs", self.env.project().display());
        let edit = json!({"file_path": file, "old_string": "x", "new_string": "y"});
        self.tool("Edit", &edit, ("edited", false));
        self.tool("Bash", &command, ("test result: ok. 3 passed; 0 failed", false));
        let said = format!("Fixed part {number}. The root cause was: {text} saidword{number}");
        self.said(json!({"type": "text", "text": said}));
    }

    fn tool(&mut self, name: &str, input: &Value, (output, failed): (&str, bool)) {
        let call = format!("call_{}_{}", self.from.short(), self.lines.len());
        self.said(json!({"type": "tool_use", "id": call, "name": name, "input": input}));
        let result =
            json!({"type": "tool_result", "tool_use_id": call, "content": output, "is_error": failed});
        self.entry("user", json!([result]));
    }

    fn said(&mut self, block: Value) {
        self.entry("assistant", json!([block]));
    }

    fn entry(&mut self, role: &str, content: Value) {
        let name = format!("{}-{}", self.from.short(), self.lines.len());
        self.at += 1_000;
        let message = json!({
            "role": role, "id": format!("msg-{name}"), "model": "m", "content": content,
            "usage": {"input_tokens": 50, "output_tokens": 70},
        });
        let entry = json!({
            "type": role, "uuid": name, "sessionId": self.from.id(), "cwd": self.env.project(),
            "timestamp": Timestamp(self.at).to_utc(), "isSidechain": false, "message": message,
        });
        self.lines.push(entry.to_string());
    }
}

/// What the hook says to the first prompt of a new session of this agent.
pub fn first_prompt(env: &TestEnv, (agent, session): (&str, &str), prompt: &str) -> Value {
    let tell = |event: &str, more: (&str, &str)| {
        let payload = json!({
            "hook_event_name": event, "session_id": session, "cwd": env.project(), more.0: more.1,
        });
        env.hook(agent, payload.to_string()).ok().stdout
    };
    tell("SessionStart", ("source", "startup"));
    serde_json::from_str(&tell("UserPromptSubmit", ("prompt", prompt))).unwrap_or_default()
}

/// Every memory there is, held back or not.
pub fn memories(env: &TestEnv) -> Vec<Value> {
    let all = env.tow(&["memories", "--all", "--limit", "500", "--json"]).ok().json();
    all["memories"].as_array().unwrap().clone()
}

/// What no command line takes.
pub fn too_long_for_an_argument(text: &str) -> bool {
    text.len() > 100_000 || text.contains('\0')
}
