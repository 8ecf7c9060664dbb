//! The `memory` section: which memories a session receives.
//!
//! Pure. Reads validated values only.

use toml_edit::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// A session receives memories with its first prompt.
    pub give: bool,
    /// Older memories are searched by the words of the prompt.
    pub older: bool,
    /// The user sees one line about it.
    pub notice: bool,
    /// A session is warned about known problems of a file before it touches the file.
    pub gotchas: bool,
}

impl Memory {
    pub fn compiled_in() -> Memory {
        Memory { give: true, older: true, notice: true, gotchas: false }
    }

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
