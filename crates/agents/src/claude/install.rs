//! The entries that `tow install` registers with Claude Code, and their locations.
//!
//! Describes only: `settings` edits, and the caller knows the configuration folder.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::agent::Agent;
use crate::plugin;
use crate::settings::{
    EditRefusal, EntryOrder, HookEntry, Invocation, StatusLineMode, Target, absolute_command,
};
use crate::skills::{Dialect, PeoplePages};

/// The registered events: exactly those that the adapter parses.
pub const EVENTS: &[&str] = &[
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "PermissionRequest",
    "PermissionDenied",
    "Notification",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Elicitation",
    "ElicitationResult",
    "CwdChanged",
    "TaskCompleted",
];

/// Tools whose start a hook may deny. Other tools run no hook of ours before they start.
const MATCHERS: &[(&str, &str)] = &[("PreToolUse", "Agent|Task")];

/// Far above a hook's run time, far below the client's maximum. It also raises SessionEnd's default of 1.5 s.
const TIMEOUT_S: u32 = 5;

/// The skills are invoked as `/tow` and `/tow-detail`.
pub(crate) const DIALECT: Dialect = Dialect {
    agent: "claude",
    sign: "/",
    argument: Some("$ARGUMENTS"),
    for_people: "\ndisable-model-invocation: true",
    people_pages: PeoplePages::Skills,
};

/// Our entries in `settings.json` of `config_dir`, running the program at `tow`.
pub fn target(config_dir: &Path, tow: &Path) -> Result<Target, EditRefusal> {
    let file = config_dir.join("settings.json");
    let command = absolute_command(&file, tow)?;
    let target = Target::new("claude", file, EntryOrder::Free).with_entries(hooks(&command));
    Ok(target.with_status_line(command, StatusLineMode::AsItIs).with_disabling_key("disableAllHooks"))
}

/// The file with a user's MCP servers and other client state. If the older file still exists, the client uses that one.
pub fn servers_file(variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let own = variable("CLAUDE_CONFIG_DIR").filter(|path| !path.is_empty()).map(PathBuf::from);
    let older = Agent::Claude.folder(variable)?.join(".config.json");
    if older.exists() {
        return Some(older);
    }
    Some(own.or_else(|| variable("HOME").map(PathBuf::from))?.join(".claude.json"))
}

/// Our plugin's name, if it is enabled in `config_dir`.
pub fn enabled_plugin(config_dir: &Path) -> Option<String> {
    let settings = fs::read(config_dir.join("settings.json")).ok()?;
    let settings: Value = serde_json::from_slice(&settings).ok()?;
    let mut enabled = settings.get("enabledPlugins")?.as_object()?.iter();
    // A value other than a boolean enables it for some versions.
    let is_on = |on: &Value| !matches!(on, Value::Bool(false) | Value::Null);
    enabled.find(|(name, on)| plugin::is_ours(name) && is_on(on)).map(|(name, _)| name.clone())
}

/// Exec form, so that the client starts no shell for each event.
pub(crate) fn hooks(command: &str) -> impl Iterator<Item = HookEntry> + use<> {
    let args = vec!["hook".to_owned(), "claude".to_owned()];
    let invocation = Invocation::Exec { command: command.to_owned(), args };
    EVENTS
        .iter()
        .map(move |event| HookEntry::new(event, invocation.clone(), TIMEOUT_S).with_matcher(MATCHERS))
}
