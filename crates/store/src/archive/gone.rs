//! The file that lists what must not be captured again.
//!
//! Stored beside the archive, so that it survives a damaged or recreated one. Holds marks and times, no text.

use crate::home::{DataFolder, replace_file_synced};
use crate::{Result, StoreError};
use std::fs;
use std::io::ErrorKind;
use towline_core::forget::Forgotten;

/// An unreadable file is an error for every writer: capturing nothing is better than capturing forgotten content.
pub(super) fn load(home: &DataFolder) -> Result<Forgotten> {
    let path = home.forgotten();
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Forgotten::parse(&text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Forgotten::default()),
        Err(source) => Err(StoreError::Folder { path, source }),
    }
}

/// Durable before rows are erased: they must not be captured again in between.
pub(super) fn save(home: &DataFolder, forgotten: &Forgotten) -> Result<()> {
    let path = home.forgotten();
    replace_file_synced(&path, forgotten.to_string().as_bytes())
        .map_err(|source| StoreError::Folder { path, source })
}
