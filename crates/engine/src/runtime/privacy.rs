//! Decides which folders are excluded from recording.
//!
//! Redacting secrets in recorded text belongs to `core`.

use crate::runtime::config::Config;
use std::path::Path;
use towline_terminal::project::shared_repository;

/// Whether sessions in this folder are not recorded. Matches the given path, its canonical path, and the repository that it
/// is a worktree of.
pub fn is_excluded(config: &Config, folder: &str) -> bool {
    let excludes = |path: &Path| path.to_str().is_some_and(|path| config.excludes(path));
    !config.exclude_projects.is_empty()
        && (config.excludes(folder)
            || std::fs::canonicalize(folder).is_ok_and(|path| excludes(&path))
            || shared_repository(Path::new(folder)).is_some_and(|path| excludes(&path)))
}
