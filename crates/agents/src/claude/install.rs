//! What `tow install` registers with Claude Code, and where.
//!
//! Describes only: editing is `settings`, and where the configuration folder is, is the caller's to know.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Agent;
use crate::plugin;
use crate::settings::{
    Form, Invocation, Order, Page, Refusal, Showing, Target, ToolServer, Wanted, absolute_command,
};
use crate::skills::{self, Dialect};

/// The events that we register: exactly those that the adapter gives a meaning.
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

/// The tools whose start somebody may want to refuse. Other tools run no hook of ours before they start.
const MATCHERS: &[(&str, &str)] = &[("PreToolUse", "Agent|Task")];

/// Far above what a hook takes, far below what the client allows. It also lifts the 1.5 s that SessionEnd has by default.
const TIMEOUT_S: u32 = 5;

const DIALECT: Dialect = Dialect {
    agent: "claude",
    sign: "/",
    argument: Some("$ARGUMENTS"),
    for_people: "\ndisable-model-invocation: true",
};

/// Our entries in `settings.json` of `config_dir`, running the program at `tow`.
pub fn target(config_dir: &Path, tow: &Path) -> Result<Target, Refusal> {
    let file = config_dir.join("settings.json");
    let command = absolute_command(&file, tow)?;
    let target = Target::new("claude", file, Order::Free).wanting(wanted(&command));
    Ok(target.with_status_line(command, Showing::AsItIs).silenced_by("disableAllHooks"))
}

/// Our skills in `config_dir`. People call them `/tow` and `/tow-detail`.
pub fn pages(config_dir: &Path, tow: &Path) -> Result<Vec<Page>, Refusal> {
    skills::pages(&DIALECT, config_dir, tow)
}

/// The file in which the client keeps the servers of a user, beside all that it remembers. An older one that is still
/// there is the one that it uses.
pub fn servers_file(variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let own = variable("CLAUDE_CONFIG_DIR").filter(|path| !path.is_empty()).map(PathBuf::from);
    let older = Agent::Claude.folder(variable)?.join(".config.json");
    if older.exists() {
        return Some(older);
    }
    Some(own.or_else(|| variable("HOME").map(PathBuf::from))?.join(".claude.json"))
}

/// Our server in `file`, running the program at `tow`.
pub fn tool_server(file: &Path, tow: &Path) -> Result<ToolServer, Refusal> {
    Ok(ToolServer::new(("claude", Form::Json), file.to_owned(), absolute_command(file, tow)?))
}

/// Our plugin, by the name under which it is switched on in `config_dir`.
pub fn enabled_plugin(config_dir: &Path) -> Option<String> {
    let settings = fs::read(config_dir.join("settings.json")).ok()?;
    let settings: Value = serde_json::from_slice(&settings).ok()?;
    let mut enabled = settings.get("enabledPlugins")?.as_object()?.iter();
    // Where it is not simply on or off, it is on for some versions.
    let is_on = |on: &Value| !matches!(on, Value::Bool(false) | Value::Null);
    enabled.find(|(name, on)| plugin::is_ours(name) && is_on(on)).map(|(name, _)| name.clone())
}

/// What the plugin holds beside its manifest.
pub(crate) fn packed() -> plugin::Packed {
    plugin::Packed {
        hooks: Target::new("claude", plugin::HOOKS.into(), Order::Free).wanting(wanted(plugin::PROGRAM)),
        server: ToolServer::new(("claude", Form::Json), plugin::SERVERS.into(), plugin::PROGRAM.to_owned()),
        pages: skills::pages_running(&DIALECT, Path::new(""), plugin::PROGRAM),
    }
}

/// Exec form: the client then starts no shell for each event.
fn wanted(command: &str) -> impl Iterator<Item = Wanted> + use<> {
    let args = vec!["hook".to_owned(), "claude".to_owned()];
    let invocation = Invocation::Exec { command: command.to_owned(), args };
    EVENTS.iter().map(move |event| Wanted::new(event, invocation.clone(), TIMEOUT_S).among(MATCHERS))
}
