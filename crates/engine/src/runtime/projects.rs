//! Determines the project of a folder, with the name that the user configured.
//!
//! Reads a few small files of the repository; runs no commands.

use crate::runtime::config::{Config, project_name};
use std::path::Path;
use towline_core::project::ProjectIdentity;
use towline_terminal::project;

pub fn traces(config: &Config, folder: &Path) -> ProjectIdentity {
    let mut traces = project::traces(folder, &project_name);
    if traces.name.is_none() {
        traces.name = folder.to_str().and_then(|folder| config.name_of(folder)).map(str::to_owned);
    }
    traces
}
