//! The configuration: the user's file merged over the commented, compiled-in defaults.
//!
//! Pure functions of text. A mistake never stops a command: it is reported with its line and the nearest
//! valid key, and the default is used.

mod bookmarks;
mod continuing;
mod defaults;
mod distil;
pub mod edit;
mod effective;
mod enrich;
mod guard;
mod hub;
mod layer;
mod limits;
mod load;
mod memory;
mod nearest;
mod notify;
mod prices;
mod search;
mod typing;

pub use bookmarks::Bookmarks;
pub use continuing::Continuing;
pub use distil::Distil;
pub use effective::{EffectiveConfig, effective, to_json};
pub use enrich::{Enrich, ProviderName};
pub use guard::{Guard, StatusLine};
pub use hub::{Hub, HubTls};
pub use layer::{Mistake, layered, value_at};
pub use limits::Limits;
pub use load::settings;
pub use memory::Memory;
pub use nearest::nearest;
pub use notify::{Commands, Notify, OCCASIONS};
pub use prices::listed;
pub use search::{Search, SearchTier};
pub use typing::Typing;

use std::collections::BTreeMap;
use towline_agents::TextLimits;
use towline_core::inherit::OnClear;
use towline_core::text::{SecretPolicy, TextPolicy};
use towline_core::usage::ModelPrice;
use towline_store::archive::ArchiveRetention;
use towline_store::upkeep::Retention;

/// The defaults, which are also the documentation of all keys.
pub const DEFAULT: &str = include_str!("default.toml");

/// The effective value of every key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub patience_ms: u64,
    pub deadline_ms: u64,
    pub secrets: SecretPolicy,
    pub exclude_projects: Vec<String>,
    pub prompt_bytes: usize,
    pub answer_bytes: usize,
    pub events_days: u32,
    pub journal_mb: u64,
    pub exclude_tools: Vec<String>,
    pub exclude_paths: Vec<String>,
    pub archive: ArchiveRetention,
    pub on_clear: OnClear,
    pub inherit_never_in: Vec<String>,
    pub after_compaction: bool,
    pub project_names: BTreeMap<String, String>,
    pub notify: Notify,
    pub typing: Typing,
    pub limits: Limits,
    pub bookmarks: Bookmarks,
    pub guard: Guard,
    pub statusline: StatusLine,
    pub continuing: Continuing,
    pub distil: Distil,
    pub memory: Memory,
    pub enrich: Enrich,
    pub search: Search,
    pub hub: Hub,
    /// The user's prices, which replace compiled-in ones.
    pub prices: Vec<ModelPrice>,
}

impl Config {
    /// Whether a session resumes by itself when its usage limit ends.
    pub fn resumes_after_limits(&self) -> bool {
        self.limits.resume && self.typing.enabled
    }

    /// The values of `default.toml` for hooks of users without a configuration file: parsing it would cost
    /// more than the rest of the hook. A test compares the two.
    pub fn compiled_in() -> Config {
        Config {
            patience_ms: 300,
            deadline_ms: 1200,
            secrets: SecretPolicy::Redacted,
            exclude_projects: vec![],
            prompt_bytes: 2000,
            answer_bytes: 4000,
            events_days: 90,
            journal_mb: 64,
            exclude_tools: vec![],
            exclude_paths: vec![],
            archive: ArchiveRetention { words_days: 0, details_days: 365, thinking_days: 90, most_mb: 8192 },
            on_clear: OnClear::Always,
            inherit_never_in: vec![],
            after_compaction: true,
            project_names: BTreeMap::new(),
            notify: Notify::compiled_in(),
            typing: Typing::compiled_in(),
            limits: Limits::compiled_in(),
            bookmarks: Bookmarks::compiled_in(),
            guard: Guard::compiled_in(),
            statusline: StatusLine::compiled_in(),
            continuing: Continuing::compiled_in(),
            distil: Distil::compiled_in(),
            memory: Memory::compiled_in(),
            enrich: Enrich::compiled_in(),
            search: Search::compiled_in(),
            hub: Hub::compiled_in(),
            prices: vec![],
        }
    }

    pub fn keeping(&self) -> TextLimits {
        let keeping = |longest_bytes| TextPolicy { longest_bytes, secrets: self.secrets };
        TextLimits { prompt: keeping(self.prompt_bytes), answer: keeping(self.answer_bytes) }
    }

    /// For a user whose settings are unknown: text they wanted excluded or truncated must not be written.
    pub fn keep_no_text(&mut self) {
        (self.prompt_bytes, self.answer_bytes) = (0, 0);
    }

    pub fn retention(&self) -> Retention {
        Retention { events_days: self.events_days, journal_bytes: self.journal_mb * 1024 * 1024 }
    }

    /// Whether sessions in this folder are not recorded.
    pub fn excludes(&self, folder: &str) -> bool {
        self.exclude_projects.iter().any(|pattern| covers(pattern, folder))
    }

    /// Whether a session in this folder continues another session's work only on request.
    pub fn inherits_nothing(&self, folder: &str) -> bool {
        self.inherit_never_in.iter().any(|pattern| covers(pattern, folder))
    }

    pub fn excludes_tool(&self, tool: &str) -> bool {
        self.exclude_tools.iter().any(|pattern| fits(pattern, tool))
    }

    /// Whether tool input and output at this path is excluded.
    pub fn excludes_path(&self, path: &str) -> bool {
        let is_named = |pattern: &str| path.split('/').any(|part| fits(pattern, part));
        self.exclude_paths
            .iter()
            .any(|pattern| if pattern.starts_with('/') { covers(pattern, path) } else { is_named(pattern) })
    }

    /// The configured name of this folder or its nearest named ancestor.
    pub fn name_of(&self, folder: &str) -> Option<&str> {
        let named = self.project_names.iter().filter(|(path, _)| covers(path, folder));
        named.max_by_key(|(path, _)| path.len()).map(|(_, name)| name.as_str())
    }
}

/// Whether `pattern` equals `folder` or an ancestor of it, part by part; `*` matches one part.
fn covers(pattern: &str, folder: &str) -> bool {
    let parts =
        |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (pattern, folder) = (parts(pattern), parts(folder));
    !pattern.is_empty()
        && pattern.len() <= folder.len()
        && pattern.iter().zip(&folder).all(|(wanted, part)| wanted == "*" || wanted == part)
}

/// Whether `pattern` matches `name`; `*` matches any characters.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or("");
    for part in parts {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(last)
}

/// The name in a repository's `.towline.toml`: `[project] name = "…"`.
pub fn project_name(text: &str) -> Option<String> {
    let document = text.parse::<toml_edit::DocumentMut>().ok()?;
    document.get("project")?.get("name")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_in_is_what_the_defaults_say() {
        assert_eq!(Config::compiled_in(), layered("").config);
    }

    #[test]
    fn a_pattern_covers_what_is_below_it_and_no_namesake() {
        assert!(covers("/home/me/secret", "/home/me/secret/deep"));
        assert!(covers("/home/*/secret/", "/home/you/secret"));
        assert!(!covers("/home/me/secret", "/home/me/secrets"));
        assert!(!covers("/home/me/secret/deep", "/home/me/secret"));
        assert!(!covers("", "/"));
    }

    #[test]
    fn tools_and_paths_are_excluded_by_name_and_by_place() {
        let config = layered(
            "[privacy]\nexclude_tools = ['mcp__vault__*', 'Secret']\nexclude_paths = ['.env*', '*.pem', '/home/me/letters']",
        )
        .config;
        let tools =
            ["mcp__vault__read", "Secret", "Secrets", "mcp__vault"].map(|tool| config.excludes_tool(tool));
        assert_eq!(tools, [true, true, false, false]);
        let paths = [
            "/a/.env",
            "b/.env.local",
            "key.pem",
            "/home/me/letters/x/y",
            "/home/me/letter",
            "pem.rs",
            "env",
        ];
        let found = paths.map(|path| config.excludes_path(path));
        assert_eq!(found, [true, true, true, true, false, false, false]);
    }

    #[test]
    fn the_nearest_named_folder_names_the_project() {
        let config = layered("[projects]\nnames = { \"/a\" = \"Outer\", \"/a/b\" = \"Inner\" }").config;
        assert_eq!(
            (config.name_of("/a/b/c"), config.name_of("/a/x"), config.name_of("/z")),
            (Some("Inner"), Some("Outer"), None)
        );
    }

    #[test]
    fn a_repository_names_its_project() {
        assert_eq!(project_name("[project]\nname = \"Thing\"").as_deref(), Some("Thing"));
        assert_eq!(project_name("name = 1"), None);
        assert_eq!(project_name("not toml ["), None);
    }
}
