//! The doctor's look at the editor's task in the current folder: only where there is one, and it runs what is not there.
//!
//! Looks at one file, and is silent about whoever has none.

use super::Check;
use crate::verbs::editor::is_outdated;
use crate::verbs::install::command_to_register;
use towline_engine::runtime::env::current_folder;

pub fn check() -> Option<Check> {
    let (folder, tow) = (current_folder()?, command_to_register().ok()?);
    let detail = || format!("the task in {}/.vscode/tasks.json runs another program", folder.display());
    is_outdated(&folder, &tow).then(|| Check::warning("editor's task", detail(), "tow install --vscode"))
}
