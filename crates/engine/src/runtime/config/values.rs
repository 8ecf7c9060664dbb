//! The value of every key: the user's, or the one that `default.toml` declares.
//!
//! `default.toml` is the only list of keys, defaults and explanations. It is read at compile time: every hook needs
//! the defaults, and `toml_edit` takes 0.22 ms to parse the file (14 KB, optimized, warm; 0.35 ms the first time in a process),
//! where a whole hook for a tool result takes 0.37 ms. Supports only the syntax of that file; a test compares the result with a
//! TOML parser's.

use std::collections::BTreeMap;
use toml_edit::{Array, InlineTable, Value};

/// The defaults, which are also the documentation of all keys.
pub const DEFAULT: &str = include_str!("default.toml");

/// Tables with user-chosen names. Each counts as one key.
pub(super) const FREE_TABLES: [&str; 4] = ["projects.names", "guard.thresholds", "guard.projects", "prices"];

/// One value that `default.toml` declares.
#[derive(Clone, Copy)]
struct DefaultEntry {
    section: &'static str,
    name: &'static str,
    /// The value as TOML.
    text: &'static str,
}

const COUNT: usize = parse(&mut []);

static ENTRIES: [DefaultEntry; COUNT] = {
    let mut entries = [DefaultEntry { section: "", name: "", text: "" }; COUNT];
    parse(&mut entries);
    entries
};

/// Parses `default.toml` into `entries`, as far as there is room, and returns the number of its values.
const fn parse(entries: &mut [DefaultEntry]) -> usize {
    let (mut count, mut section, mut rest) = (0, "", DEFAULT);
    while !rest.is_empty() {
        match rest.as_bytes()[0] {
            b'\n' | b'#' => rest = cut(rest, b'\n').1,
            b'[' => (section, rest) = cut(rest.split_at(1).1, b']'),
            _ => {
                let (name, value) = cut(rest, b'=');
                let value = value.trim_ascii_start();
                let is_list = value.as_bytes()[0] == b'[';
                let end = if is_list { index_of(value, b']') + 1 } else { index_of(value, b'\n') };
                let (text, after) = value.split_at(end);
                if count < entries.len() {
                    entries[count] = DefaultEntry { section, name: name.trim_ascii_end(), text };
                }
                (count, rest) = (count + 1, after);
            }
        }
    }
    count
}

/// The parts before and after the first such byte.
const fn cut(text: &str, byte: u8) -> (&str, &str) {
    let at = index_of(text, byte);
    let after = if at < text.len() { at + 1 } else { at };
    (text.split_at(at).0, text.split_at(after).1)
}

const fn index_of(text: &str, byte: u8) -> usize {
    let mut at = 0;
    while at < text.len() && text.as_bytes()[at] != byte {
        at += 1;
    }
    at
}

const fn is_same(one: &str, other: &str) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one.as_bytes()[at] == other.as_bytes()[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

const fn entry(key: &str) -> Option<&'static DefaultEntry> {
    let (section, name) = cut(key, b'.');
    let mut at = 0;
    while at < COUNT {
        if is_same(ENTRIES[at].name, name) && is_same(ENTRIES[at].section, section) {
            return Some(&ENTRIES[at]);
        }
        at += 1;
    }
    None
}

/// A key and the text of its default. Made by `key!`.
#[derive(Clone, Copy)]
pub(super) struct Key {
    name: &'static str,
    default: &'static str,
}

impl Key {
    #[expect(clippy::panic, reason = "`key!` evaluates it at compile time")]
    pub const fn named(name: &'static str) -> Key {
        match entry(name) {
            Some(entry) => Key { name, default: entry.text },
            None => panic!("the key is not in default.toml"),
        }
    }
}

/// Looks a key up at compile time: one that is not in `default.toml` does not compile.
macro_rules! key {
    ($name:expr) => {
        const { $crate::runtime::config::values::Key::named($name) }
    };
}
pub(super) use key;

/// Declares a section: a struct, and the function that reads it. A field is the key of the same name, or the value that
/// the function behind it returns.
macro_rules! section {
    ($(#[$meta:meta])* pub struct $type:ident in $section:literal {
        $($(#[$doc:meta])* $field:ident: $field_type:ty $(= $read:expr)?,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $type {
            $($(#[$doc])* pub $field: $field_type,)*
        }

        impl $type {
            pub(super) fn read(values: &$crate::runtime::config::values::Values) -> $type {
                $type { $($field: section!(@ values, $section, $field: $field_type $(= $read)?),)* }
            }
        }
    };
    (@ $values:ident, $section:literal, $field:ident: $type:ty) => {
        $values.get(key!(concat!($section, ".", stringify!($field))))
    };
    (@ $values:ident, $section:literal, $field:ident: $type:ty = $read:expr) => {{
        let read: fn(&$crate::runtime::config::values::Values) -> $type = $read;
        read($values)
    }};
}
pub(super) use section;

/// All keys.
pub(super) fn keys() -> impl Iterator<Item = String> {
    let is_single = |entry: &&DefaultEntry| !FREE_TABLES.contains(&entry.section);
    let singles = ENTRIES.iter().filter(is_single).map(|entry| format!("{}.{}", entry.section, entry.name));
    singles.chain(FREE_TABLES.map(str::to_owned))
}

/// The default of a key; `None` for a key that does not exist.
pub(super) fn default_value(key: &str) -> Option<Value> {
    if FREE_TABLES.contains(&key) {
        return Some(default_entries(key).collect::<InlineTable>().into());
    }
    let text = entry(key)?.text;
    let list = || default_list(text).collect::<Array>().into();
    Some(if text.starts_with('[') { list() } else { text.parse().unwrap_or_else(|_| text.into()) })
}

fn default_list(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.split('"').skip(1).step_by(2)
}

fn default_entries(table: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let entries = ENTRIES.iter().filter(move |entry| entry.section == table);
    entries.map(|entry| (entry.name, entry.text.trim_matches('"')))
}

/// The user's validated values over the defaults.
#[derive(Default)]
pub(super) struct Values {
    pub user: BTreeMap<String, Value>,
}

/// A type of values.
pub(super) trait Setting {
    /// `given` is the user's value, if there is one; `default` is text of `default.toml`.
    fn read(given: Option<&Value>, default: &'static str) -> Self;
}

impl Setting for bool {
    fn read(given: Option<&Value>, default: &'static str) -> bool {
        given.map_or(default == "true", |value| value.as_bool() == Some(true))
    }
}

impl Setting for String {
    fn read(given: Option<&Value>, default: &'static str) -> String {
        given.map_or_else(|| default.trim_matches('"').to_owned(), text)
    }
}

impl Setting for Vec<String> {
    fn read(given: Option<&Value>, default: &'static str) -> Vec<String> {
        match given {
            Some(list) => list.as_array().into_iter().flatten().map(text).collect(),
            None => default_list(default).map(str::to_owned).collect(),
        }
    }
}

macro_rules! numbers {
    ($($type:ty)*) => {
        $(impl Setting for $type {
            fn read(given: Option<&Value>, default: &'static str) -> $type {
                number(given, default)
            }
        })*
    };
}
numbers!(u8 u32 u64 usize i64);

fn number<T: TryFrom<i64> + Default>(given: Option<&Value>, default: &str) -> T {
    let number = given.map_or_else(|| default.parse().ok(), Value::as_integer);
    number.and_then(|number| T::try_from(number).ok()).unwrap_or_default()
}

impl Values {
    pub fn get<T: Setting>(&self, key: Key) -> T {
        T::read(self.user.get(key.name), key.default)
    }

    /// The value of an enum, by its name.
    pub fn named<T>(&self, key: Key, named: fn(&str) -> Option<T>) -> Option<T> {
        named(&self.get::<String>(key))
    }

    /// A base address, without a trailing slash.
    pub fn url(&self, key: Key) -> String {
        self.get::<String>(key).trim_end_matches('/').to_owned()
    }

    /// A number of seconds in milliseconds.
    pub fn ms(&self, key: Key) -> i64 {
        self.get::<i64>(key) * 1000
    }

    /// The entries of a table with user-chosen names.
    pub fn entries(&self, table: &str) -> Vec<(String, String)> {
        match self.user.get(table).map(Value::as_inline_table) {
            Some(table) => {
                table.into_iter().flatten().map(|(name, value)| (name.to_owned(), text(value))).collect()
            }
            None => default_entries(table).map(|(name, text)| (name.to_owned(), text.to_owned())).collect(),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("").to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::layer::parse_leaves;
    use super::*;

    /// A value without the whitespace and comments around it.
    fn plain(mut value: Value) -> String {
        value.as_array_mut().into_iter().for_each(Array::fmt);
        value.as_inline_table_mut().into_iter().for_each(InlineTable::fmt);
        value.decorated("", "").to_string()
    }

    #[test]
    fn the_defaults_are_read_as_a_parser_reads_them() {
        let parsed = parse_leaves(DEFAULT).unwrap().into_iter().map(|leaf| (leaf.key, plain(leaf.value)));
        let read = keys().map(|key| (key.clone(), plain(default_value(&key).unwrap())));
        assert_eq!(read.collect::<BTreeMap<_, _>>(), parsed.collect::<BTreeMap<_, _>>());
    }
}
