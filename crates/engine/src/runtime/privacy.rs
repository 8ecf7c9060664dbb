//! What the user does not want kept at all.
//!
//! Secrets inside of what is kept are `core`'s business.

use crate::runtime::config::Config;

/// Whether sessions in this folder leave no trace. A folder is excluded by the name it goes by and by the one it has.
pub fn is_excluded(config: &Config, folder: &str) -> bool {
    let real =
        || std::fs::canonicalize(folder).ok().and_then(|path| path.into_os_string().into_string().ok());
    let wanted = !config.exclude_projects.is_empty();
    wanted && (config.excludes(folder) || real().is_some_and(|folder| config.excludes(&folder)))
}
