//! Drives the real clients of further agents, headless and in a tmux pane: one constant per client.
//!
//! Registers no hook: those come from `tow install`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::clients;
use crate::env::TestEnv;
use crate::model::Model;
use crate::run::Run;
use crate::tmux::{Pane, Tmux};

/// A client at its pinned version.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// The agent's name, which is also its program's.
    pub name: &'static str,
    /// The words that start the program.
    program: fn() -> Vec<PathBuf>,
    /// The words before the prompt of a run without a terminal.
    headless: &'static [&'static str],
    variables: fn(&Model) -> Vec<(&'static str, String)>,
    /// Prepares a home in which the client shows no dialog.
    seed: fn(&TestEnv, &Model),
    /// Whether a screen shows an input that waits.
    is_idle: fn(&str) -> bool,
}

impl Client {
    /// Qwen Code, which asks before it runs a command.
    pub const QWEN: Self = Self {
        name: "qwen",
        program: || under_node("qwen"),
        headless: &["-p"],
        variables: |model| {
            let quiet = [("NO_UPDATE_NOTIFIER", "1".to_owned()), ("OPENAI_MODEL", "scripted".to_owned())];
            let model =
                [("OPENAI_BASE_URL", format!("{}/v1", model.url())), ("OPENAI_API_KEY", "key".to_owned())];
            quiet.into_iter().chain(model).collect()
        },
        seed: |env, _| {
            let settings = json!({
                "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": false}},
                "model": {"name": "scripted"},
                "privacy": {"usageStatisticsEnabled": false},
                "general": {"enableAutoUpdate": false, "checkForUpdates": false},
                "telemetry": {"enabled": false},
                "tools": {"approvalMode": "default"},
                "ui": {"hideTips": true, "enableFollowupSuggestions": false},
            });
            write(env.home().join(".qwen/settings.json"), &settings);
        },
        is_idle: |screen| screen.contains("Type your message") && !screen.contains("esc to cancel"),
    };

    /// Gemini CLI, which asks before it runs a command. By default it would ask the model which model to use.
    pub const GEMINI: Self = Self {
        name: "gemini",
        program: || {
            let mut words = under_node("gemini");
            words.extend(["-m", "gemini-3.8-flash"].map(PathBuf::from));
            words
        },
        headless: &["-p"],
        variables: |model| {
            let quiet = [("NO_UPDATE_NOTIFIER", "1".to_owned()), ("GEMINI_API_KEY", "key".to_owned())];
            quiet.into_iter().chain([("GOOGLE_GEMINI_BASE_URL", model.url())]).collect()
        },
        seed: |env, _| {
            let settings = json!({
                "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
                "privacy": {"usageStatisticsEnabled": false},
                "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
                "ui": {"hideTips": true},
            });
            write(env.home().join(".gemini/settings.json"), &settings);
        },
        is_idle: |screen| screen.contains("Type your message") && !screen.contains("esc to cancel"),
    };

    /// Grok Build, which also runs the hooks of another agent.
    pub const GROK: Self = Self {
        name: "grok",
        program: || under_node("grok"),
        headless: &["-p"],
        variables: |_| {
            let given = [
                ("XAI_API_KEY", "key"),
                ("GROK_DISABLE_AUTOUPDATER", "1"),
                ("GROK_TELEMETRY_ENABLED", "false"),
            ];
            given.map(|(name, value)| (name, value.to_owned())).to_vec()
        },
        seed: |env, model| {
            let text = format!(
                "[models]\ndefault = \"scripted\"\n[model.scripted]\nmodel = \"scripted\"\nbase_url = \"{}/v1\"\n\
                 name = \"Scripted\"\nenv_key = \"XAI_API_KEY\"\ncontext_window = 200000\n",
                model.url()
            );
            let folder = env.home().join(".grok");
            fs::create_dir_all(&folder).expect("home is writable");
            fs::write(folder.join("config.toml"), text).expect("home is writable");
        },
        is_idle: |screen| screen.contains('❯'),
    };

    /// GitHub Copilot CLI, which asks before it runs a command.
    pub const COPILOT: Self = Self {
        name: "copilot",
        program: || under_node("copilot"),
        headless: &["-p"],
        variables: |model| {
            let given = [
                ("COPILOT_OFFLINE", "true"),
                ("COPILOT_AUTO_UPDATE", "false"),
                ("COPILOT_MODEL", "gpt-4.1"),
                ("COPILOT_PROVIDER_API_KEY", "key"),
            ];
            let url = ("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", model.url()));
            given.into_iter().map(|(name, value)| (name, value.to_owned())).chain([url]).collect()
        },
        seed: |env, _| {
            let folder = env.home().join(".copilot");
            let trusted =
                json!({"trustedFolders": [env.project()], "firstLaunchAt": "2026-01-01T00:00:00.000Z"});
            write(folder.join("config.json"), &trusted);
            write(folder.join("settings.json"), &json!({"banner": "never", "autoUpdate": false}));
        },
        // The branch is shown once the client listens to keys.
        is_idle: |screen| {
            screen.contains("/ commands") && screen.contains('⎇') && !screen.contains(" esc esc ")
        },
    };

    /// OpenCode, which is told to ask before it runs a command or changes a file.
    pub const OPENCODE: Self = Self {
        name: "opencode",
        program: || {
            let package = format!("opencode-{}", clients::platform());
            vec![clients::native("opencode-1.18.33", &package, "bin/opencode")]
        },
        headless: &["run"],
        variables: |_| {
            offline([
                ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
                ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
                ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
                ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
            ])
        },
        seed: |env, model| {
            write(env.home().join(".config/opencode/opencode.json"), &opencode_settings(model));
        },
        is_idle: |screen| {
            screen.contains("╹▀▀▀") && screen.contains("ctrl+p commands") && !screen.contains(" interrupt  ")
        },
    };

    /// Kilo Code, which is a fork of OpenCode and told the same.
    pub const KILO: Self = Self {
        name: "kilo",
        program: || {
            let package = format!("@kilocode/cli-{}", clients::platform());
            vec![clients::native("kilo-7.7.7", &package, "bin/kilo")]
        },
        headless: &["run"],
        variables: |_| {
            offline([
                ("KILO_DISABLE_AUTOUPDATE", "1"),
                ("KILO_DISABLE_MODELS_FETCH", "1"),
                ("KILO_DISABLE_LSP_DOWNLOAD", "1"),
                ("KILO_TELEMETRY_LEVEL", "off"),
            ])
        },
        seed: |env, model| {
            write(env.home().join(".config/kilo/kilo.json"), &opencode_settings(model));
        },
        is_idle: Self::OPENCODE.is_idle,
    };

    /// Prepares a home for the client, and links it under its name.
    #[track_caller]
    pub fn seed(&self, env: &TestEnv, model: &Model) {
        (self.seed)(env, model);
        let words = self.words();
        let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        env.script(self.name, &format!("#!/bin/sh\nexec {} \"$@\"\n", quoted.join(" ")));
    }

    /// Runs one turn without a terminal to its end.
    #[track_caller]
    pub fn headless(&self, env: &TestEnv, model: &Model, prompt: &str, args: &[&str]) -> Run {
        let mut command = self.command(env, model);
        Run::of(command.args(args).args(self.headless).arg(prompt), b"")
    }

    /// A command of the client with all variables that it needs to reach the model.
    #[track_caller]
    pub fn command(&self, env: &TestEnv, model: &Model) -> Command {
        let words = self.words();
        let mut command = env.command(&words[0]);
        command.args(&words[1..]).envs((self.variables)(model));
        command
    }

    /// Starts the client in its own pane and waits for its input.
    #[track_caller]
    pub fn interactive(&self, tmux: &Tmux, model: &Model, args: &[&str]) -> Pane {
        let words = self.words();
        let program: Vec<&str> = words.iter().map(String::as_str).chain(args.iter().copied()).collect();
        let variables = (self.variables)(model);
        let added: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let pane = tmux.open(&program, &added);
        self.wait_idle(&pane);
        pane
    }

    /// Waits until the client is idle and accepts a prompt.
    #[track_caller]
    pub fn wait_idle(&self, pane: &Pane) {
        pane.wait_screen_for("an idle client", self.is_idle);
    }

    #[track_caller]
    fn words(&self) -> Vec<String> {
        (self.program)().iter().map(|word| word.display().to_string()).collect()
    }
}

/// A client that is a script, under the Node version that it needs and the name that npm gives it.
#[track_caller]
fn under_node(name: &str) -> Vec<PathBuf> {
    let node = clients::launcher(&format!("node-{}", clients::platform()), "bin/node");
    vec![node, clients::link(name)]
}

/// The variables, and two that keep a client from waiting for packages: it would install some for plugins, which ours
/// does not need.
fn offline<const N: usize>(variables: [(&'static str, &str); N]) -> Vec<(&'static str, String)> {
    let registry = [("npm_config_registry", "http://127.0.0.1:9/"), ("npm_config_fetch_retries", "0")];
    variables.into_iter().chain(registry).map(|(name, value)| (name, value.to_owned())).collect()
}

fn opencode_settings(model: &Model) -> Value {
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible", "name": "Scripted",
        "options": {"baseURL": format!("{}/v1", model.url()), "apiKey": "key"},
        "models": {"scripted": {"name": "Scripted model", "tool_call": true, "limit": {"context": 100_000, "output": 2_000}}},
    });
    json!({
        "autoupdate": false, "share": "disabled",
        "model": "fake/scripted", "small_model": "fake/scripted",
        "permission": {"bash": "ask", "edit": "ask"},
        "provider": {"fake": provider},
    })
}

fn write(path: PathBuf, value: &Value) {
    fs::create_dir_all(path.parent().expect("a file has a folder")).expect("home is writable");
    fs::write(path, serde_json::to_string_pretty(value).expect("JSON can be written"))
        .expect("home is writable");
}
