//! What the user wants captured, in the words of `core::capture`.
//!
//! A copy of the settings, so that several files can be read at once. Decides nothing.

use crate::config::{Config, layered};
use crate::edge::Edge;
use crate::failure::Failure;
use crate::{privacy, projects};
use std::io::ErrorKind;
use std::path::Path;
use towline_core::capture::Caps;
use towline_core::project::ProjectTraces;
use towline_core::text::Secrets;

/// More than this of one thing helps nobody; what was cut is stated in its place.
const CAPS: Caps =
    Caps { body: 256 << 10, input: 64 << 10, output: 256 << 10, thinking: 64 << 10, note: 32 << 10 };

/// The settings that capturing depends on.
pub struct Wishes {
    config: Config,
}

impl Wishes {
    #[cfg(test)]
    pub fn of(config: Config) -> Self {
        Self { config }
    }

    /// Where it cannot be known what is to stay private, nothing is captured.
    pub fn load(edge: &Edge) -> Result<Self, Failure> {
        let file = edge.config_file.display();
        let refused = |why: String| {
            Failure::input(format!("nothing is captured while {file} cannot be understood: {why}"))
                .hint("Run `tow config` and mend it.")
        };
        let user = match std::fs::read_to_string(&edge.config_file) {
            Ok(user) => user,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { config: Config::compiled_in() });
            }
            Err(error) => return Err(refused(error.to_string())),
        };
        let found = layered(&user);
        match found.mistakes.iter().find(|mistake| mistake.hides_a_wish_for_privacy()) {
            Some(mistake) => Err(refused(mistake.to_string())),
            None => Ok(Self { config: found.config }),
        }
    }

    pub(super) fn caps(&self) -> Caps {
        CAPS
    }

    pub(super) fn secrets(&self) -> Secrets {
        self.config.secrets
    }

    pub(super) fn excludes_tool(&self, tool: &str) -> bool {
        self.config.excludes_tool(tool)
    }

    pub(super) fn excludes_path(&self, path: &str) -> bool {
        self.config.excludes_path(path)
    }

    /// Whether sessions in this folder leave no trace: by the name it goes by and by the one it has.
    pub(super) fn excludes(&self, folder: &str) -> bool {
        privacy::is_excluded(&self.config, folder)
    }

    pub(super) fn traces(&self, folder: &Path) -> ProjectTraces {
        projects::traces(&self.config, folder)
    }
}
