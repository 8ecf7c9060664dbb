//! An agent that is none: a shell under an agent's name, which runs a hook for every event that it is told.
//!
//! For what needs a seat with a process in it and no client. Its home must have a shell linked under the agent's name.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::tmux::{Pane, Tmux};
use crate::wait;

const EVENTS: [&str; 6] =
    ["SessionStart", "UserPromptSubmit", "PermissionRequest", "PostToolUse", "Stop", "SessionEnd"];

impl Tmux {
    /// One in a pane of its own that has just started; whatever event is said to the pane happens.
    #[track_caller]
    pub fn scripted_agent(&self, id: &str, prompt: &str) -> Pane {
        self.scripted_agent_in(id, &self.env().project(), prompt)
    }

    /// The same, in this folder.
    #[track_caller]
    pub fn scripted_agent_in(&self, id: &str, folder: &Path, prompt: &str) -> Pane {
        let env = self.env();
        let payloads = env.root().join(format!("payloads-{id}"));
        fs::create_dir(&payloads).expect("no other agent has this id");
        for event in EVENTS {
            let payload = json!({
                "hook_event_name": event, "session_id": id, "cwd": folder, "source": "startup", "prompt": prompt,
                "tool_name": "Bash", "tool_input": {"command": "true"},
            });
            fs::write(payloads.join(event), payload.to_string()).expect("the root is writable");
        }
        let hook = format!("tow hook claude < {}/$event", payloads.display());
        let text = format!("event=SessionStart; {hook}; while read event; do {hook}; done\n");
        let script = env.script(&format!("agent-{id}"), &text).display().to_string();
        let before = env.seats().len();
        let pane = self.open(&["claude", &script], &[]);
        wait::until("the agent to sit", wait::PATIENCE, || (env.seats().len() > before).then_some(()));
        pane
    }
}
