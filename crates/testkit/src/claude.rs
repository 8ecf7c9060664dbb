//! Drives the real Claude Code, headless and in a tmux pane.
//!
//! Registers no hook: those come from `tow install`, from a `Recorder`, or from the test's own settings.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::clients;
use crate::env::TestEnv;
use crate::model::Model;
use crate::run::Run;
use crate::tmux::{Pane, Tmux};

/// Shorter than the twenty characters that the client stores of an approved key.
const KEY: &str = "sk-scripted";

/// Variables that disable the client's network traffic beside the model.
const QUIET: [&str; 6] = [
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_DISABLE_TERMINAL_TITLE",
    "DISABLE_AUTOUPDATER",
    "DISABLE_BUG_COMMAND",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
];

/// Settings of the client's JavaScript engine: short-lived sessions do not earn back what the optimizing compiler and
/// parallel collection cost (CPU of a start and three idle seconds: 1.84 s without these, 1.48 s with them).
const FRUGAL: [(&str, &str); 3] =
    [("BUN_JSC_useDFGJIT", "0"), ("BUN_JSC_numberOfGCMarkers", "1"), ("BUN_JSC_useConcurrentGC", "0")];

/// Claude Code at a pinned version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claude {
    /// The version that the client prints.
    pub version: &'static str,
    alias: &'static str,
}

impl Claude {
    /// The oldest supported version.
    pub const V2_1_197: Self = Self { version: "2.1.197", alias: "claude-2.1.197" };

    /// The newest tested version.
    pub const V2_1_325: Self = Self { version: "2.1.325", alias: "claude-2.1.325" };

    /// Every pinned version, oldest first.
    pub const ALL: [Self; 2] = [Self::V2_1_197, Self::V2_1_325];

    /// The path of the client's executable.
    #[track_caller]
    pub fn binary(&self) -> PathBuf {
        let package = format!("@anthropic-ai/claude-code-{}", clients::platform());
        clients::native(self.alias, &package, "claude")
    }

    /// Prepares a home in which the client shows no dialog, and links the client as `claude`.
    #[track_caller]
    pub fn seed(&self, env: &TestEnv) {
        let folder = env.home().join(".claude");
        fs::create_dir_all(&folder).expect("home is writable");
        let project = env.project().display().to_string();
        write(env.home().join(".claude.json"), &state(&project));
        write(folder.join("settings.json"), &settings());
        env.link("claude", self.binary());
    }

    /// The user's current settings.
    #[track_caller]
    pub fn settings(env: &TestEnv) -> Value {
        let text = fs::read_to_string(settings_path(env)).expect("the home is seeded");
        serde_json::from_str(&text).expect("settings are JSON")
    }

    /// Edits the user's settings.
    #[track_caller]
    pub fn edit_settings(env: &TestEnv, edit: impl FnOnce(&mut Value)) {
        let mut settings = Self::settings(env);
        edit(&mut settings);
        write(settings_path(env), &settings);
    }

    /// Runs one `claude -p` turn to its end.
    #[track_caller]
    pub fn headless(&self, env: &TestEnv, model: &Model, prompt: &str, args: &[&str]) -> Run {
        let mut command = self.command(env, model);
        Run::of(command.args(["-p", prompt]).args(args), b"")
    }

    /// A command of the client with all variables that it needs to reach the model.
    #[track_caller]
    pub fn command(&self, env: &TestEnv, model: &Model) -> Command {
        let mut command = env.command(self.binary());
        command.envs(variables(model));
        command
    }

    /// Starts the client in its own pane and waits for its input box.
    #[track_caller]
    pub fn interactive(&self, tmux: &Tmux, model: &Model, args: &[&str]) -> Pane {
        let binary = self.binary().display().to_string();
        let program: Vec<&str> = std::iter::once(binary.as_str()).chain(args.iter().copied()).collect();
        let variables = variables(model);
        let added: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let pane = tmux.open(&program, &added);
        pane.wait_screen_for("the input box", has_input_box);
        pane
    }

    /// Waits until the client is idle and accepts a prompt.
    #[track_caller]
    pub fn wait_idle(&self, pane: &Pane) {
        pane.wait_screen_for("an idle client", |screen| {
            has_input_box(screen) && !screen.contains("esc to interrupt")
        });
    }
}

/// Checks for the line below the box, which is drawn last.
fn has_input_box(screen: &str) -> bool {
    let below = screen.lines().skip_while(|line| !line.starts_with('❯'));
    below.filter(|line| !line.trim().is_empty()).count() > 2
}

fn variables(model: &Model) -> BTreeMap<&'static str, String> {
    let quiet = QUIET.iter().map(|name| (*name, "1".to_owned()));
    let own = [("ANTHROPIC_API_KEY", KEY.to_owned()), ("ANTHROPIC_BASE_URL", model.url())];
    let frugal = FRUGAL.iter().map(|(name, value)| (*name, (*value).to_owned()));
    quiet.chain(frugal).chain(own).collect()
}

/// The client's state file: onboarding, key approval, trust in the project, and every one-time offer.
fn state(project: &str) -> Value {
    json!({
        "numStartups": 5,
        "installMethod": "npm",
        "autoUpdates": false,
        "theme": "dark",
        "hasCompletedOnboarding": true,
        "lastOnboardingVersion": "2.1.197",
        "lastReleaseNotesSeen": "99.0.0",
        "hasSeenAutoDefaultNudge": true,
        "hasSeenAutoModeEntryWarning": true,
        "hasResetAutoModeOptInForDefaultOffer": true,
        "officialMarketplaceAutoInstallAttempted": true,
        "bypassPermissionsModeAccepted": true,
        "hasSeenTasksHint": true,
        "hasAcknowledgedCostThreshold": true,
        "customApiKeyResponses": {"approved": [KEY], "rejected": []},
        "projects": {project: {
            "hasTrustDialogAccepted": true,
            "hasCompletedProjectOnboarding": true,
            "projectOnboardingSeenCount": 4,
            "allowedTools": [],
            "mcpServers": {},
        }},
    })
}

/// Allows the tools of most tests; any other tool opens a permission dialog.
fn settings() -> Value {
    json!({
        "permissions": {
            "defaultMode": "default",
            "allow": ["Bash(echo:*)", "Bash(false)", "Read", "Write", "Edit", "Agent", "Task"],
        },
        "includeCoAuthoredBy": false,
        "cleanupPeriodDays": 99999,
    })
}

fn settings_path(env: &TestEnv) -> PathBuf {
    env.home().join(".claude/settings.json")
}

fn write(path: PathBuf, value: &Value) {
    let text = serde_json::to_string_pretty(value).expect("JSON can be written");
    fs::write(path, text).expect("home is writable");
}
