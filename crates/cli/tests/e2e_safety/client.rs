//! The real clients, as far as they differ in how a person gets them into a state.
//!
//! Knows nothing of typing.

use serde_json::{Value, json};
use towline_agents::Agent;
use towline_testkit::{Claude, Codex, Daemon, Model, Pane, Step, TestEnv, Tmux};

pub const CODEX: Codex = Codex::V0_166_0;

#[derive(Clone, Copy)]
pub enum Client {
    Claude(Claude),
    Codex(Daemon),
}

impl Client {
    pub const CLAUDE_OLD: Client = Client::Claude(Claude::V2_1_197);
    pub const CLAUDE_NEW: Client = Client::Claude(Claude::V2_1_325);
    pub const CODEX: Client = Client::Codex(Daemon::Off);
    pub const CODEX_DAEMON: Client = Client::Codex(Daemon::On);

    pub fn agent(self) -> Agent {
        match self {
            Client::Claude(_) => Agent::Claude,
            Client::Codex(_) => Agent::Codex,
        }
    }

    pub fn name(self) -> String {
        match self {
            Client::Claude(claude) => format!("claude {}", claude.version),
            Client::Codex(Daemon::Off) => "codex".to_owned(),
            Client::Codex(Daemon::On) => "codex behind its daemon".to_owned(),
        }
    }

    #[track_caller]
    pub fn install(self, env: &TestEnv, model: &Model) {
        match self {
            Client::Claude(claude) => {
                claude.seed(env);
                env.tow(&["install", "--agent", "claude"]).ok();
            }
            Client::Codex(daemon) => {
                CODEX.seed(env, model, daemon);
                env.tow(&["install", "--agent", "codex"]).ok();
                CODEX.trust_hooks(env);
            }
        }
    }

    #[track_caller]
    pub fn open(self, tmux: &Tmux, model: &Model) -> Pane {
        match self {
            Client::Claude(claude) => claude.interactive(tmux, model, &[]),
            Client::Codex(daemon) => {
                let pane = CODEX.interactive(tmux, &["-a", "on-request", "-s", "read-only"]);
                if daemon == Daemon::On {
                    CODEX.wait_daemon(tmux.env());
                }
                pane
            }
        }
    }

    /// What the model wants to use that a person must allow, and what the client then asks.
    pub fn asking(self) -> (Step, &'static str) {
        let bash = json!({"command": "touch never", "description": "Touch"});
        let mut exec: Value = json!({"cmd": "touch never", "justification": "to see"});
        exec["sandbox_permissions"] = json!("require_escalated");
        match self {
            Client::Claude(_) => (Step::tool("Bash", bash), "Do you want to proceed?"),
            Client::Codex(_) => (Step::tool("exec_command", exec), "Would you like to run"),
        }
    }

    /// What a person types or presses to open something that takes the keys, and a word of what is then shown.
    pub fn menus(self) -> &'static [Menu] {
        match self {
            Client::Claude(_) => &CLAUDE_MENUS,
            Client::Codex(_) => &CODEX_MENUS,
        }
    }
}

/// Something that takes the keys, or part of them.
pub struct Menu {
    pub name: &'static str,
    pub typed: &'static str,
    pub keys: &'static [&'static str],
    pub shows: &'static str,
    pub leave: &'static [&'static str],
}

const fn menu(name: &'static str, typed: &'static str, keys: &'static [&'static str]) -> Menu {
    Menu { name, typed, keys, shows: "", leave: &["Escape"] }
}

const CLAUDE_MENUS: [Menu; 8] = [
    Menu { shows: "/add-dir", ..menu("slash menu", "/", &[]) },
    Menu { shows: "/add-dir", ..menu("slash menu gone down", "/", &["Down"]) },
    Menu { shows: "README.md", ..menu("file menu", "@READ", &[]) },
    Menu { shows: "Select model", ..menu("model picker", "/model", &["Enter"]) },
    Menu { shows: "(current)", ..menu("rewind list", "/rewind", &["Enter"]) },
    Menu { shows: "earch prompts", ..menu("history search", "", &["C-r"]) },
    Menu { shows: "ctrl+o to toggle", leave: &["C-o"], ..menu("transcript", "", &["C-o"]) },
    Menu { shows: "Esc to cancel", ..menu("permissions", "/permissions", &["Enter"]) },
];

const CODEX_MENUS: [Menu; 7] = [
    Menu { shows: "/model", ..menu("slash menu", "/", &[]) },
    Menu { shows: "/model", ..menu("slash menu gone down", "/", &["Down"]) },
    Menu { shows: "README.md", ..menu("file menu", "@READ", &[]) },
    Menu { shows: "Select Model", ..menu("model picker", "/model", &["Enter"]) },
    Menu { shows: "Browsing", ..menu("list of prompts", "", &["Escape", "Escape"]) },
    Menu { shows: "reverse-i-search:", ..menu("history search", "", &["C-r"]) },
    Menu { shows: "esc close", ..menu("list of keys", "?", &[]) },
];
