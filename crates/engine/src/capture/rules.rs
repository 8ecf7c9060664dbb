//! The user's capture settings in the types of `core::capture`.
//!
//! An owned copy of the settings, so that several files can be read in parallel. Decides nothing.

use super::asked::Asked;
use crate::runtime::config::layered;
use crate::runtime::{Config, Env, Failure, privacy, projects};
use std::io::ErrorKind;
use std::path::Path;
use towline_agents::described::TranscriptWriter;
use towline_core::capture::{CaptureLimits, CaptureRules};
use towline_core::compose::is_typed;
use towline_core::deed::ToolAction;
use towline_core::event::PromptOrigin;
use towline_core::forget::ForgottenParts;
use towline_core::project::ProjectIdentity;
use towline_core::text::SecretPolicy;
use towline_core::time::Timestamp;

/// More text than this per item is of no use; the cut is noted in place.
const CAPS: CaptureLimits =
    CaptureLimits { body: 256 << 10, input: 64 << 10, output: 256 << 10, thinking: 64 << 10, note: 32 << 10 };

pub struct Wishes {
    config: Config,
    asked: Asked,
}

/// Whether a session is captured, judged by its folder or project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    Wanted,
    /// Not in the requested project.
    Elsewhere,
    /// In an excluded project.
    Private,
    /// Possibly in an excluded project: its folder is unknown.
    Unknown,
}

impl Wishes {
    /// The defaults.
    pub fn default_rules() -> Self {
        Self { config: Config::compiled_in(), asked: Asked::default() }
    }

    #[cfg(test)]
    pub fn of(config: Config) -> Self {
        Self { config, asked: Asked::default() }
    }

    /// Fails if the privacy settings cannot be read: then nothing may be captured.
    pub fn load(env: &Env) -> Result<Self, Failure> {
        let file = env.config_file.display();
        let refused = |why: String| {
            Failure::input(format!("nothing is captured while {file} cannot be understood: {why}"))
                .hint("Run `tow config` and mend it.")
        };
        let user = match std::fs::read_to_string(&env.config_file) {
            Ok(user) => user,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self::default_rules());
            }
            Err(error) => return Err(refused(error.to_string())),
        };
        let found = layered(&user);
        match found.mistakes.iter().find(|mistake| mistake.hides_privacy_settings()) {
            Some(mistake) => Err(refused(mistake.to_string())),
            None => Ok(Self { config: found.config, asked: Asked::default() }),
        }
    }

    /// The origin of a prompt from the input box: Towline may have typed it.
    pub(super) fn origin(&self, said: PromptOrigin, prompt: &str) -> PromptOrigin {
        let origin = self.config.bookmarks.origin(said, prompt);
        let is_ours = || is_typed(prompt) || prompt.trim() == self.config.limits.words.trim();
        if origin == PromptOrigin::Human && is_ours() { PromptOrigin::Continuation } else { origin }
    }

    /// Whether secrets are redacted before anything is stored.
    pub fn secrets(&self) -> SecretPolicy {
        self.config.secrets
    }

    /// Calls `gather` with the rules for this agent. `gone` is the erased content that must not return.
    pub(super) fn with_rules<'f, T>(
        &self,
        agent: &TranscriptWriter,
        gone: Option<ForgottenParts<'f>>,
        gather: impl FnOnce(&mut CaptureRules<'_, 'f>) -> T,
    ) -> T {
        gather(&mut CaptureRules {
            caps: CAPS,
            secrets: self.config.secrets,
            is_excluded_tool: &|tool| self.config.excludes_tool(tool),
            is_excluded_path: &|path| self.config.excludes_path(path),
            deed: &understood_by(agent),
            gone,
        })
    }

    /// Narrows the settings to this scope.
    pub fn asking(self, asked: Asked) -> Self {
        Self { asked, ..self }
    }

    pub fn is_recent(&self, at: Timestamp) -> bool {
        self.asked.since.is_none_or(|since| at >= since)
    }

    /// Whether a session in this folder is captured. A session without a folder belongs to no project.
    pub(super) fn takes(&self, folder: Option<&str>) -> bool {
        match folder {
            Some(_) => self.place(folder, None) == Admission::Wanted,
            None => self.asked.project.is_none(),
        }
    }

    /// Judges a session by its folder or, if that is unknown, by its project's name.
    pub(super) fn place(&self, folder: Option<&str>, project: Option<&str>) -> Admission {
        match folder {
            Some(folder) if privacy::is_excluded(&self.config, folder) => Admission::Private,
            Some(folder) => self.among_asked(|asked| asked.has(folder, &self.traces(Path::new(folder)))),
            None => self.place_by_name(project.unwrap_or_default()),
        }
    }

    fn among_asked(&self, is_meant: impl Fn(&super::asked::Project) -> bool) -> Admission {
        let is_wanted = self.asked.project.as_ref().is_none_or(is_meant);
        if is_wanted { Admission::Wanted } else { Admission::Elsewhere }
    }

    /// A name does not show the parent folders, so exclusion is uncertain. Asking for a project by name says
    /// that it is not private, unless that very name is excluded.
    fn place_by_name(&self, name: &str) -> Admission {
        let mut excluded = self.config.exclude_projects.iter().flat_map(|pattern| pattern.split('/'));
        let is_named = name.split('/').any(|part| !part.is_empty() && excluded.clone().any(|it| it == part));
        match self.among_asked(|asked| asked.has_name(name)) {
            Admission::Wanted if is_named => Admission::Private,
            Admission::Wanted if self.asked.project.is_none() && excluded.next().is_some() => {
                Admission::Unknown
            }
            place @ (Admission::Wanted | Admission::Elsewhere | Admission::Private | Admission::Unknown) => {
                place
            }
        }
    }

    pub fn excludes_tool(&self, tool: &str) -> bool {
        self.config.excludes_tool(tool)
    }

    pub fn excludes_path(&self, path: &str) -> bool {
        self.config.excludes_path(path)
    }

    /// Whether sessions in this folder are excluded, by its given or its canonical path.
    pub fn excludes(&self, folder: &str) -> bool {
        privacy::is_excluded(&self.config, folder)
    }

    /// The privacy settings as text, to detect that they changed.
    pub fn fingerprint_text(&self) -> String {
        let Config { secrets, exclude_projects, exclude_tools, exclude_paths, .. } = &self.config;
        format!("{secrets:?} {exclude_projects:?} {exclude_tools:?} {exclude_paths:?}")
    }

    pub fn traces(&self, folder: &Path) -> ProjectIdentity {
        projects::traces(&self.config, folder)
    }
}

fn understood_by(agent: &TranscriptWriter) -> impl for<'t, 'i> Fn(&'t str, &'i str) -> ToolAction<'i> {
    move |tool, input| agent.tool_action(tool, input)
}
