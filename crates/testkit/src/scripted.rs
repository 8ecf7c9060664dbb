//! A fake agent: a shell under an agent's name that runs a hook for every event typed into its pane.
//!
//! For tests that need a process in a pane but no client. A shell must be linked under the agent's name.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::tmux::{Pane, Tmux};
use crate::wait;

const EVENTS: [&str; 6] =
    ["SessionStart", "UserPromptSubmit", "PermissionRequest", "PostToolUse", "Stop", "SessionEnd"];

impl Tmux {
    /// Starts a fake agent in its own pane; each event name said to the pane runs its hook.
    #[track_caller]
    pub fn scripted_agent(&self, id: &str, prompt: &str) -> Pane {
        self.scripted_agent_in(id, &self.env().project(), prompt)
    }

    /// As `scripted_agent`, in this folder.
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
