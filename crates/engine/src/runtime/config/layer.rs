//! Merges the user's configuration over the defaults, key by key, and names the mistakes in it.
//!
//! Pure: the text is an argument. A mistake never hides the valid keys beside it.

use super::ranges::range_of;
use super::settings::Config;
use super::values::{FREE_TABLES, Values, default_value, keys};
use crate::runtime::env::Env;
use std::{fmt, fs};
use toml_edit::{Document, Item, Value};
use towline_core::nearest::nearest;

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
    pub fn hides_privacy_settings(&self) -> bool {
        self.key.is_empty() || self.key.starts_with("privacy")
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// The current configuration. Never fails: of a file that is missing or invalid, the defaults apply.
pub fn settings(env: &Env) -> Config {
    fs::read_to_string(&env.config_file).map_or_else(|_| Config::compiled_in(), |user| layered(&user).config)
}

/// Merges `user` over the defaults. Reads no file and no environment.
pub fn layered(user: &str) -> Layered {
    let (mut values, mut mistakes) = (Values::default(), vec![]);
    match parse_leaves(user) {
        Err(mistake) => mistakes.push(mistake),
        Ok(given) => {
            for leaf in given {
                match check(&leaf) {
                    Ok(()) => drop(values.user.insert(leaf.key, leaf.value)),
                    Err(mistake) => mistakes.push(mistake),
                }
            }
        }
    }
    Layered { config: Config::read(values), mistakes }
}

/// The mistakes in `user`, without the configuration: hooks ask for them, too.
pub(super) fn mistakes_in(user: &str) -> Vec<Mistake> {
    match parse_leaves(user) {
        Ok(given) => given.iter().filter_map(|leaf| check(leaf).err()).collect(),
        Err(mistake) => vec![mistake],
    }
}

/// The effective value of one key, as TOML; `None` for a key that does not exist.
pub fn value_at(user: &str, key: &str) -> Option<String> {
    let given = parse_leaves(user).ok().and_then(|given| given.into_iter().find(|leaf| leaf.key == key));
    let usable = given.filter(|leaf| check(leaf).is_ok());
    let value = usable.map(|leaf| leaf.value).or_else(|| default_value(key))?;
    Some(value.decorated("", "").to_string())
}

/// The name in a repository's `.towline.toml`: `[project] name = "…"`.
pub fn project_name(text: &str) -> Option<String> {
    let document = text.parse::<toml_edit::DocumentMut>().ok()?;
    document.get("project")?.get("name")?.as_str().map(str::to_owned)
}

/// One key with its value and line.
#[derive(Debug)]
pub(super) struct Leaf {
    pub key: String,
    pub value: Value,
    line: usize,
}

pub(super) fn parse_leaves(text: &str) -> Result<Vec<Leaf>, Mistake> {
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

fn check(leaf: &Leaf) -> Result<(), Mistake> {
    let mistake = |what| Mistake { line: leaf.line, key: leaf.key.clone(), what };
    let Some(default) = default_value(&leaf.key) else {
        let keys: Vec<String> = keys().collect();
        let meant = nearest(&leaf.key, keys.iter().map(String::as_str));
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
        let hides = |user: &str| layered(user).mistakes.iter().any(Mistake::hides_privacy_settings);
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

    #[test]
    fn a_repository_names_its_project() {
        assert_eq!(project_name("[project]\nname = \"Thing\"").as_deref(), Some("Thing"));
        assert_eq!(project_name("name = 1"), None);
        assert_eq!(project_name("not toml ["), None);
    }
}
