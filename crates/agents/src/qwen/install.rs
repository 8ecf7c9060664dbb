//! The entries that `tow install` registers with Qwen Code, and their location.
//!
//! Describes only: `settings` edits, and the caller knows the configuration folder.

use crate::settings::{EditRefusal, EntryOrder, HookEntry, Invocation, Target, absolute_command, quote};
use crate::skills::{Dialect, PeoplePages};
use std::path::Path;

/// The file below the agent's folder with all of the user's settings, MCP servers included.
pub(crate) const SETTINGS: &str = "settings.json";

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
    "Notification",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
];

/// The tool whose start a hook may deny. Other tools run no hook of ours before they start.
pub(crate) const SUBAGENT_TOOLS: &str = "^agent$";
const MATCHERS: &[(&str, &str)] = &[("PreToolUse", SUBAGENT_TOOLS)];

/// Far above a hook's run time, far below the client's 60 s.
const TIMEOUT_S: u32 = 5;

pub(crate) const DIALECT: Dialect =
    Dialect { agent: "qwen", sign: "/", argument: None, for_people: "", people_pages: PeoplePages::Skills };

/// Our entries in the settings below `folder`, running the program at `tow`. The client knows no arguments beside a
/// shell command.
pub fn target(folder: &Path, tow: &Path) -> Result<Target, EditRefusal> {
    let file = folder.join(SETTINGS);
    let line = format!("{} hook qwen", quote(&absolute_command(&file, tow)?));
    let entries = EVENTS.iter().map(|event| {
        HookEntry::new(event, Invocation::Shell(line.clone()), TIMEOUT_S).with_matcher(MATCHERS)
    });
    Ok(Target::new("qwen", file, EntryOrder::Free)
        .with_entries(entries)
        .with_disabling_key("disableAllHooks"))
}
