//! Bringing the index up to date: by what changed since it was last written, or anew.
//!
//! The index says itself how far it goes, in the same commit as its documents: killed anywhere, it goes on from there.

use super::{FindError, documents, folder};
use towline_search::{Error, Index, Writer};
use towline_store::Home;
use towline_store::archive::Archive;

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Updated {
    pub documents: u64,
    /// It was made from all there is.
    pub anew: bool,
    /// Somebody else is at it.
    pub busy: bool,
}

/// Between two commits: what a kill costs at most.
const CHANGES_AT_ONCE: u32 = 2_000;

/// The index, opened; made anew if what is there cannot be used.
pub fn open(home: &Home) -> Result<Index, FindError> {
    let folder = folder(home);
    match Index::open(&folder) {
        Err(error) if error.calls_for_rebuild() => Ok(Index::rebuild(&folder)?),
        opened => Ok(opened?),
    }
}

/// Writes what the index does not know yet. `seen` is told of every document.
pub fn update(home: &Home, archive: &Archive, seen: &mut dyn FnMut(u64)) -> Result<Updated, FindError> {
    let mut index = open(home)?;
    if index.checkpoint()?.is_some_and(|place| !archive.holds_changes_after(place).unwrap_or(true)) {
        // It comes too late, or is another archive's: what changed since is not known.
        index = Index::rebuild(&folder(home))?;
    }
    let mut writer = match index.writer() {
        Err(Error::Busy) => return Ok(Updated { busy: true, ..Updated::default() }),
        opened => opened?,
    };
    let mut updated = Updated::default();
    // Asked for once the lock is ours: whoever held it before has written it.
    match index.checkpoint()? {
        Some(checkpoint) => go_on(archive, &mut writer, checkpoint, (&mut updated, seen))?,
        None => begin(archive, &mut writer, (&mut updated, seen))?,
    }
    writer.close()?;
    Ok(updated)
}

/// How far the index goes; `None` where there is none, or none that can be used.
pub fn read_up_to(home: &Home) -> Option<i64> {
    let folder = folder(home);
    if !folder.exists() {
        return None;
    }
    Index::open(&folder).ok()?.checkpoint().ok()?
}

type Progress<'a> = (&'a mut Updated, &'a mut dyn FnMut(u64));

fn begin(archive: &Archive, writer: &mut Writer<'_>, (updated, seen): Progress<'_>) -> Result<(), FindError> {
    let last = archive.last_change()?;
    updated.anew = true;
    documents::each(archive, &mut |document| {
        writer.add(&document)?;
        updated.documents += 1;
        seen(updated.documents);
        Ok(())
    })?;
    Ok(writer.commit(last)?)
}

fn go_on(
    archive: &Archive,
    writer: &mut Writer<'_>,
    mut checkpoint: i64,
    (updated, seen): Progress<'_>,
) -> Result<(), FindError> {
    loop {
        let changes = archive.changes_after(checkpoint, CHANGES_AT_ONCE)?;
        let Some((last, _)) = changes.last() else { return Ok(()) };
        checkpoint = *last;
        for (_, change) in changes {
            if let Some(gone) = documents::gone(archive, change)? {
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
