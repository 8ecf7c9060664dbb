//! Reads the defaults, key by key, without a TOML parser.
//!
//! Every hook of a user with a configuration file needs them, and a format-preserving parser takes dozens of
//! times as long as the rest of the hook. Supports only the syntax of `default.toml`; a test compares it with
//! the parser.

use super::DEFAULT;
use super::layer::FREE_TABLES;
use toml_edit::{Array, InlineTable, Value};

/// Every key with its value. A table with user-chosen names counts as one value.
pub(super) fn defaults() -> Vec<(String, Value)> {
    let mut found: Vec<(String, Value)> = vec![];
    let mut section = "";
    let mut lines = DEFAULT.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
            if FREE_TABLES.contains(&name) {
                found.push((name.to_owned(), InlineTable::new().into()));
            }
        } else if let Some((name, text)) = line.split_once(" = ") {
            let value = if text.starts_with('[') { list(text, &mut lines) } else { single(text) };
            match found.last_mut() {
                Some((key, Value::InlineTable(table))) if key == section => drop(table.insert(name, value)),
                _ => found.push(([section, name].join("."), value)),
            }
        }
    }
    found
}

fn single(text: &str) -> Value {
    let is_plain = |rest: &&str| !rest.contains(['"', '\\']);
    let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(is_plain);
    match (text, quoted, text.parse::<i64>()) {
        ("true", ..) => true.into(),
        ("false", ..) => false.into(),
        ("{}", ..) => InlineTable::new().into(),
        (_, Some(quoted), _) => quoted.into(),
        (_, _, Ok(number)) => number.into(),
        _ => text.parse().unwrap_or_else(|_| text.into()),
    }
}

/// Quoted strings up to the closing bracket on this line or a later one.
fn list<'a>(first: &'a str, more: &mut impl Iterator<Item = &'a str>) -> Value {
    let (mut texts, mut line) = (Array::new(), Some(first));
    while let Some(text) = line {
        texts.extend(text.split('"').skip(1).step_by(2));
        line = if text.ends_with(']') { None } else { more.next() };
    }
    texts.into()
}

#[cfg(test)]
mod tests {
    use super::super::layer::leaves;
    use super::*;

    /// A value without the whitespace and comments around it.
    fn plain(mut value: Value) -> String {
        value.as_array_mut().into_iter().for_each(Array::fmt);
        value.as_inline_table_mut().into_iter().for_each(InlineTable::fmt);
        value.decorated("", "").to_string()
    }

    #[test]
    fn the_defaults_are_read_as_a_parser_reads_them() {
        let parsed = leaves(DEFAULT).unwrap().into_iter().map(|leaf| (leaf.key, plain(leaf.value)));
        let read = defaults().into_iter().map(|(key, value)| (key, plain(value)));
        assert_eq!(read.collect::<Vec<_>>(), parsed.collect::<Vec<_>>());
    }
}
