//! Doctor check of the editor task in the current folder: warns if the task runs another program.
//!
//! Reads one file, and reports nothing if the folder has no task.

use super::check::Check;
use crate::verbs::install::command_to_register;
use crate::verbs::managed::is_task_outdated;
use towline_engine::runtime::env::current_folder;

pub fn check() -> Option<Check> {
    let (folder, tow) = (current_folder()?, command_to_register().ok()?);
    let detail = || format!("the task in {}/.vscode/tasks.json runs another program", folder.display());
    is_task_outdated(&folder, &tow).then(|| Check::warning("editor's task", detail(), "tow install --vscode"))
}
