//! Stores made-up sessions as the clients do: where, and in which lines.
//!
//! The lines have the fields of recorded transcripts that capture reads, and the larger ones that it skips.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::story::{Call, Session, Turn};

#[derive(Clone, Copy)]
pub enum Client {
    Claude,
    Codex,
}

impl Client {
    pub fn place(self, session: &Session) -> PathBuf {
        match self {
            Client::Claude => {
                let folder = session.folder().replace('/', "-");
                format!(".claude/projects/{folder}/{}.jsonl", session.id).into()
            }
            Client::Codex => {
                let at = stamp(session.started_s);
                let (day, time) = (at[..10].replace('-', "/"), at[..19].replace(':', "-"));
                format!(".codex/sessions/{day}/rollout-{time}-{}.jsonl", session.id).into()
            }
        }
    }

    pub fn subagent_place(self, session: &Session, number: u64) -> PathBuf {
        let transcript = self.place(session);
        transcript
            .with_extension("")
            .join(format!("subagents/agent-a{:08x}{number:04x}.jsonl", session.number))
    }

    /// The lines before the first turn.
    pub fn opening(self, session: &Session) -> String {
        match self {
            Client::Claude => String::new(),
            Client::Codex => line(&json!({
                "timestamp": stamp(session.started_s), "type": "session_meta", "payload": {
                    "session_id": session.id, "id": session.id, "timestamp": stamp(session.started_s),
                    "cwd": session.folder(), "originator": "codex-tui", "cli_version": "0.166.0", "source": "cli",
                    "base_instructions": {"text": "You are a coding agent. ".repeat(400)},
                },
            })),
        }
    }

    pub fn turn(self, session: &Session, number: u64, turn: &Turn) -> String {
        match self {
            Client::Claude => claude_turn(session, &format!("{number}"), turn, json!({"isSidechain": false})),
            Client::Codex => codex_turn(session, number, turn),
        }
    }

    /// The client's own id of a turn, in its transcript and in its hooks.
    pub fn turn_id(self, session: &Session, number: u64) -> String {
        match self {
            Client::Claude => format!("{}-q0-{number}", session.id),
            Client::Codex => format!("{}-{number:012x}", &session.id[..23]),
        }
    }

    /// The lines of a transcript up to and with the prompt of a turn, the opening excepted.
    pub fn prompt_lines(self) -> usize {
        match self {
            Client::Claude => 1,
            Client::Codex => 4,
        }
    }

    /// The whole transcript of a subagent.
    pub fn subagent(self, session: &Session, number: u64, turn: &Turn) -> String {
        let agent = format!("a{:08x}{number:04x}", session.number);
        claude_turn(session, &agent, turn, json!({"isSidechain": true, "agentId": agent}))
    }
}

fn claude_turn(session: &Session, name: &str, turn: &Turn, scene: Value) -> String {
    let at = session.started_s + 40 * name.parse::<u64>().unwrap_or(0);
    let own = json!({
        "sessionId": session.id, "cwd": session.folder(), "userType": "external", "version": "2.1.325",
        "gitBranch": "main", "timestamp": stamp(at),
    });
    let id = |kind: &str, part: usize| format!("{}-{kind}{part}-{name}", session.id);
    let entry = |fields: Value| line(&merged(merged(own.clone(), &scene), &fields));
    let said = |part: usize, content: Value| {
        entry(json!({"type": "assistant", "uuid": id("a", part), "parentUuid": id("p", 0), "message": {
            "id": format!("msg_{}", id("m", part)), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
            "content": [content], "usage": {"input_tokens": 12, "cache_read_input_tokens": 30_000 + 40 * part,
                "cache_creation_input_tokens": 900, "output_tokens": 80 + part},
        }}))
    };
    let mut text =
        entry(json!({"type": "user", "uuid": id("p", 0), "parentUuid": null, "promptId": id("q", 0),
        "message": {"role": "user", "content": turn.prompt}}));
    for (part, call) in turn.calls.iter().enumerate() {
        let tool = format!("toolu_{}", id("t", part));
        let call_text = json!({"type": "tool_use", "id": tool, "name": call.tool, "input": input(call)});
        text.push_str(&said(part, call_text));
        text.push_str(&entry(json!({"type": "user", "uuid": id("r", part), "parentUuid": id("a", part),
            "message": {"role": "user", "content": [{"tool_use_id": tool, "type": "tool_result", "content": call.output,
                "is_error": call.is_error}]},
            "toolUseResult": {"stdout": call.output, "stderr": "", "interrupted": false}})));
    }
    text.push_str(&said(turn.calls.len(), json!({"type": "text", "text": turn.answer})));
    text
}

fn input(call: &Call) -> Value {
    match call.tool {
        "Bash" => json!({"command": call.target, "description": "run it"}),
        "Grep" => json!({"pattern": call.target}),
        "Edit" => json!({"file_path": call.target, "old_string": "before", "new_string": "after"}),
        _ => json!({"file_path": call.target}),
    }
}

fn codex_turn(session: &Session, number: u64, turn: &Turn) -> String {
    let at = stamp(session.started_s + 40 * number);
    let id = |kind: &str, part: usize| format!("{kind}_{:08x}{number:06x}{part:04x}", session.number);
    let turn_id = Client::Codex.turn_id(session, number);
    let entry =
        |kind: &str, payload: Value| line(&json!({"timestamp": at, "type": kind, "payload": payload}));
    let message = |part: usize, role: &str, text: Value| {
        entry(
            "response_item",
            json!({"type": "message", "id": id("msg", part), "role": role, "content": [text]}),
        )
    };
    let mut text = entry("event_msg", json!({"type": "task_started", "turn_id": turn_id}));
    text.push_str(&entry(
        "turn_context",
        json!({"turn_id": turn_id, "cwd": session.folder(), "model": "gpt-5.5"}),
    ));
    text.push_str(&message(0, "user", json!({"type": "input_text", "text": turn.prompt})));
    text.push_str(&entry("event_msg", json!({"type": "item_completed", "thread_id": session.id, "turn_id": turn_id,
        "item": {"type": "UserMessage", "id": id("item", 0), "content": [{"type": "text", "text": turn.prompt}]}})));
    for (part, call) in turn.calls.iter().enumerate() {
        let arguments = json!({"cmd": if call.tool == "Bash" { call.target.clone() } else { format!("cat {}", call.target) }});
        let output = format!(
            "Wall time: 0.1 seconds\nProcess exited with code {}\nOutput:\n{}",
            i32::from(call.is_error),
            call.output
        );
        text.push_str(&entry(
            "response_item",
            json!({"type": "function_call", "id": id("fc", part), "name": "exec_command",
            "arguments": arguments.to_string(), "call_id": id("call", part)}),
        ));
        text.push_str(&entry(
            "response_item",
            json!({"type": "function_call_output", "id": id("fco", part),
            "call_id": id("call", part), "output": output}),
        ));
    }
    text.push_str(&entry("event_msg", json!({"type": "item_completed", "thread_id": session.id, "turn_id": turn_id,
        "item": {"type": "AgentMessage", "id": id("msg", 1), "content": [{"type": "Text", "text": turn.answer}]}})));
    text.push_str(&message(1, "assistant", json!({"type": "output_text", "text": turn.answer})));
    let usage =
        json!({"input_tokens": 1200, "cached_input_tokens": 400, "output_tokens": 25, "total_tokens": 1225});
    text.push_str(&entry(
        "event_msg",
        json!({"type": "token_count", "info": {"total_token_usage": usage, "last_token_usage": usage}}),
    ));
    text.push_str(&entry(
        "event_msg",
        json!({"type": "task_complete", "turn_id": turn_id, "last_agent_message": turn.answer}),
    ));
    text
}

fn merged(mut all: Value, more: &Value) -> Value {
    if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
        all.extend(more.clone());
    }
    all
}

fn line(value: &Value) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{value}");
    text
}

fn stamp(seconds: u64) -> String {
    let at = towline_core::time::Timestamp(i64::try_from(seconds * 1000).unwrap_or(0));
    at.to_utc()
}
