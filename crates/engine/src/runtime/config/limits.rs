//! The `limits` section: whether a session resumes by itself when its usage limit ends.
//!
//! Pure. Off until the user enables it.

use super::rules::require;
use super::values::{Values, key};
use towline_core::typing::LONGEST_BYTES;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    pub resume: bool,
    /// The prompt typed on resume.
    pub words: String,
}

impl Limits {
    pub(super) fn read(values: &Values) -> Limits {
        Limits { resume: values.is_on(key!("limits.resume")), words: values.text(key!("limits.words")) }
    }
}

pub(super) fn is_prompt(words: &str) -> Result<(), String> {
    let is_command = words.starts_with(['/', '$', '!', '#', '@']);
    let is_line = !words.trim().is_empty() && !words.contains('\n') && words.len() <= LONGEST_BYTES;
    require(is_line && !is_command, "one line that no agent takes for a command")
}
