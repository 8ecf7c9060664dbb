//! The plugins that `tow install` writes for OpenCode and Kilo, and their locations.
//!
//! Describes only: `settings` writes whole files. No file of the user's is edited: a second plugin offers the tools.

use crate::agent::Agent;
use crate::settings::{EditRefusal, EntryOrder, HookEntry, Invocation, OwnedFile, Target, absolute_command};
use crate::shim;
use crate::skills::{Dialect, PeoplePages};
use std::path::Path;

pub use crate::shim::EVENTS;

/// The plugin that reports, and the one that offers the tools, in the client's folder of plugins.
const PLUGIN: &str = "plugins/towline.js";
pub(crate) const SERVERS: &str = "plugins/towline-tools.js";

const SCRIPT: &str = include_str!("plugin.js");

/// The tools that touch files. The plugin reports their start if the user wants warnings.
const FILE_TOOLS: &[&str] = &["read", "edit", "write", "apply_patch"];

/// Limits a call of the plugin, in seconds. For display: the script has its own.
const TIMEOUT_S: u32 = 5;

/// The client offers skills to the model only, and users commands.
pub(crate) const fn dialect(agent: &'static str) -> Dialect {
    Dialect {
        agent,
        sign: "/",
        argument: Some("$ARGUMENTS"),
        for_people: "",
        people_pages: PeoplePages::Commands,
    }
}

/// Our plugin in the folder of the agent, running the program at `tow`.
pub(crate) fn target(agent: Agent, folder: &Path, tow: &Path) -> Result<Target, EditRefusal> {
    target_telling_of(&[], agent, folder, tow)
}

/// The same with warnings before a tool touches a file.
pub(crate) fn target_with_files(agent: Agent, folder: &Path, tow: &Path) -> Result<Target, EditRefusal> {
    target_telling_of(FILE_TOOLS, agent, folder, tow)
}

fn target_telling_of(
    file_tools: &[&str],
    agent: Agent,
    folder: &Path,
    tow: &Path,
) -> Result<Target, EditRefusal> {
    let file = folder.join(PLUGIN);
    let command = absolute_command(&file, tow)?;
    let script =
        OwnedFile::script(agent.name(), file.clone(), &shim::text(SCRIPT, agent, &command, file_tools));
    let hook = |event: &&'static str| {
        let args = ["hook", agent.name(), *event].map(str::to_owned).to_vec();
        HookEntry::new(event, Invocation::Exec { command: command.clone(), args }, TIMEOUT_S)
    };
    let target = Target::new(agent.name(), file, EntryOrder::Free).with_entries(EVENTS.iter().map(hook));
    Ok(target.in_script(script))
}
