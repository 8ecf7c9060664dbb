//! The entries that `tow install` registers with Copilot, and their locations.
//!
//! Describes only: `settings` edits, and the caller knows the configuration folder.

use std::path::Path;

use crate::settings::{
    EditRefusal, EntryOrder, HookEntry, Invocation, StatusLineMode, Target, absolute_command, quote,
};
use crate::skills::{Dialect, PeoplePages};

/// The registered events: exactly those that the adapter parses. Names in camel case: under the names of other agents, the
/// client sends those agents' payloads.
pub const EVENTS: &[&str] = &[
    "sessionStart",
    "sessionEnd",
    "userPromptSubmitted",
    "preToolUse",
    "postToolUse",
    "postToolUseFailure",
    "notification",
    "agentStop",
    "subagentStart",
    "subagentStop",
    "preCompact",
];

/// The tool whose start a hook may deny. Other tools run no hook of ours before they start.
const MATCHERS: &[(&str, &str)] = &[("preToolUse", "task")];

/// Far above a hook's run time, far below the client's 30 s.
const TIMEOUT_S: u32 = 5;

/// The file below the agent's folder with a user's MCP servers.
pub(crate) const SERVERS: &str = "mcp-config.json";

/// The skills are invoked as `/tow` and `/tow-detail`; their arguments follow the text.
pub(crate) const DIALECT: Dialect = Dialect {
    agent: "copilot",
    sign: "/",
    argument: None,
    for_people: "\ndisable-model-invocation: true",
    people_pages: PeoplePages::Skills,
};

/// Our entries in `settings.json` of `copilot_home`, running the program at `tow`.
pub fn target(copilot_home: &Path, tow: &Path) -> Result<Target, EditRefusal> {
    let file = copilot_home.join("settings.json");
    let command = absolute_command(&file, tow)?;
    let target = Target::new("copilot", file, EntryOrder::Free).with_entries(hooks(&quote(&command)));
    Ok(target.with_status_line(command, StatusLineMode::AsItIs).with_disabling_key("disableAllHooks"))
}

/// `tow` is a shell word. Payloads do not name their event, so the command does.
fn hooks(tow: &str) -> impl Iterator<Item = HookEntry> + use<> {
    let line = format!("{tow} hook copilot");
    EVENTS.iter().map(move |event| {
        HookEntry::new(event, Invocation::Shell(format!("{line} {event}")), TIMEOUT_S).with_matcher(MATCHERS)
    })
}
