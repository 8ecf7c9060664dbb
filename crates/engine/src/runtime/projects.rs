//! Which project a folder belongs to, with the name that the user gave it.
//!
//! Reads a few small files of the repository; runs nothing.

use crate::runtime::config::Config;
use crate::runtime::config::project_name;
use std::path::Path;
use towline_core::project::ProjectTraces;
use towline_terminal::project;

pub fn traces(config: &Config, folder: &Path) -> ProjectTraces {
    let mut traces = project::traces(folder, &project_name);
    if traces.name.is_none() {
        traces.name = folder.to_str().and_then(|folder| config.name_of(folder)).map(str::to_owned);
    }
    traces
}
