//! Small checks that several settings share. Pure. An error completes the sentence "`key` must be …".

use toml_edit::Value;

pub(super) fn require(is_valid: bool, expected: &str) -> Result<(), String> {
    if is_valid { Ok(()) } else { Err(expected.to_owned()) }
}

/// Requires a list of strings, each of which `is_valid`.
pub(super) fn all(value: &Value, is_valid: impl Fn(&str) -> bool, expected: &str) -> Result<(), String> {
    let mut items = value.as_array().into_iter().flatten();
    require(items.all(|item| item.as_str().is_some_and(&is_valid)), expected)
}

pub(super) fn one_of(text: &str, names: &[&str]) -> Result<(), String> {
    require(names.contains(&text), &format!("one of {}", names.join(", ")))
}
