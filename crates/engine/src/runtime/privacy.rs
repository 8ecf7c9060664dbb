//! Decides which folders are excluded from recording.
//!
//! Redacting secrets in recorded text belongs to `core`.

use crate::runtime::config::Config;

/// Whether sessions in this folder are not recorded. Matches the given path and its canonical path.
pub fn is_excluded(config: &Config, folder: &str) -> bool {
    let real =
        || std::fs::canonicalize(folder).ok().and_then(|path| path.into_os_string().into_string().ok());
    let wanted = !config.exclude_projects.is_empty();
    wanted && (config.excludes(folder) || real().is_some_and(|folder| config.excludes(&folder)))
}
