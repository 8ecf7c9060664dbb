//! The `memory` section: which memories a session receives.
//!
//! Pure. Reads validated values only.

use super::values::{Values, key};

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
    pub(super) fn read(values: &Values) -> Memory {
        Memory {
            give: values.is_on(key!("memory.give")),
            older: values.is_on(key!("memory.older")),
            notice: values.is_on(key!("memory.notice")),
            gotchas: values.is_on(key!("memory.gotchas")),
        }
    }
}
