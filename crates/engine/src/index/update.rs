//! Updates the index from the archive's changes, or rebuilds it.
//!
//! Each commit writes documents and checkpoint together, so a killed update resumes from the last commit.

use super::{FindError, documents, folder};
use towline_search::{IndexError, IndexWriter, SearchIndex};
use towline_store::DataFolder;
use towline_store::archive::Archive;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Updated {
    pub documents: u64,
    /// It was rebuilt from scratch.
    pub anew: bool,
    /// Another process is updating it.
    pub busy: bool,
}

/// Changes per commit: the most work that a kill can lose.
const CHANGES_AT_ONCE: u32 = 2_000;

/// Opens the index; an unusable one is rebuilt.
pub fn open(home: &DataFolder) -> Result<SearchIndex, FindError> {
    let folder = folder(home);
    match SearchIndex::open(&folder) {
        Err(error) if error.needs_rebuild() => Ok(SearchIndex::rebuild(&folder)?),
        opened => Ok(opened?),
    }
}

/// Indexes all pending changes. `seen` receives the number of documents so far.
pub fn update(home: &DataFolder, archive: &Archive, seen: &mut dyn FnMut(u64)) -> Result<Updated, FindError> {
    let mut index = open(home)?;
    if index.checkpoint()?.is_some_and(|place| !archive.holds_changes_after(place).unwrap_or(true)) {
        // The checkpoint was pruned or belongs to another archive, so the changes since are unknown.
        index = SearchIndex::rebuild(&folder(home))?;
    }
    let mut writer = match index.writer() {
        Err(IndexError::Busy) => return Ok(Updated { busy: true, ..Updated::default() }),
        opened => opened?,
    };
    let mut updated = Updated::default();
    // Read again under the lock: the previous holder may have moved the checkpoint.
    match index.checkpoint()? {
        Some(checkpoint) => go_on(archive, &mut writer, checkpoint, &mut updated, seen)?,
        None => begin(archive, &mut writer, &mut updated, seen)?,
    }
    writer.close()?;
    Ok(updated)
}

/// The checkpoint of the index; `None` if there is no usable index.
pub fn read_up_to(home: &DataFolder) -> Option<i64> {
    let folder = folder(home);
    if !folder.exists() {
        return None;
    }
    SearchIndex::open(&folder).ok()?.checkpoint().ok()?
}

fn begin(
    archive: &Archive,
    writer: &mut IndexWriter<'_>,
    updated: &mut Updated,
    seen: &mut dyn FnMut(u64),
) -> Result<(), FindError> {
    let last = archive.last_change()?;
    updated.anew = true;
    documents::each(archive, &mut |document| {
        writer.add_new(&document)?;
        updated.documents += 1;
        seen(updated.documents);
        Ok(())
    })?;
    Ok(writer.commit(last)?)
}

fn go_on(
    archive: &Archive,
    writer: &mut IndexWriter<'_>,
    mut checkpoint: i64,
    updated: &mut Updated,
    seen: &mut dyn FnMut(u64),
) -> Result<(), FindError> {
    loop {
        let changes = archive.changes_after(checkpoint, CHANGES_AT_ONCE)?;
        let Some((last, _)) = changes.last() else { return Ok(()) };
        checkpoint = *last;
        for (_, change) in changes {
            if let Some(gone) = documents::deleted_document(archive, change)? {
                writer.remove(gone);
            }
            documents::each_of(archive, change, &mut |document| {
                writer.add(&document)?;
                updated.documents += 1;
                seen(updated.documents);
                Ok(())
            })?;
        }
        writer.commit(checkpoint)?;
    }
}
