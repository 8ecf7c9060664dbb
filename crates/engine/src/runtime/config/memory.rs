//! What the user wants given of what is remembered.
//!
//! Reads checked values only.

use toml_edit::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// A session is given what is remembered with its first prompt.
    pub give: bool,
    /// Older memories are looked for by the prompt's words.
    pub older: bool,
    /// The person is told in one line.
    pub notice: bool,
    /// A session is warned of what is known of a file before it touches it.
    pub gotchas: bool,
}

impl Memory {
    pub fn compiled_in() -> Memory {
        Memory { give: true, older: true, notice: true, gotchas: false }
    }

    /// Reads values that were checked.
    pub(super) fn read(value: &dyn Fn(&str) -> Option<Value>) -> Memory {
        let is_on = |key: &str| value(key).and_then(|value| value.as_bool());
        Memory {
            give: is_on("memory.give").unwrap_or(true),
            older: is_on("memory.older").unwrap_or(true),
            notice: is_on("memory.notice").unwrap_or(true),
            gotchas: is_on("memory.gotchas").unwrap_or(false),
        }
    }
}
