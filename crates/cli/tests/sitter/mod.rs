//! An agent that sits in a real pane and does what the test says: its hooks are run by a process of the agent's name on the
//! pane's own terminal, so that seats are found as they are for the real ones.

use serde_json::{Value, json};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use towline_testkit::{Pane, TestEnv, Tmux, wait};

/// Runs one hook per line that is typed into its pane.
const LOOP: &str = r#"while read -r number; do
    tow hook claude < "$1/$number.json" > "$1/$number.out"
    touch "$1/$number.done"
done
"#;

pub struct Sitter {
    pub pane: Pane,
    env: TestEnv,
    session: String,
    cwd: PathBuf,
    told: Cell<usize>,
}

impl Sitter {
    /// Opens a window of its own and starts a session there.
    pub fn sit(tmux: &Tmux, session: &str) -> Sitter {
        Sitter::work_in(tmux, session, &tmux.env().project())
    }

    /// The same for a session that says it works in this folder.
    pub fn work_in(tmux: &Tmux, session: &str, cwd: &Path) -> Sitter {
        Sitter::run_in(tmux, session, cwd, |program| tmux.open(program, &[]))
    }

    /// Takes the program as it is to be started, wherever that may be.
    pub fn run_in(tmux: &Tmux, session: &str, cwd: &Path, open: impl FnOnce(&[&str]) -> Pane) -> Sitter {
        let env = tmux.env().clone();
        let folder = env.root().join(format!("sitter-{session}"));
        std::fs::create_dir_all(&folder).unwrap();
        env.link("claude", "/bin/bash");
        let script = env.script("sitter", LOOP).display().to_string();
        let pane = open(&["claude", &script, &folder.display().to_string()]);
        let sitter =
            Sitter { pane, env, session: session.to_owned(), cwd: cwd.to_owned(), told: Cell::new(0) };
        sitter.tell("SessionStart", json!({"source": "startup"}));
        sitter
    }

    pub fn prompt(&self, text: &str) {
        self.tell("UserPromptSubmit", json!({"prompt": text}));
    }

    pub fn ask(&self, tool: &str) {
        self.tell("PermissionRequest", json!({"tool_name": tool, "tool_input": {}}));
    }

    pub fn stop(&self) {
        self.tell("Stop", json!({"background_tasks": []}));
    }

    /// Runs one hook with these fields, and waits until it has answered. Gives what it answered.
    pub fn tell(&self, event: &str, fields: Value) -> String {
        self.told.set(self.told.get() + 1);
        let number = self.told.get();
        let folder = self.env.root().join(format!("sitter-{}", self.session));
        let mut payload = json!({"hook_event_name": event, "session_id": self.session, "cwd": self.cwd});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        std::fs::write(folder.join(format!("{number}.json")), payload.to_string()).unwrap();
        self.pane.half_type(&number.to_string());
        self.pane.keys(&["Enter"]);
        wait::until(&format!("the hook for {event}"), wait::PATIENCE, || {
            folder.join(format!("{number}.done")).exists().then_some(())
        });
        std::fs::read_to_string(folder.join(format!("{number}.out"))).unwrap()
    }
}
