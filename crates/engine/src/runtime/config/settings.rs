//! `Config`: the effective value of every key, with its type.
//!
//! Definitions only: it must not read files or parse text.

use super::bookmarks::Bookmarks;
use super::enrich::Enrich;
use super::guard::{Guard, StatusLine};
use super::hub::Hub;
use super::notify::Notify;
use super::otlp::Otlp;
use super::patterns::{covers, fits};
use super::prices;
use super::search::Search;
use super::section::Section;
use super::sections::{Continuing, Distil, Limits, Mcp, Memory, Typing, Work};
use super::values::{Values, key};
use std::collections::BTreeMap;
use std::sync::Arc;
use towline_agents::TextLimits;
use towline_core::inherit::OnClear;
use towline_core::named_enum;
use towline_core::text::{SecretPolicy, TextPolicy};
use towline_core::usage::{ModelPrice, ModelPrices};
use towline_store::archive::ArchiveRetention;
use towline_store::upkeep::Retention;

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
    pub journal_sync: JournalSync,
    pub exclude_tools: Vec<String>,
    pub exclude_paths: Vec<String>,
    pub archive: ArchiveRetention,
    pub on_clear: OnClear,
    pub inherit_never_in: Vec<String>,
    pub inherit_notice: bool,
    pub after_compaction: bool,
    pub project_names: BTreeMap<String, String>,
    pub notify: Section<Notify>,
    pub typing: Section<Typing>,
    pub limits: Section<Limits>,
    pub bookmarks: Section<Bookmarks>,
    pub guard: Section<Guard>,
    pub statusline: Section<StatusLine>,
    pub continuing: Section<Continuing>,
    pub distil: Section<Distil>,
    pub work: Section<Work>,
    pub memory: Section<Memory>,
    pub mcp: Section<Mcp>,
    pub enrich: Section<Enrich>,
    pub search: Section<Search>,
    pub hub: Section<Hub>,
    pub otlp: Section<Otlp>,
    /// The user's prices, which replace compiled-in ones.
    pub prices: Vec<ModelPrice>,
}

named_enum! {
    /// When the journal is synced to the disk.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum JournalSync as named {
        /// By each hook, which waits for it.
        Event = "event",
        /// By the capture at the end of a turn.
        #[default]
        Turn = "turn",
        Never = "never",
    }
}

impl Config {
    /// Whether a session resumes by itself when its usage limit ends.
    pub fn resumes_after_limits(&self) -> bool {
        self.limits.resume && self.typing.enabled
    }

    /// The defaults: the settings of a user without a configuration file.
    pub fn compiled_in() -> Config {
        Config::read(Values::default())
    }

    pub(super) fn read(values: Values) -> Config {
        let values = Arc::new(values);
        let redacts = values.get(key!("privacy.redact"));
        Config {
            patience_ms: values.get(key!("hook.patience_ms")),
            deadline_ms: values.get(key!("hook.deadline_ms")),
            secrets: if redacts { SecretPolicy::Redacted } else { SecretPolicy::Kept },
            exclude_projects: values.get(key!("privacy.exclude_projects")),
            exclude_tools: values.get(key!("privacy.exclude_tools")),
            exclude_paths: values.get(key!("privacy.exclude_paths")),
            prompt_bytes: values.get(key!("keep.prompt_bytes")),
            answer_bytes: values.get(key!("keep.answer_bytes")),
            events_days: values.get(key!("keep.events_days")),
            journal_mb: values.get(key!("keep.journal_mb")),
            journal_sync: values.named(key!("journal.sync"), JournalSync::named).unwrap_or_default(),
            archive: ArchiveRetention {
                words_days: values.get(key!("archive.words_days")),
                details_days: values.get(key!("archive.details_days")),
                thinking_days: values.get(key!("archive.thinking_days")),
                most_mb: values.get(key!("archive.most_mb")),
            },
            on_clear: values.named(key!("inherit.on_clear"), OnClear::named).unwrap_or_default(),
            inherit_never_in: values.get(key!("inherit.never_in")),
            inherit_notice: values.get(key!("inherit.notice")),
            after_compaction: values.get(key!("inherit.after_compaction")),
            project_names: values.entries("projects.names").into_iter().collect(),
            notify: Section::new(&values, Notify::read),
            typing: Section::new(&values, Typing::read),
            limits: Section::new(&values, Limits::read),
            bookmarks: Section::new(&values, Bookmarks::read),
            guard: Section::new(&values, Guard::read),
            statusline: Section::new(&values, StatusLine::read),
            continuing: Section::new(&values, Continuing::read),
            distil: Section::new(&values, Distil::read),
            work: Section::new(&values, Work::read),
            memory: Section::new(&values, Memory::read),
            mcp: Section::new(&values, Mcp::read),
            enrich: Section::new(&values, Enrich::read),
            search: Section::new(&values, Search::read),
            hub: Section::new(&values, Hub::read),
            otlp: Section::new(&values, Otlp::read),
            prices: values.user.get("prices").map(prices::read).unwrap_or_default(),
        }
    }

    /// All effective prices: a user's price for a model replaces every listed price of that model.
    pub fn all_prices(&self) -> ModelPrices {
        let is_own = |price: &ModelPrice| self.prices.iter().any(|own| own.model == price.model);
        let listed = prices::listed().prices.into_iter().filter(|price| !is_own(price));
        ModelPrices::new(listed.chain(self.prices.iter().cloned()).collect())
    }

    pub fn text_limits(&self) -> TextLimits {
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

    /// No session in this folder inherits work without a baton, and none is given memories.
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

#[cfg(test)]
mod tests {
    use super::super::layered;

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
}
