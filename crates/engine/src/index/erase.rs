//! Removes erased texts from the index: at once for every search, and from its files as soon as they are rewritten.
//!
//! A large segment takes long to rewrite, so `tow data work` does that; the file `index.purge` says that it is due.

use super::documents::IndexedRow;
use super::{FindError, folder, forget_index, update};
use crate::runtime::Env;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use towline_search::{IndexError, Purged, SearchIndex};
use towline_store::archive::{ErasedTexts, SearchTextKind};
use towline_store::home::{open_or_make, unless_gone};
use towline_store::{DataFolder, StoreError};

/// How long to wait for a process that updates the index.
const PATIENCE: Duration = Duration::from_secs(10);

/// Documents whose segments are rewritten while the user waits: about a second.
const AT_ONCE: u32 = 20_000;

/// Removes these texts. The whole index goes if they may be anywhere, or if another process keeps it busy for longer than the
/// caller waits. Returns `Rest` if background work has to follow.
pub fn erase(env: &Env, texts: &ErasedTexts) -> Result<Purged, FindError> {
    let home = &env.home;
    let all_gone = || forget_index(home).map(|()| Purged::Rest).map_err(FindError::from);
    if !folder(home).exists() {
        return Ok(Purged::All);
    }
    if texts.is_everywhere {
        return all_gone();
    }
    let index = match SearchIndex::open(&folder(home)) {
        Err(error) if error.needs_rebuild() => return all_gone(),
        opened => opened?,
    };
    let writer =
        env.take_turn("the search index", PATIENCE, |patience| update::writer_within(&index, patience))?;
    let Some(writer) = writer else { return all_gone() };
    mark(home)?;
    let purged = writer.erase(&ids(texts), AT_ONCE)?;
    if purged == Purged::All {
        unmark(home)?;
    }
    Ok(purged)
}

/// Rewrites what `erase` left. For background work.
pub fn purge(home: &DataFolder) -> Result<(), FindError> {
    if !is_purge_due(home) || !folder(home).exists() {
        return unmark(home);
    }
    let index = SearchIndex::open(&folder(home))?;
    match index.writer() {
        Err(IndexError::Busy) => Ok(()),
        opened => {
            let _all = opened?.erase(&[], u32::MAX)?;
            unmark(home)
        }
    }
}

/// Whether `purge` has something to do.
pub fn is_purge_due(home: &DataFolder) -> bool {
    marker(home).exists()
}

fn ids(texts: &ErasedTexts) -> Vec<i64> {
    let of_body =
        |row: &i64| [SearchTextKind::Prompt, SearchTextKind::Answer].map(|kind| IndexedRow::Text(kind, *row));
    let bodies = texts.bodies.iter().flat_map(of_body);
    let details = texts.details.iter().map(|(row, turn)| IndexedRow::Actions(*row, *turn));
    let memories = texts.memories.iter().map(|number| IndexedRow::Memory(*number));
    let summaries = texts.summaries.iter().map(|row| IndexedRow::Summary(*row));
    bodies.chain(details).chain(memories).chain(summaries).map(IndexedRow::id).collect()
}

fn marker(home: &DataFolder) -> PathBuf {
    home.folder().join("index.purge")
}

fn mark(home: &DataFolder) -> Result<(), FindError> {
    open_or_make(&marker(home)).map(drop).map_err(|error| failed(home, error))
}

fn unmark(home: &DataFolder) -> Result<(), FindError> {
    unless_gone(fs::remove_file(marker(home))).map_err(|error| failed(home, error))
}

fn failed(home: &DataFolder, source: io::Error) -> FindError {
    StoreError::Folder { path: marker(home), source }.into()
}
