//! Sessions that are written down as they go, in the shapes that the agents write them.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use towline_core::time::Timestamp;

/// When every session began.
pub const BEGAN: i64 = 1_794_700_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Claude,
    Codex,
}

impl Shape {
    pub const ALL: [Shape; 2] = [Shape::Claude, Shape::Codex];

    pub fn agent(self) -> &'static str {
        match self {
            Shape::Claude => "claude",
            Shape::Codex => "codex",
        }
    }
}

/// A transcript, line by line.
pub struct Written {
    shape: Shape,
    session: String,
    folder: PathBuf,
    began: i64,
    /// Tasks that were created so far.
    tasks: usize,
    branch: String,
    pub lines: Vec<Value>,
}

/// A script's turns as the agent would have written them.
pub fn written(shape: Shape, session: &str, (folder, script): (&Path, &str)) -> Written {
    written_on("main", shape, session, (folder, script))
}

/// The same, with this branch checked out.
pub fn written_on(branch: &str, shape: Shape, session: &str, (folder, script): (&Path, &str)) -> Written {
    let mut all = Written {
        shape,
        session: session.to_owned(),
        folder: folder.to_owned(),
        began: BEGAN,
        tasks: 0,
        branch: branch.to_owned(),
        lines: vec![],
    };
    if shape == Shape::Codex {
        let meta = json!({"session_id": session, "id": session, "cwd": folder, "source": "cli",
            "thread_source": "user", "history_mode": "paginated", "git": {"branch": branch}});
        all.line(json!({"type": "session_meta", "payload": meta}));
    }
    for part in format!("\n{script}").split("\n== ").skip(1) {
        let (head, text) = part.split_once('\n').unwrap_or((part, ""));
        let (word, rest) = head.split_once(' ').unwrap_or((head, ""));
        all.step(word, rest, text.trim_end());
    }
    all
}

impl Written {
    /// The same, later.
    pub fn at(mut self, began: i64) -> Written {
        for (line, ms) in self.lines.iter_mut().zip((0..).step_by(1000)) {
            line["timestamp"] = json!(Timestamp(began + ms).to_utc());
        }
        self.began = began;
        self
    }

    pub fn path(&self, home: &Path) -> PathBuf {
        let session = &self.session;
        match self.shape {
            Shape::Claude => home.join(format!(".claude/projects/-p/{session}.jsonl")),
            Shape::Codex => {
                home.join(format!(".codex/sessions/2026/11/15/rollout-2026-11-15T00-05-03-{session}.jsonl"))
            }
        }
    }

    /// Writes the first lines where the agent keeps them, and gives the place.
    pub fn save(&self, home: &Path, lines: usize) -> PathBuf {
        let path = self.path(home);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text: String = self.lines.iter().take(lines).map(|line| format!("{line}\n")).collect();
        fs::write(&path, text).unwrap();
        path
    }

    fn step(&mut self, word: &str, rest: &str, text: &str) {
        // What the scripts say of another place is meant for this one.
        let place = self.folder.display().to_string();
        let path = rest.split_once("/home/dev/").and_then(|(_, path)| Some(path.split_once('/')?.1));
        let path = path.map_or(rest.to_owned(), |path| format!("{place}/{path}"));
        match word {
            "person" => self.prompt(text),
            "agent" => self.answer(text),
            "ran" => {
                let (came, command) = rest.split_once(": ").unwrap();
                self.ran(command, text, came == "done");
            }
            "read" => self.called(("Read", "read_file"), json!({"file_path": path, "path": path})),
            "searched" => self.called(("Grep", "grep_files"), json!({"pattern": rest})),
            "fetched" => self.called(("WebFetch", "web_search"), json!({"url": rest, "type": "open_page"})),
            "changed" => self.changed(&path),
            "todo" | "plan" => self.planned(text),
            "tasks" => text.lines().for_each(|line| self.task_created(line.trim_start_matches("create "))),
            "task" => {
                let (id, status) = rest.split_once(' ').unwrap();
                let said = format!("Updated task #{id} status");
                self.tool("TaskUpdate", &json!({"taskId": id, "status": status}), (&said, true));
            }
            "turn" | "folder" | "committed" | "stopped" => {}
            other => assert_eq!(other, "", "no such step"),
        }
    }

    fn prompt(&mut self, text: &str) {
        match self.shape {
            Shape::Claude => {
                self.entry(json!({"type": "user", "message": {"role": "user", "content": text}}))
            }
            Shape::Codex => {
                let turn = format!("turn-{}", self.lines.len());
                let context = json!({"turn_id": turn, "cwd": self.folder, "model": "m"});
                self.line(json!({"type": "turn_context", "payload": context}));
                self.item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}],
                    "internal_chat_message_metadata_passthrough": {"turn_id": turn, "content_item_kinds": ["user.text"]}}));
            }
        }
    }

    fn answer(&mut self, text: &str) {
        match self.shape {
            Shape::Claude => self.said(json!({"type": "text", "text": text})),
            Shape::Codex => self.item(json!({"type": "message", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}]})),
        }
    }

    fn ran(&mut self, command: &str, output: &str, is_done: bool) {
        match self.shape {
            Shape::Claude => self.tool("Bash", &json!({"command": command}), (output, is_done)),
            Shape::Codex => {
                let output = format!("Process exited with code {}\nOutput:\n{output}", u8::from(!is_done));
                self.tool("exec_command", &json!({"cmd": command}), (&output, is_done));
            }
        }
    }

    fn called(&mut self, (claude, codex): (&str, &str), input: Value) {
        let name = if self.shape == Shape::Claude { claude } else { codex };
        self.tool(name, &input, ("found", true));
    }

    fn changed(&mut self, path: &str) {
        match self.shape {
            Shape::Claude => {
                let input = json!({"file_path": path, "old_string": "x", "new_string": "y"});
                self.tool("Edit", &input, ("edited", true));
            }
            Shape::Codex => {
                let call = format!("call_{}", self.lines.len());
                let patch = format!("*** Begin Patch\n*** Update File: {path}\n+x\n*** End Patch\n");
                self.item(json!({"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": call}));
                self.item(json!({"type": "custom_tool_call_output", "call_id": call, "output": "Success."}));
            }
        }
    }

    /// The whole list, as each client writes it.
    fn planned(&mut self, text: &str) {
        let items = text.lines().map(|line| {
            let (mark, text) = line.split_at(4);
            let status = match mark {
                "[x] " => "completed",
                "[>] " => "in_progress",
                _ => "pending",
            };
            match self.shape {
                Shape::Claude => json!({"content": text, "status": status, "activeForm": text}),
                Shape::Codex => json!({"step": text, "status": status}),
            }
        });
        let items: Vec<Value> = items.collect();
        match self.shape {
            Shape::Claude => {
                self.tool("TodoWrite", &json!({"todos": items}), ("Todos have been modified", true))
            }
            Shape::Codex => self.tool("update_plan", &json!({"plan": items}), ("Plan updated", true)),
        }
    }

    fn task_created(&mut self, subject: &str) {
        self.tasks += 1;
        let said = format!("Task #{} created successfully: {subject}", self.tasks);
        let input = json!({"subject": subject, "description": subject, "activeForm": subject});
        self.tool("TaskCreate", &input, (&said, true));
    }

    fn tool(&mut self, name: &str, input: &Value, (output, is_done): (&str, bool)) {
        let call = format!("call_{}_{}", self.session, self.lines.len());
        match self.shape {
            Shape::Claude => {
                self.said(json!({"type": "tool_use", "id": call, "name": name, "input": input}));
                let result = json!({"type": "tool_result", "tool_use_id": call, "content": output, "is_error": !is_done});
                self.entry(json!({"type": "user", "message": {"role": "user", "content": [result]}}));
            }
            Shape::Codex => {
                let input = input.to_string();
                self.item(
                    json!({"type": "function_call", "name": name, "arguments": input, "call_id": call}),
                );
                self.item(json!({"type": "function_call_output", "call_id": call, "output": output}));
            }
        }
    }

    fn said(&mut self, block: Value) {
        let message = json!({"id": format!("msg_{}_{}", self.session, self.lines.len()), "role": "assistant",
            "model": "m", "content": [block], "usage": {"input_tokens": 50, "output_tokens": 70}});
        self.entry(json!({"type": "assistant", "message": message}));
    }

    fn entry(&mut self, mut entry: Value) {
        entry["uuid"] = json!(format!("{}-{}", self.session, self.lines.len()));
        entry["sessionId"] = json!(self.session);
        entry["cwd"] = json!(self.folder);
        entry["gitBranch"] = json!(self.branch);
        entry["isSidechain"] = json!(false);
        self.line(entry);
    }

    fn item(&mut self, mut payload: Value) {
        payload["id"] = json!(format!("item_{}_{}", self.session, self.lines.len()));
        self.line(json!({"type": "response_item", "payload": payload}));
    }

    fn line(&mut self, mut line: Value) {
        let passed = i64::try_from(self.lines.len()).unwrap() * 1000;
        line["timestamp"] = json!(Timestamp(self.began + passed).to_utc());
        if self.shape == Shape::Codex {
            line["ordinal"] = json!(self.lines.len());
        }
        self.lines.push(line);
    }
}
