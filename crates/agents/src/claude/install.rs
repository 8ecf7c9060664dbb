//! What `tow install` registers with Claude Code, and where.
//!
//! Describes only: editing is `settings`, and where the configuration folder is, is the caller's to know.

use std::path::Path;

use crate::settings::{Invocation, Order, Page, Refusal, Target, Wanted, absolute_command};
use crate::skills::{self, Dialect};

/// The events that we register: exactly those that the adapter gives a meaning.
pub const EVENTS: &[&str] = &[
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
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

/// Far above what a hook takes, far below what the client allows. It also lifts the 1.5 s that SessionEnd has by default.
const TIMEOUT_S: u32 = 5;

/// Our entries in `settings.json` of `config_dir`, running the program at `tow`.
///
/// Exec form: the client then starts no shell for each event.
pub fn target(config_dir: &Path, tow: &Path) -> Result<Target, Refusal> {
    let file = config_dir.join("settings.json");
    let command = absolute_command(&file, tow)?;
    let invocation = Invocation::Exec { command, args: vec!["hook".to_owned(), "claude".to_owned()] };
    let wanted = EVENTS.iter().map(|event| Wanted::new(event, invocation.clone(), TIMEOUT_S));
    Ok(Target::new("claude", file, Order::Free).wanting(wanted).silenced_by("disableAllHooks"))
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
