//! Loads the user's configuration file. A missing or invalid file never fails: the defaults apply.

use super::{Config, layered};
use crate::runtime::env::Env;

/// The current configuration; the defaults if the file cannot be read.
pub fn settings(env: &Env) -> Config {
    std::fs::read_to_string(&env.config_file)
        .map_or_else(|_| Config::compiled_in(), |user| layered(&user).config)
}
