//! Sessions turn by turn, as the agent's own record, with the calls of a subagent beside them.

use crate::world::NOON;
use serde_json::{Value, json};
use std::fs;
use towline_core::time::Timestamp;
use towline_testkit::TestEnv;

const SECOND: i64 = 1_000;

/// A session that is being written.
pub struct Talk<'a> {
    env: &'a TestEnv,
    id: String,
    at: i64,
    own: Vec<String>,
    subagents: Vec<String>,
}

impl<'a> Talk<'a> {
    /// `number` tells it from the other sessions of a test.
    pub fn new(env: &'a TestEnv, number: u32) -> Talk<'a> {
        let id = format!("77777777-aaaa-4000-8000-{number:012}");
        let at = NOON - 3_600 * SECOND * 5 + i64::from(number) * 600 * SECOND;
        Talk { env, id, at, own: vec![], subagents: vec![] }
    }

    pub fn short(&self) -> &str {
        &self.id[28..]
    }

    pub fn asks(mut self, text: &str) -> Self {
        self.at += 30 * SECOND;
        self.entry("user", &json!(text), false);
        self
    }

    pub fn answers(mut self, text: &str) -> Self {
        self.entry("assistant", &json!([{"type": "text", "text": text}]), false);
        self
    }

    pub fn calls(mut self, tool: &str, input: &Value) -> Self {
        self.call(tool, input, false);
        self
    }

    /// A subagent that makes this call.
    pub fn delegates(mut self, tool: &str, input: &Value) -> Self {
        let task =
            json!({"description": "look into it", "prompt": "look into it", "subagent_type": "general"});
        self.call(tool, input, true);
        self.call("Task", &task, false);
        self
    }

    fn call(&mut self, tool: &str, input: &Value, is_sidechain: bool) {
        let id = format!("call_{}_{}_{}", self.short(), self.own.len(), self.subagents.len());
        let used = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
        self.entry("assistant", &used, is_sidechain);
        let result =
            json!([{"type": "tool_result", "tool_use_id": id, "content": "as expected", "is_error": false}]);
        self.entry("user", &result, is_sidechain);
    }

    fn entry(&mut self, role: &str, content: &Value, is_sidechain: bool) {
        self.at += SECOND;
        let lines = if is_sidechain { &self.subagents } else { &self.own };
        let name = format!("{}-{}-{is_sidechain}", self.short(), lines.len());
        let message = json!({"role": role, "id": format!("msg-{name}"), "model": "m", "content": content,
            "usage": {"input_tokens": 50, "output_tokens": 70}});
        let mut entry = json!({"type": role, "uuid": name, "sessionId": self.id, "cwd": self.env.project(),
            "timestamp": Timestamp(self.at).to_utc(), "isSidechain": is_sidechain, "message": message});
        if is_sidechain {
            entry["agentId"] = json!("a1");
        }
        let lines = if is_sidechain { &mut self.subagents } else { &mut self.own };
        lines.push(entry.to_string());
    }

    /// Writes what was said so far, and has it captured and distilled.
    pub fn captured(self) -> Self {
        let folder = self.env.home().join(".claude/projects/-project");
        let own = folder.join(format!("{}.jsonl", self.id));
        let subagent = folder.join(format!("{}/subagents/agent-a1.jsonl", self.id));
        fs::create_dir_all(subagent.parent().unwrap()).unwrap();
        fs::write(&own, self.own.join("\n") + "\n").unwrap();
        self.env.tow(&["capture", "--at-once", "claude", &own.display().to_string()]).ok();
        if !self.subagents.is_empty() {
            fs::write(&subagent, self.subagents.join("\n") + "\n").unwrap();
            self.env.tow(&["capture", "--at-once", "claude", &subagent.display().to_string()]).ok();
        }
        self.env.tow(&["work"]).ok();
        self
    }

    /// The memories of this session.
    pub fn memories(&self) -> Vec<Value> {
        let all = crate::world::memories(self.env);
        let of = |memory: &Value| memory["session"].as_str().is_some_and(|name| name.ends_with(self.short()));
        all.into_iter().filter(of).collect()
    }
}
