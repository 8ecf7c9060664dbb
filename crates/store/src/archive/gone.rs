//! The file that lists what must not be captured again.
//!
//! Stored beside the archive, so that it survives a damaged or recreated one. Holds marks and times, no text.

use crate::home::{DataFolder, if_exists, replace_file_synced};
use crate::{Result, StoreError};
use std::fs;
use towline_core::forget::Forgotten;

/// An unreadable file is an error for every writer: capturing nothing is better than capturing forgotten content.
pub(super) fn load(home: &DataFolder) -> Result<Forgotten> {
    let path = home.forgotten();
    let text = if_exists(fs::read_to_string(&path)).map_err(|source| StoreError::Folder { path, source })?;
    Ok(text.as_deref().map(Forgotten::parse).unwrap_or_default())
}

/// Durable before rows are erased: they must not be captured again in between.
pub(super) fn save(home: &DataFolder, forgotten: &Forgotten) -> Result<()> {
    let path = home.forgotten();
    replace_file_synced(&path, forgotten.to_string().as_bytes())
        .map_err(|source| StoreError::Folder { path, source })
}
