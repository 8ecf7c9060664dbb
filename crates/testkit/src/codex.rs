//! Drives the real Codex, headless and in a tmux pane, with or without its background daemon.
//!
//! Registers no hook: those come from `tow install` or a `Recorder`. The test must trust them itself.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Map, Value, json};

use crate::app_server::AppServer;
use crate::env::TestEnv;
use crate::model::Model;
use crate::run::Run;
use crate::tmux::{Pane, Tmux};
use crate::{clients, processes, wait};

const ALIAS: &str = "codex-0.166.0";

/// The environment variable from which the configured provider reads its key.
const KEY: (&str, &str) = ("SCRIPTED_KEY", "not-a-secret");

/// Codex at the pinned version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Codex {
    /// The version that the client prints.
    pub version: &'static str,
    start: Start,
}

/// How the client is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// The native program itself.
    Native,
    /// The script that npm puts on the PATH, with a `node` process as parent of the native one.
    ThroughNode,
}

/// Whether the client may start its shared background daemon, as it does by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Daemon {
    /// Sessions run in the daemon, and hooks are its children.
    On,
    /// Sessions run in the client process itself.
    Off,
}

impl Codex {
    /// The pinned version, as a native program.
    pub const V0_166_0: Self = Self { version: "0.166.0", start: Start::Native };

    /// The same client started through its npm script under `node`.
    pub const fn through_node(self) -> Self {
        Self { start: Start::ThroughNode, ..self }
    }

    /// Prepares a home in which the client uses this model and shows no dialog, and links it as `codex`.
    #[track_caller]
    pub fn seed(&self, env: &TestEnv, model: &Model, daemon: Daemon) {
        let folder = env.home().join(".codex");
        fs::create_dir_all(&folder).expect("home is writable");
        fs::write(folder.join("config.toml"), configuration(env, model, daemon)).expect("home is writable");
        env.link("codex", self.program());
    }

    /// Trusts every hook that the client lists for the project, as a user does with `/hooks`.
    #[track_caller]
    pub fn trust_hooks(&self, env: &TestEnv) {
        let mut server = AppServer::start(&mut self.command(env));
        let trusted: Map<String, Value> = listed_hooks(&mut server, env)
            .into_iter()
            .filter(|hook| hook["trustStatus"] != "trusted")
            .filter_map(|hook| {
                Some((hook["key"].as_str()?.to_owned(), json!({"trusted_hash": hook["currentHash"]})))
            })
            .collect();
        let edit = json!({"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"});
        server.call("config/batchWrite", json!({"edits": [edit], "reloadUserConfig": true}));
    }

    /// The hooks as the client lists them for the project, with `key`, `eventName` and `trustStatus`.
    #[track_caller]
    pub fn hooks(&self, env: &TestEnv) -> Vec<Value> {
        listed_hooks(&mut AppServer::start(&mut self.command(env)), env)
    }

    /// Runs one `codex exec --json` turn to its end; stdout is the client's events as JSON lines.
    #[track_caller]
    pub fn headless(&self, env: &TestEnv, prompt: &str, args: &[&str]) -> Run {
        let mut command = self.command(env);
        command.args(["exec", "--json", "--skip-git-repo-check"]).args(args).arg(prompt);
        Run::of(&mut command, b"")
    }

    /// A command of the client with all variables that it needs to reach the configured model.
    #[track_caller]
    pub fn command(&self, env: &TestEnv) -> Command {
        let mut command = env.command(self.program());
        command.env(KEY.0, KEY.1);
        command
    }

    /// Starts the client in its own pane and waits for its input box.
    #[track_caller]
    pub fn interactive(&self, tmux: &Tmux, args: &[&str]) -> Pane {
        let binary = self.program().display().to_string();
        let program: Vec<&str> = std::iter::once(binary.as_str()).chain(args.iter().copied()).collect();
        let pane = tmux.open(&program, &[KEY]);
        pane.wait_screen_for("the input box", has_input_box);
        pane
    }

    /// Waits until the client is idle. Its `Stop` hook runs earlier, while commands are still refused.
    #[track_caller]
    pub fn wait_idle(&self, pane: &Pane) {
        pane.wait_screen_for("an idle client", is_idle);
    }

    /// Waits until the background daemon listens.
    #[track_caller]
    pub fn wait_daemon(&self, env: &TestEnv) {
        let socket = env.home().join(".codex/app-server-control/app-server-control.sock");
        wait::until("the socket of the daemon", wait::PATIENCE, || socket.exists().then_some(()));
    }

    /// Stops the background daemon and its update loop.
    #[track_caller]
    pub fn stop_daemon(&self, env: &TestEnv) {
        Run::of(self.command(env).args(["app-server", "daemon", "stop"]), b"");
        processes::end(env.root(), |process| process.command.contains("app-server"));
    }

    /// The program that a user would start: the native one, or the script around it.
    #[track_caller]
    fn program(&self) -> PathBuf {
        match self.start {
            Start::Native => native(),
            Start::ThroughNode => clients::launcher(ALIAS, "bin/codex.js"),
        }
    }
}

#[track_caller]
fn native() -> PathBuf {
    let target = match clients::platform().as_str() {
        "darwin-arm64" => "aarch64-apple-darwin",
        "darwin-x64" => "x86_64-apple-darwin",
        "linux-arm64" => "aarch64-unknown-linux-musl",
        _ => "x86_64-unknown-linux-musl",
    };
    let package = format!("@openai/codex-{}", clients::platform());
    clients::native(ALIAS, &package, &format!("vendor/{target}/bin/codex"))
}

#[track_caller]
fn listed_hooks(server: &mut AppServer, env: &TestEnv) -> Vec<Value> {
    let listed = server.call("hooks/list", json!({"cwds": [env.project()]}));
    let hooks = listed["data"][0]["hooks"].as_array();
    hooks.unwrap_or_else(|| panic!("no list of hooks in {listed}")).clone()
}

fn has_input_box(screen: &str) -> bool {
    screen.lines().any(|line| line.starts_with('›')) && !screen.contains("loading")
}

/// Judges by the line above the input box: no message yet, the end of a turn, or an interruption. While text
/// streams, the client shows no sign of work at all.
fn is_idle(screen: &str) -> bool {
    let lines: Vec<&str> = screen.lines().filter(|line| !line.trim().is_empty()).collect();
    let Some(input_box) = lines.iter().rposition(|line| line.starts_with('›')) else {
        return false;
    };
    let above = &lines[..input_box];
    let is_fresh = !above.iter().any(|line| line.starts_with('›'));
    let is_end = |line: &&str| line.starts_with("  Worked for ") || line.starts_with('■');
    is_fresh || above.last().is_some_and(is_end)
}

/// `notice` suppresses a screen that offers a newer model.
fn configuration(env: &TestEnv, model: &Model, daemon: Daemon) -> String {
    let project = env.project();
    let key = KEY.0;
    format!(
        r#"model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.scripted]
name = "Scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "{key}"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[features]
daemon_auto_start = {daemon}
apps = false

[projects."{project}"]
trust_level = "trusted"

[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
"#,
        url = model.url(),
        daemon = daemon == Daemon::On,
        project = project.display(),
    )
}
