//! What `tow install` registers with Claude Code, and where.
//!
//! Describes only: editing is `settings`, and where the configuration folder is, is the caller's to know.

use std::path::Path;

use crate::settings::{Invocation, Order, Page, Refusal, Showing, Target, Wanted, absolute_command};
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

/// Our entries in `settings.json` of `config_dir`, running the program at `tow`.
///
/// Exec form: the client then starts no shell for each event.
pub fn target(config_dir: &Path, tow: &Path) -> Result<Target, Refusal> {
    let file = config_dir.join("settings.json");
    let command = absolute_command(&file, tow)?;
    let args = vec!["hook".to_owned(), "claude".to_owned()];
    let invocation = Invocation::Exec { command: command.clone(), args };
    let wanted = EVENTS.iter().map(|event| Wanted::new(event, invocation.clone(), TIMEOUT_S).among(MATCHERS));
    let target = Target::new("claude", file, Order::Free).wanting(wanted);
    Ok(target.with_status_line(command, Showing::AsItIs).silenced_by("disableAllHooks"))
}

/// Our skills in `config_dir`. People call them `/tow` and `/tow-detail`.
pub fn pages(config_dir: &Path, tow: &Path) -> Result<Vec<Page>, Refusal> {
    let dialect = Dialect {
        agent: "claude",
        sign: '/',
        argument: Some("$ARGUMENTS"),
        for_people: "\ndisable-model-invocation: true",
    };
    skills::pages(&dialect, config_dir, tow)
}
