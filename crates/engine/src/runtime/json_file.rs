//! Small JSON files of the data folder: caches and notes that may be lost at any time.
//!
//! Knows no content: a file that is missing or cannot be read is the caller's default, never an error.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::path::Path;
use towline_store::home::replace_file;

/// Returns `None` if there is no such file, or another version wrote it.
pub fn load<T: DeserializeOwned>(file: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// Replaces the file. A failure is ignored: the next reader does without it.
pub fn save(file: &Path, value: &impl Serialize) {
    let _ = serde_json::to_vec(value).map(|bytes| replace_file(file, &bytes));
}
