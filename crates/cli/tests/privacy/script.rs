//! Transcripts in the shapes that the agents write, made piece by piece.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use towline_core::time::Timestamp;

/// When the first piece of every transcript was written.
pub const BEGAN: i64 = 1_794_700_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Claude,
    Codex,
}

impl Shape {
    pub fn agent(self) -> &'static str {
        match self {
            Shape::Claude => "claude",
            Shape::Codex => "codex",
        }
    }
}

/// A transcript in the making.
pub struct Script {
    pub shape: Shape,
    pub session: String,
    folder: PathBuf,
    /// Of a helper, its name.
    helper: Option<String>,
    lines: Vec<Value>,
    pub at: i64,
}

impl Script {
    pub fn new(shape: Shape, session: &str, folder: &Path) -> Script {
        let mut script = Script {
            shape,
            session: session.to_owned(),
            folder: folder.to_owned(),
            helper: None,
            lines: vec![],
            at: BEGAN,
        };
        if shape == Shape::Codex {
            let meta = json!({"session_id": session, "id": session, "cwd": folder, "source": "cli",
                "thread_source": "user", "history_mode": "paginated"});
            script.line(json!({"type": "session_meta", "payload": meta}));
        }
        script
    }

    /// The record of a helper of this session.
    pub fn of_helper(&self, name: &str) -> Script {
        let mut script = Script {
            helper: Some(name.to_owned()),
            lines: vec![],
            folder: self.folder.clone(),
            session: self.session.clone(),
            ..*self
        };
        if self.shape == Shape::Codex {
            let meta = json!({"session_id": self.session, "id": name, "cwd": self.folder, "thread_source": "subagent",
                "source": {"subagent": {"thread_spawn": {"parent_thread_id": self.session}}}});
            script.line(json!({"type": "session_meta", "payload": meta}));
        }
        script
    }

    pub fn prompt(&mut self, text: &str) -> &mut Self {
        match self.shape {
            Shape::Claude => {
                self.entry(json!({"type": "user", "message": {"role": "user", "content": text}}))
            }
            Shape::Codex => {
                let turn = format!("turn-{}", self.lines.len());
                self.line(json!({"type": "turn_context", "payload": {"turn_id": turn, "cwd": self.folder, "model": "m"}}));
                self.item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}],
                    "internal_chat_message_metadata_passthrough": {"turn_id": turn, "content_item_kinds": ["user.text"]}}))
            }
        }
    }

    pub fn answer(&mut self, text: &str) -> &mut Self {
        match self.shape {
            Shape::Claude => self.said(json!({"type": "text", "text": text})),
            Shape::Codex => {
                self.item(json!({"type": "message", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": text, "annotations": []}]}));
                // The end of a turn waits for this count.
                let info = json!({"last_token_usage": {"total_tokens": 12}, "model_context_window": 258_400});
                self.line(json!({"type": "event_msg", "payload": {"type": "token_count", "info": info}}))
            }
        }
    }

    pub fn thinking(&mut self, text: &str) -> &mut Self {
        match self.shape {
            Shape::Claude => self.said(json!({"type": "thinking", "thinking": text, "signature": "c2ln"})),
            Shape::Codex => self.item(json!({"type": "reasoning", "content": null,
                "summary": [{"type": "summary_text", "text": text}]})),
        }
    }

    /// A call of a tool and what it gave.
    pub fn tool(&mut self, name: &str, input: Value, output: &str) -> &mut Self {
        let call = format!("call_{}_{}", self.session, self.lines.len());
        match self.shape {
            Shape::Claude => {
                self.said(json!({"type": "tool_use", "id": call, "name": name, "input": input}));
                let result =
                    json!({"type": "tool_result", "tool_use_id": call, "content": output, "is_error": false});
                self.entry(json!({"type": "user", "message": {"role": "user", "content": [result]}}))
            }
            Shape::Codex => {
                let input = input.to_string();
                self.item(
                    json!({"type": "function_call", "name": name, "arguments": input, "call_id": call}),
                );
                self.item(json!({"type": "function_call_output", "call_id": call, "output": output}))
            }
        }
    }

    /// A file is written with this content.
    pub fn writes(&mut self, path: &str, content: &str) -> &mut Self {
        match self.shape {
            Shape::Claude => {
                self.tool("Write", json!({"file_path": path, "content": content}), "written");
                self.tool(
                    "Edit",
                    json!({"file_path": path, "old_string": "x", "new_string": content}),
                    "edited",
                )
            }
            Shape::Codex => {
                let call = format!("call_{}_{}", self.session, self.lines.len());
                let added: String = content.lines().map(|line| format!("+{line}\n")).collect();
                let patch = format!("*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n");
                self.item(json!({"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": call}));
                self.item(json!({"type": "custom_tool_call_output", "call_id": call, "output": "Success."}))
            }
        }
    }

    /// What the client adds by itself.
    pub fn note(&mut self, text: &str) -> &mut Self {
        match self.shape {
            Shape::Claude => {
                let file = json!({"type": "text", "file": {"filePath": "/p/notes.txt", "content": text}});
                self.entry(json!({"type": "attachment",
                    "attachment": {"type": "file", "filename": "/p/notes.txt", "content": file}}));
                self.entry(json!({"type": "attachment", "attachment": {"type": "hook_additional_context",
                    "content": [text], "hookName": "SessionStart", "hookEvent": "SessionStart"}}))
            }
            Shape::Codex => self.item(json!({"type": "message", "role": "developer",
                "content": [{"type": "input_text", "text": text}]})),
        }
    }

    /// What replaced the conversation so far.
    pub fn summary(&mut self, text: &str) -> &mut Self {
        match self.shape {
            Shape::Claude => self.entry(json!({"type": "user", "isCompactSummary": true,
                "message": {"role": "user", "content": text}})),
            Shape::Codex => self.line(json!({"type": "compacted", "payload": {"message": text}})),
        }
    }

    fn said(&mut self, block: Value) -> &mut Self {
        let message = json!({"id": format!("msg_{}_{}", self.session, self.lines.len()), "role": "assistant",
            "model": "m", "content": [block], "usage": {"input_tokens": 5, "output_tokens": 7}});
        self.entry(json!({"type": "assistant", "message": message}))
    }

    fn entry(&mut self, mut entry: Value) -> &mut Self {
        let name = self.helper.as_deref().unwrap_or("main");
        entry["uuid"] = json!(format!("{}-{name}-{}", self.session, self.lines.len()));
        entry["sessionId"] = json!(self.session);
        entry["cwd"] = json!(self.folder);
        entry["isSidechain"] = json!(self.helper.is_some());
        if let Some(helper) = &self.helper {
            entry["agentId"] = json!(helper);
        }
        self.line(entry)
    }

    fn item(&mut self, mut payload: Value) -> &mut Self {
        let name = self.helper.as_deref().unwrap_or("main");
        payload["id"] = json!(format!("{name}_{}_{}", self.session, self.lines.len()));
        self.line(json!({"type": "response_item", "payload": payload}))
    }

    fn line(&mut self, mut line: Value) -> &mut Self {
        line["timestamp"] = json!(Timestamp(self.at).to_utc());
        if self.shape == Shape::Codex {
            line["ordinal"] = json!(self.lines.len());
        }
        self.at += 1000;
        self.lines.push(line);
        self
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Lets time pass before the next piece.
    pub fn later(&mut self, seconds: i64) -> &mut Self {
        self.at += seconds * 1000;
        self
    }

    /// Where the agent keeps it.
    pub fn path(&self, home: &Path) -> PathBuf {
        let session = &self.session;
        match (self.shape, &self.helper) {
            (Shape::Claude, None) => home.join(format!(".claude/projects/-p/{session}.jsonl")),
            (Shape::Claude, Some(helper)) => {
                home.join(format!(".claude/projects/-p/{session}/subagents/agent-{helper}.jsonl"))
            }
            (Shape::Codex, helper) => {
                let id = helper.as_ref().unwrap_or(session);
                home.join(format!(".codex/sessions/2026/11/15/rollout-2026-11-15T00-05-03-{id}.jsonl"))
            }
        }
    }

    /// Writes it where the agent keeps it.
    pub fn save(&self, home: &Path) {
        let path = self.path(home);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(path, text).unwrap();
    }
}
