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
}

impl Memory {
    pub fn compiled_in() -> Memory {
        Memory { give: true, older: true, notice: true }
    }

    /// Reads values that were checked.
    pub(super) fn read(value: &dyn Fn(&str) -> Option<Value>) -> Memory {
        let is_on = |key: &str| value(key).and_then(|value| value.as_bool()).unwrap_or(true);
        Memory { give: is_on("memory.give"), older: is_on("memory.older"), notice: is_on("memory.notice") }
    }
}
