//! Sessions of an agent on a machine of these tests: their hooks, and the transcript that the agent writes.

use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use towline_core::time::Timestamp;
use towline_testkit::TestEnv;

/// A session, at the time that its machine has.
pub struct Talk<'a> {
    env: &'a TestEnv,
    id: &'static str,
    at: i64,
}

impl<'a> Talk<'a> {
    /// One that was just started, and of which nothing was asked.
    pub fn begin(env: &'a TestEnv, id: &'static str, at: i64) -> Talk<'a> {
        // A loaded machine is slow, not wrong.
        for (key, value) in [("hook.deadline_ms", "2500"), ("hook.patience_ms", "2000")] {
            env.tow(&["config", "set", key, value]).ok();
        }
        env.set_now(at);
        let talk = Talk { env, id, at };
        fs::create_dir_all(talk.transcript().parent().unwrap()).unwrap();
        talk.tell("SessionStart", json!({"source": "startup"}));
        talk
    }

    fn transcript(&self) -> PathBuf {
        self.env.home().join(format!(".claude/projects/-p/{}.jsonl", self.id))
    }

    fn tell(&self, event: &str, fields: Value) -> Value {
        let mut payload = json!({
            "hook_event_name": event, "session_id": self.id, "cwd": self.env.project(),
            "transcript_path": self.transcript(),
        });
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let said = self.env.hook("claude", payload.to_string()).ok().stdout;
        if said.is_empty() { Value::Null } else { serde_json::from_str(&said).unwrap() }
    }

    /// Asks for something; what the hook says to it.
    pub fn prompt(&self, text: &str) -> Value {
        self.tell("UserPromptSubmit", json!({"prompt": text}))
    }

    /// What the model is given with a prompt.
    pub fn given(&self, text: &str) -> String {
        let said = self.prompt(text);
        said["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or("").to_owned()
    }

    /// A whole turn: asked, a tool that was run, answered; and captured.
    pub fn turn(&self, asked: &str, output: &str, answered: &str) {
        self.prompt(asked);
        let call = format!("call-{}", self.id);
        let user = |content: Value| json!({"type": "user", "message": {"role": "user", "content": content}});
        let agent = |block: Value| {
            json!({"type": "assistant", "message": {"id": format!("m{}", self.id), "role": "assistant", "model": "m",
                "content": [block], "usage": {"input_tokens": 5, "output_tokens": 7}}})
        };
        self.write(0, user(json!(asked)));
        self.write(
            1,
            agent(json!({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "ls locker"}})),
        );
        self.write(
            2,
            user(json!([{"type": "tool_result", "tool_use_id": call, "content": output, "is_error": false}])),
        );
        self.write(3, agent(json!({"type": "text", "text": answered})));
        self.tell("Stop", json!({"last_assistant_message": answered, "background_tasks": []}));
        self.env.tow(&["capture", "claude", &self.transcript().display().to_string()]).ok();
        self.env.wait_no_process();
    }

    fn write(&self, number: i64, mut entry: Value) {
        entry["uuid"] = json!(format!("{}-{number}", self.id));
        entry["sessionId"] = json!(self.id);
        entry["cwd"] = json!(self.env.project());
        entry["isSidechain"] = json!(false);
        entry["timestamp"] = json!(Timestamp(self.at + number).to_utc());
        let mut file = OpenOptions::new().create(true).append(true).open(self.transcript()).unwrap();
        writeln!(file, "{entry}").unwrap();
    }

    pub fn pass_baton(&self) {
        self.env.tow(&["baton", "--session", self.id]).ok().prints("passes its work on");
        self.env.wait_no_process();
    }
}
