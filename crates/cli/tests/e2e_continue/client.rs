//! The real clients, as far as they differ in how work goes on in them.
//!
//! Knows nothing of hops.

use serde_json::{Value, json};
use std::fs;
use towline_testkit::{Claude, Codex, Daemon, Model, Pane, Rule, Step, TestEnv, Tmux, Usage};

const CODEX_PROGRAM: Codex = Codex::V0_166_0;

#[derive(Clone, Copy)]
pub enum Client {
    Claude(Claude),
    Codex(Daemon),
}

pub const CLAUDE: Client = Client::Claude(Claude::V2_1_325);
pub const CODEX: Client = Client::Codex(Daemon::Off);
pub const CODEX_DAEMON: Client = Client::Codex(Daemon::On);

impl Client {
    /// With the hooks changed before the client reads them, or a person trusts them.
    #[track_caller]
    pub fn install(self, env: &TestEnv, model: &Model, edit: impl FnOnce(&TestEnv, &mut Value)) {
        match self {
            Client::Claude(claude) => {
                claude.seed(env);
                env.tow(&["install", "--agent", "claude"]).ok();
                Claude::edit_settings(env, |settings| edit(env, &mut settings["hooks"]));
            }
            Client::Codex(daemon) => {
                CODEX_PROGRAM.seed(env, model, daemon);
                env.tow(&["install", "--agent", "codex"]).ok();
                let path = env.home().join(".codex/hooks.json");
                let mut settings: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
                edit(env, &mut settings["hooks"]);
                fs::write(&path, settings.to_string()).unwrap();
                CODEX_PROGRAM.trust_hooks(env);
            }
        }
    }

    #[track_caller]
    pub fn open(self, tmux: &Tmux, model: &Model) -> Pane {
        match self {
            Client::Claude(claude) => claude.interactive(tmux, model, &[]),
            Client::Codex(daemon) => {
                let pane = CODEX_PROGRAM.interactive(tmux, &[]);
                if daemon == Daemon::On {
                    CODEX_PROGRAM.wait_daemon(tmux.env());
                }
                pane
            }
        }
    }

    /// Of the larger window of the one, and of the other's; below what the other would compact by itself.
    pub fn full_usage(self) -> Usage {
        let input = match self {
            Client::Claude(_) => 900_000,
            Client::Codex(_) => 220_000,
        };
        Usage { input, output: 100, cache_read: 0, cache_write: 0, reasoning: 0 }
    }

    /// A turn that fills the context. One client tells of its end before the last answer is in its transcript, hence two.
    pub fn full(self, prompt: &str, answer: &str) -> Rule {
        let (rule, usage) = (Rule::when(prompt), self.full_usage());
        let paint = json!({"command": "echo painting", "description": "paint"});
        match self {
            Client::Claude(_) => rule.then(Step::tool("Bash", paint).usage(usage)),
            Client::Codex(_) => rule,
        }
        .then(Step::text(answer).usage(usage))
    }
}
