//! The editor task that runs `tow monitor`, for `tow install` and `tow uninstall`.
//!
//! Chooses the file; the agents crate edits it. Writes only when the user asked for it.

use super::install::refused;
use std::path::{Path, PathBuf};
use towline_agents::settings::{
    EditPlan, EditorTasks, ManagedContent, OriginalsArchive, RetryPace, TaskState,
};
use towline_engine::runtime::failure::Failure;
use towline_engine::status::tmux::conf::Writing;

pub fn put(
    folder: &Path,
    tow: &Path,
    archive: &OriginalsArchive,
    writing: Writing,
) -> Result<EditPlan, Failure> {
    let tasks = EditorTasks::in_folder(&existing(folder)?, tow).map_err(refused)?;
    match writing {
        Writing::Planned => tasks.preview(RetryPace::USUAL),
        Writing::Done => tasks.apply(archive, RetryPace::USUAL).map(|applied| applied.plan),
    }
    .map_err(refused)
}

pub fn take_away(
    folder: &Path,
    tow: &Path,
    archive: &OriginalsArchive,
    writing: Writing,
) -> Result<EditPlan, Failure> {
    let tasks = EditorTasks::in_folder(&existing(folder)?, tow).map_err(refused)?;
    match writing {
        Writing::Planned => tasks.preview_removal(archive, RetryPace::USUAL),
        Writing::Done => tasks.remove(archive, RetryPace::USUAL).map(|applied| applied.plan),
    }
    .map_err(refused)
}

/// Whether our task in the folder runs another program than `tow`.
pub fn is_outdated(folder: &Path, tow: &Path) -> bool {
    let tasks = EditorTasks::in_folder(folder, tow).ok();
    tasks.and_then(|tasks| tasks.inspect_file(RetryPace::USUAL).ok()) == Some(TaskState::Outdated)
}

fn existing(folder: &Path) -> Result<PathBuf, Failure> {
    let whole = folder.canonicalize().ok().filter(|folder| folder.is_dir());
    whole.ok_or_else(|| {
        Failure::input(format!("{} is no folder", folder.display()))
            .hint("Name the folder that the editor opens: `tow install --vscode FOLDER`.")
    })
}
