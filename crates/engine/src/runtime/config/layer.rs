//! Merges the user's configuration over the defaults, key by key.
//!
//! The defaults define which keys exist and their types; there is no second list.

use super::bookmarks::{self, Bookmarks};
use super::continuing::{self, Continuing};
use super::defaults::defaults;
use super::distil::{self, Distil};
use super::enrich::{self, Enrich};
use super::guard::{self, Guard, StatusLine};
use super::hub::{self, Hub};
use super::limits::{self, Limits};
use super::memory::Memory;
use super::nearest::nearest;
use super::notify::{self, Notify};
use super::search::{self, Search};
use super::typing::{self, Typing};
use super::{Config, prices};
use std::collections::BTreeMap;
use std::fmt;
use toml_edit::{Document, Item, Value};
use towline_core::inherit::OnClear;
use towline_core::text::SecretPolicy;
use towline_store::archive::ArchiveRetention;

/// The effective configuration, and the mistakes in the user's text.
#[derive(Debug)]
pub struct Layered {
    pub config: Config,
    pub mistakes: Vec<Mistake>,
}

/// One mistake in the user's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub line: usize,
    pub key: String,
    pub what: String,
}

impl Mistake {
    /// Whether the user's privacy settings are unknown: the text, or its `privacy` section, cannot be read.
    pub fn hides_a_wish_for_privacy(&self) -> bool {
        self.key.is_empty() || self.key.starts_with("privacy")
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// Merges `user` over the defaults. Reads no file and no environment.
pub fn layered(user: &str) -> Layered {
    let mut values: BTreeMap<String, Value> = defaults().into_iter().collect();
    let mut mistakes = vec![];
    match leaves(user) {
        Err(mistake) => mistakes.push(mistake),
        Ok(given) => {
            for leaf in given {
                match check(&leaf, &values) {
                    Ok(()) => drop(values.insert(leaf.key, leaf.value)),
                    Err(mistake) => mistakes.push(mistake),
                }
            }
        }
    }
    Layered { config: typed(&values), mistakes }
}

/// The effective value of one key, as TOML; `None` for a key that does not exist.
pub fn value_at(user: &str, key: &str) -> Option<String> {
    let mut values: BTreeMap<String, Value> = defaults().into_iter().collect();
    let given = leaves(user).ok().and_then(|given| given.into_iter().find(|leaf| leaf.key == key));
    let usable = given.filter(|leaf| check(leaf, &values).is_ok());
    let value = usable.map(|leaf| leaf.value).or_else(|| values.remove(key))?;
    Some(value.decorated("", "").to_string())
}

/// One key with its value and line.
#[derive(Debug)]
pub(super) struct Leaf {
    pub key: String,
    pub value: Value,
    line: usize,
}

/// Tables with user-chosen names.
pub(super) const FREE_TABLES: [&str; 4] = ["projects.names", "guard.thresholds", "guard.projects", "prices"];

pub(super) fn leaves(text: &str) -> Result<Vec<Leaf>, Mistake> {
    let document = Document::parse(text.to_owned()).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(text, span.start));
        let what = error.message().lines().next().unwrap_or("not TOML").to_owned();
        Mistake { line, key: String::new(), what }
    })?;
    let mut found = vec![];
    for (name, item) in document.as_table() {
        collect(name.to_owned(), item, text, &mut found);
    }
    Ok(found)
}

fn collect(key: String, item: &Item, text: &str, found: &mut Vec<Leaf>) {
    let line = item.span().map_or(1, |span| line_of(text, span.start));
    let is_free = FREE_TABLES.contains(&key.as_str());
    match item {
        Item::Table(table) if is_free => {
            found.push(Leaf { key, value: Value::InlineTable(table.clone().into_inline_table()), line });
        }
        Item::Table(_) | Item::Value(Value::InlineTable(_)) if !is_free => {
            for (name, item) in item.as_table_like().into_iter().flat_map(|table| table.iter()) {
                collect(format!("{key}.{name}"), item, text, found);
            }
        }
        Item::Value(value) => found.push(Leaf { key, value: value.clone(), line }),
        // Never valid here: as a leaf it is rejected under its name.
        Item::ArrayOfTables(tables) => {
            found.push(Leaf { key, value: Value::Array(tables.clone().into_array()), line });
        }
        Item::Table(_) | Item::None => {}
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|byte| **byte == b'\n').count()
}

fn check(leaf: &Leaf, defaults: &BTreeMap<String, Value>) -> Result<(), Mistake> {
    let mistake = |what| Mistake { line: leaf.line, key: leaf.key.clone(), what };
    let Some(default) = defaults.get(&leaf.key) else {
        let meant = nearest(&leaf.key, defaults.keys().map(String::as_str));
        let hint = meant.map_or(String::new(), |key| format!("; did you mean `{key}`?"));
        return Err(mistake(format!("there is no key `{}`{hint}", leaf.key)));
    };
    if leaf.value.type_name() != default.type_name() {
        let (key, wanted, found) = (&leaf.key, default.type_name(), leaf.value.type_name());
        return Err(mistake(format!("`{key}` must be {} and is {}", article(wanted), article(found))));
    }
    range_of(&leaf.key, &leaf.value).map_err(|what| mistake(format!("`{}` must be {what}", leaf.key)))
}

fn article(noun: &str) -> String {
    let an = noun.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {noun}", if an { "an" } else { "a" })
}

/// Validates a value of the right type. `Err` completes "must be".
fn range_of(key: &str, value: &Value) -> Result<(), String> {
    let within = |from: i64, to: i64| match value.as_integer() {
        Some(number) if !(from..=to).contains(&number) => Err(format!("from {from} to {to}")),
        Some(_) | None => Ok(()),
    };
    match key {
        "hook.patience_ms" => within(0, 2_000),
        "hook.deadline_ms" => within(100, 2_500),
        "keep.prompt_bytes" => within(80, 100_000),
        "keep.answer_bytes" => within(0, 100_000),
        "inherit.on_clear" => one_of(value, &OnClear::ALL.map(OnClear::name)),
        "keep.events_days" => within(1, 36_500),
        "keep.journal_mb" => within(8, 100_000),
        "privacy.exclude_projects" | "inherit.never_in" => {
            absolute(value.as_array().into_iter().flatten().map(Value::as_str))
        }
        "privacy.exclude_tools" | "privacy.exclude_paths" => {
            let is_name = |item: &Value| item.as_str().is_some_and(|text| !text.trim().is_empty());
            let all = value.as_array().into_iter().flatten().all(is_name);
            if all { Ok(()) } else { Err("made of names in quotes".into()) }
        }
        "archive.words_days" | "archive.details_days" | "archive.thinking_days" => within(0, 36_500),
        "archive.most_mb" => within(64, 10_000_000),
        "projects.names" => {
            let names = || value.as_inline_table().into_iter().flatten();
            absolute(names().map(|(path, _)| Some(path)))?;
            if names().all(|(_, name)| name.is_str()) { Ok(()) } else { Err("names in quotes".into()) }
        }
        "prices" => prices::range_of(value),
        "distil.skip_tools" => distil::range_of(key, value),
        _ if key.starts_with("distil.") => enrich::range_of(key, value),
        _ if key.starts_with("continue.") => continuing::range_of(key, value),
        _ if key.starts_with("typing.") => typing::range_of(key, value),
        _ if key.starts_with("limits.") => limits::range_of(key, value),
        _ if key.starts_with("bookmarks.") => bookmarks::range_of(key, value),
        _ if key.starts_with("notify.") => notify::range_of(key, value),
        _ if key.starts_with("search.") => search::range_of(key, value),
        _ if key.starts_with("hub.") => hub::range_of(key, value),
        _ if key.starts_with("guard.") || key.starts_with("statusline.") => guard::range_of(key, value),
        _ => Ok(()),
    }
}

pub(super) fn one_of(value: &Value, names: &[&str]) -> Result<(), String> {
    let is_known = value.as_str().is_none_or(|name| names.contains(&name));
    if is_known { Ok(()) } else { Err(format!("one of {}", names.join(", "))) }
}

/// Rejects relative paths: they would match no folder, and the user would not notice.
fn absolute<'a>(mut paths: impl Iterator<Item = Option<&'a str>>) -> Result<(), String> {
    let whole = paths.all(|path| path.is_some_and(|path| path.starts_with('/')));
    if whole { Ok(()) } else { Err("made of whole paths that begin with `/`".into()) }
}

/// Builds the configuration. Every key is in the defaults, and every value has the type of its default.
fn typed(values: &BTreeMap<String, Value>) -> Config {
    let number = |key: &str| values.get(key).and_then(Value::as_integer).unwrap_or(0).unsigned_abs();
    let is_on = |key: &str| values.get(key).and_then(Value::as_bool).unwrap_or(true);
    let texts = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let list = |key: &str| -> Vec<String> {
        values.get(key).and_then(Value::as_array).into_iter().flatten().map(texts).collect()
    };
    let days = |key: &str| u32::try_from(number(key)).unwrap_or(0);
    let names = values.get("projects.names").and_then(Value::as_inline_table);
    Config {
        patience_ms: number("hook.patience_ms"),
        deadline_ms: number("hook.deadline_ms"),
        secrets: if is_on("privacy.redact") { SecretPolicy::Redacted } else { SecretPolicy::Kept },
        exclude_projects: list("privacy.exclude_projects"),
        exclude_tools: list("privacy.exclude_tools"),
        exclude_paths: list("privacy.exclude_paths"),
        archive: ArchiveRetention {
            words_days: days("archive.words_days"),
            details_days: days("archive.details_days"),
            thinking_days: days("archive.thinking_days"),
            most_mb: number("archive.most_mb"),
        },
        inherit_never_in: list("inherit.never_in"),
        after_compaction: is_on("inherit.after_compaction"),
        prompt_bytes: usize::try_from(number("keep.prompt_bytes")).unwrap_or(2000),
        answer_bytes: usize::try_from(number("keep.answer_bytes")).unwrap_or(4000),
        events_days: u32::try_from(number("keep.events_days")).unwrap_or(90),
        journal_mb: number("keep.journal_mb"),
        on_clear: values
            .get("inherit.on_clear")
            .and_then(Value::as_str)
            .and_then(OnClear::parse)
            .unwrap_or_default(),
        project_names: names
            .into_iter()
            .flatten()
            .map(|(path, name)| (path.to_owned(), texts(name)))
            .collect(),
        notify: Notify::read(&|key| values.get(key).cloned()),
        typing: Typing::read(&|key| values.get(key).cloned()),
        limits: Limits::read(&|key| values.get(key).cloned()),
        bookmarks: Bookmarks::read(&|key| values.get(key).cloned()),
        guard: Guard::read(&|key| values.get(key).cloned()),
        statusline: StatusLine::read(&|key| values.get(key).cloned()),
        memory: Memory::read(&|key| values.get(key).cloned()),
        continuing: Continuing::read(&|key| values.get(key).cloned()),
        distil: Distil::read(&|key| values.get(key).cloned()),
        enrich: Enrich::read(&|key| values.get(key).cloned()),
        search: Search::read(&|key| values.get(key).cloned()),
        hub: Hub::read(&|key| values.get(key).cloned()),
        prices: values.get("prices").map(prices::read).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_mistake(user: &str, expected: &str) {
        let found = layered(user);
        assert_eq!(found.mistakes.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
        assert_eq!(found.config, layered("").config, "the default is used");
    }

    #[test]
    fn the_defaults_are_sound_and_hold_every_key() {
        let config = layered("").config;
        assert_eq!((config.patience_ms, config.prompt_bytes, config.journal_mb), (300, 2000, 64));
        assert!(layered(crate::runtime::config::DEFAULT).mistakes.is_empty());
    }

    #[test]
    fn misspelt_key_is_named() {
        check_mistake(
            "\n[hook]\npatence_ms = 5",
            "line 3: there is no key `hook.patence_ms`; did you mean `hook.patience_ms`?",
        );
        check_mistake("colour = 'red'", "line 1: there is no key `colour`");
    }

    #[test]
    fn wrong_type_and_wrong_range_are_named() {
        check_mistake(
            "[privacy]\nredact = 'yes'",
            "line 2: `privacy.redact` must be a boolean and is a string",
        );
        check_mistake(
            "[inherit]\non_clear = 'maybe'",
            "line 2: `inherit.on_clear` must be one of always, ask, never",
        );
        check_mistake("[hook]\npatience_ms = -4", "line 2: `hook.patience_ms` must be from 0 to 2000");
        check_mistake(
            "[privacy]\nexclude_projects = [1]",
            "line 2: `privacy.exclude_projects` must be made of whole paths that begin with `/`",
        );
    }

    #[test]
    fn tav_14_a_threshold_that_is_no_number_from_nought_up_is_named_and_the_default_is_used() {
        for wrong in ["'banana'", "'6000'", "[]", "nan", "true"] {
            let found = layered(&format!("[bookmarks]\nmin_tokens = {wrong}"));
            assert_eq!((found.mistakes.len(), found.config), (1, layered("").config), "{wrong}");
        }
        check_mistake(
            "[bookmarks]\nmin_seconds = -1",
            "line 2: `bookmarks.min_seconds` must be from 0 to 1000000000",
        );
        check_mistake(
            "[bookmarks]\nmode = 'loud'",
            "line 2: `bookmarks.mode` must be one of silent, typed, off",
        );
        for wrong in ["''", "'two words'", "'/mark'", "'seventeen-letters'"] {
            check_mistake(
                &format!("[bookmarks]\nmarker = {wrong}"),
                "line 2: `bookmarks.marker` must be one word of at most 16 bytes that no agent takes for a command",
            );
        }
        let rules = layered("[bookmarks]\nmode = 'typed'\nmin_tool_calls = 0").config.bookmarks.rules;
        assert_eq!((rules.mode.name(), rules.min_tool_calls, rules.min_tokens), ("typed", 0, 6_000));
    }

    #[test]
    fn text_that_is_no_toml_is_named_by_its_line() {
        let found = layered("[hook]\npatience_ms = = 1");
        assert_eq!((found.mistakes.len(), found.mistakes[0].line), (1, 2));
    }

    #[test]
    fn one_mistake_does_not_cost_the_rest() {
        let found = layered("[hook]\nwrong = 1\npatience_ms = 7");
        assert_eq!((found.config.patience_ms, found.mistakes.len()), (7, 1));
    }

    #[test]
    fn a_table_may_be_written_inline_and_a_list_of_tables_is_refused() {
        assert_eq!(layered("hook = { patience_ms = 7 }").config.patience_ms, 7);
        check_mistake("[[privacy]]\nredact = false", "line 1: there is no key `privacy`");
    }

    #[test]
    fn a_slip_in_what_is_to_be_private_is_told_from_other_mistakes() {
        let hides = |user: &str| layered(user).mistakes.iter().any(Mistake::hides_a_wish_for_privacy);
        assert!(
            hides("[privacy]\nexclude_projects = ['~/secret']") && hides("[hook\n") && hides("privacy = 1")
        );
        assert!(!hides("[hook]\nwrong = 1") && !hides(""));
    }

    #[test]
    fn a_value_in_force_can_be_asked_for() {
        assert_eq!(
            value_at("[keep]\nevents_days = 0", "keep.events_days").as_deref(),
            Some("90"),
            "out of range"
        );
        assert_eq!(value_at("[hook]\npatience_ms = 7", "hook.patience_ms").as_deref(), Some("7"));
        assert_eq!(value_at("", "privacy.redact").as_deref(), Some("true"));
        assert_eq!(value_at("", "nonsense"), None);
    }
}
