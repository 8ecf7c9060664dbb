//! What the user wants captured, in the words of `core::capture`.
//!
//! A copy of the settings, so that several files can be read at once. Decides nothing.

use super::asked::Asked;
use crate::runtime::config::Config;
use crate::runtime::config::layered;
use crate::runtime::env::Env;
use crate::runtime::failure::Failure;
use crate::runtime::privacy;
use crate::runtime::projects;
use std::io::ErrorKind;
use std::path::Path;
use towline_agents::Agent;
use towline_core::capture::{Caps, Rules};
use towline_core::deed::Deed;
use towline_core::forget::Gone;
use towline_core::project::ProjectTraces;
use towline_core::text::Secrets;
use towline_core::time::Timestamp;

/// More than this of one thing helps nobody; what was cut is stated in its place.
const CAPS: Caps =
    Caps { body: 256 << 10, input: 64 << 10, output: 256 << 10, thinking: 64 << 10, note: 32 << 10 };

/// The settings that capturing depends on.
pub struct Wishes {
    config: Config,
    asked: Asked,
}

/// What the place of a session means for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Wanted,
    /// Not in the project that is asked for.
    Elsewhere,
    /// It is to leave no trace.
    Private,
    /// Nobody can say whether it is to leave no trace.
    Unknown,
}

impl Wishes {
    /// What is wished where the user has said nothing.
    pub fn usual() -> Self {
        Self { config: Config::compiled_in(), asked: Asked::default() }
    }

    #[cfg(test)]
    pub fn of(config: Config) -> Self {
        Self { config, asked: Asked::default() }
    }

    /// Where it cannot be known what is to stay private, nothing is captured.
    pub fn load(env: &Env) -> Result<Self, Failure> {
        let file = env.config_file.display();
        let refused = |why: String| {
            Failure::input(format!("nothing is captured while {file} cannot be understood: {why}"))
                .hint("Run `tow config` and mend it.")
        };
        let user = match std::fs::read_to_string(&env.config_file) {
            Ok(user) => user,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self::usual());
            }
            Err(error) => return Err(refused(error.to_string())),
        };
        let found = layered(&user);
        match found.mistakes.iter().find(|mistake| mistake.hides_a_wish_for_privacy()) {
            Some(mistake) => Err(refused(mistake.to_string())),
            None => Ok(Self { config: found.config, asked: Asked::default() }),
        }
    }

    /// Whether a prompt is the marker of a bookmark.
    pub(super) fn is_marker(&self, prompt: &str) -> bool {
        self.config.bookmarks.is_marker(prompt)
    }

    /// Whether secrets are replaced before anything is kept.
    pub fn secrets(&self) -> Secrets {
        self.config.secrets
    }

    /// What is kept of this agent's conversations, for as long as somebody gathers. `gone`: what must not come back.
    pub(super) fn with_rules<'f, T>(
        &self,
        agent: Agent,
        gone: Option<Gone<'f>>,
        gather: impl FnOnce(&mut Rules<'_, 'f>) -> T,
    ) -> T {
        gather(&mut Rules {
            caps: CAPS,
            secrets: self.config.secrets,
            is_excluded_tool: &|tool| self.config.excludes_tool(tool),
            is_excluded_path: &|path| self.config.excludes_path(path),
            deed: &understood_by(agent),
            gone,
        })
    }

    /// The same, and nothing but what is asked for.
    pub fn asking(self, asked: Asked) -> Self {
        Self { asked, ..self }
    }

    pub fn is_recent(&self, at: Timestamp) -> bool {
        self.asked.since.is_none_or(|since| at >= since)
    }

    /// Whether anything of a session in this folder is taken. One that does not say where it works is in no project.
    pub(super) fn takes(&self, folder: Option<&str>) -> bool {
        match folder {
            Some(_) => self.place(folder, None) == Place::Wanted,
            None => self.asked.project.is_none(),
        }
    }

    /// What it means that a session worked in this folder, or, where that is not told, in a project of this name.
    pub(super) fn place(&self, folder: Option<&str>, project: Option<&str>) -> Place {
        match folder {
            Some(folder) if privacy::is_excluded(&self.config, folder) => Place::Private,
            Some(folder) => self.among_asked(|asked| asked.has(folder, &self.traces(Path::new(folder)))),
            None => self.place_by_name(project.unwrap_or_default()),
        }
    }

    fn among_asked(&self, is_meant: impl Fn(&super::asked::Project) -> bool) -> Place {
        let is_wanted = self.asked.project.as_ref().is_none_or(is_meant);
        if is_wanted { Place::Wanted } else { Place::Elsewhere }
    }

    /// A name does not tell what lies above its folder. Whoever asks for it by name says that it is not private, unless
    /// that very name is excluded.
    fn place_by_name(&self, name: &str) -> Place {
        let mut excluded = self.config.exclude_projects.iter().flat_map(|pattern| pattern.split('/'));
        let is_named = name.split('/').any(|part| !part.is_empty() && excluded.clone().any(|it| it == part));
        match self.among_asked(|asked| asked.has_name(name)) {
            Place::Wanted if is_named => Place::Private,
            Place::Wanted if self.asked.project.is_none() && excluded.next().is_some() => Place::Unknown,
            place @ (Place::Wanted | Place::Elsewhere | Place::Private | Place::Unknown) => place,
        }
    }

    pub fn excludes_tool(&self, tool: &str) -> bool {
        self.config.excludes_tool(tool)
    }

    pub fn excludes_path(&self, path: &str) -> bool {
        self.config.excludes_path(path)
    }

    /// Whether sessions in this folder leave no trace: by the name it goes by and by the one it has.
    pub fn excludes(&self, folder: &str) -> bool {
        privacy::is_excluded(&self.config, folder)
    }

    /// What the user wants private, for telling it from what they wanted before.
    pub fn in_words(&self) -> String {
        let Config { secrets, exclude_projects, exclude_tools, exclude_paths, .. } = &self.config;
        format!("{secrets:?} {exclude_projects:?} {exclude_tools:?} {exclude_paths:?}")
    }

    pub fn traces(&self, folder: &Path) -> ProjectTraces {
        projects::traces(&self.config, folder)
    }
}

fn understood_by(agent: Agent) -> impl for<'t, 'i> Fn(&'t str, &'i str) -> Deed<'i> {
    move |tool, input| agent.deed(tool, input)
}
