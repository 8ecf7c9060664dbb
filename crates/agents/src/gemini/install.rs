//! The entries that `tow install` registers with Gemini CLI, and their location.
//!
//! Describes only: `settings` edits, and the caller knows the configuration folder. Hooks and the MCP server share one
//! file, which the client also writes itself.

use std::path::Path;

use crate::settings::{EditRefusal, EntryOrder, HookEntry, Invocation, Target, absolute_command, quote};
use crate::skills::{Dialect, PeoplePages};

/// The registered events: exactly those that the adapter parses.
pub const EVENTS: &[&str] =
    &["SessionStart", "SessionEnd", "BeforeAgent", "BeforeTool", "AfterTool", "Notification", "AfterAgent"];

/// The file below the agent's folder with all of the user's settings, MCP servers included.
pub(crate) const SETTINGS: &str = "settings.json";

/// Tools whose start a hook may deny. Other tools run no hook of ours before they start.
pub(crate) const SUBAGENT_TOOLS: &str = "^invoke_agent$";
const MATCHERS: &[(&str, &str)] = &[("BeforeTool", SUBAGENT_TOOLS)];

/// Far above a hook's run time, far below the client's 60 s. In milliseconds.
const TIMEOUT_MS: u32 = 5_000;

/// Shown in the client's status row whenever a hook runs.
const NAME: &str = "towline";

/// The client sends commands that it does not know to the model, which knows the skills of that name.
pub(crate) const DIALECT: Dialect =
    Dialect { agent: "gemini", sign: "/", argument: None, for_people: "", people_pages: PeoplePages::Skills };

/// Our entries in `settings.json` of `folder`, running the program at `tow`.
pub fn target(folder: &Path, tow: &Path) -> Result<Target, EditRefusal> {
    let file = folder.join(SETTINGS);
    let entries = hooks(&quote(&absolute_command(&file, tow)?));
    Ok(Target::new("gemini", file, EntryOrder::Free).with_entries(entries))
}

/// `tow` is a shell word.
pub(crate) fn hooks(tow: &str) -> impl Iterator<Item = HookEntry> + use<> {
    let invocation = Invocation::Shell(format!("{tow} hook gemini"));
    EVENTS.iter().map(move |event| {
        HookEntry::new(event, invocation.clone(), TIMEOUT_MS).with_matcher(MATCHERS).named(NAME)
    })
}
