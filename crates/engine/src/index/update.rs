//! Updates the index from the archive's changes, or builds it.
//!
//! Each commit writes documents and its place together, so a killed update or build resumes from the last commit. Commits
//! are bounded: memory does not grow with the archive, and a search sees what is committed.

use super::documents;
use super::{FindError, folder};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::Duration;
use towline_search::{BuildPlace, Document, IndexError, IndexWriter, SearchIndex};
use towline_store::DataFolder;
use towline_store::archive::{Archive, ArchiveChange};
use towline_store::lock::pauses;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Updated {
    pub documents: u64,
    /// Another process is updating it.
    pub busy: bool,
}

/// Documents and changes per commit: the most work that a kill can lose.
const DOCUMENTS_AT_ONCE: usize = 60_000;
const CHANGES_AT_ONCE: u32 = 20_000;
/// Conversations listed at once.
const ROWS_AT_ONCE: u32 = 500;

/// Receives the number of documents so far; returns whether to go on.
pub type Seen<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

/// Opens the index. One that is unusable, or whose changes since its checkpoint are unknown, is begun anew.
pub fn open(home: &DataFolder, archive: &Archive) -> Result<SearchIndex, FindError> {
    let folder = folder(home);
    let index = match SearchIndex::open(&folder) {
        Err(error) if error.needs_rebuild() => return Ok(SearchIndex::rebuild(&folder)?),
        opened => opened?,
    };
    // The checkpoint was pruned or belongs to another archive.
    let place = place(&index)?;
    let is_usable = place.is_none_or(|place| archive.holds_changes_after(place).unwrap_or(true));
    if is_usable { Ok(index) } else { Ok(SearchIndex::rebuild(&folder)?) }
}

/// The change from which the index needs the following ones.
fn place(index: &SearchIndex) -> Result<Option<i64>, FindError> {
    let build = index.unfinished_build()?.map(|build| build.checkpoint);
    Ok(index.checkpoint()?.or(build))
}

/// The change up to which the index needs none any more; `None` if there is no usable index.
pub fn read_up_to(home: &DataFolder) -> Option<i64> {
    let index = SearchIndex::open_existing(&folder(home)).ok()??;
    place(&index).ok()?
}

/// The number of turns that wait to be indexed, at most `most`.
pub fn unindexed_turns(home: &DataFolder, archive: &Archive, most: u32) -> Result<u64, FindError> {
    let index = SearchIndex::open_existing(&folder(home))?;
    let checkpoint = index.as_ref().map(SearchIndex::checkpoint).transpose()?.flatten();
    if let Some(checkpoint) = checkpoint
        && archive.holds_changes_after(checkpoint)?
    {
        return Ok(archive.count_turns_changed_after(checkpoint, most)?);
    }
    let build = index.as_ref().map(SearchIndex::unfinished_build).transpose()?.flatten();
    Ok(archive.count_turns_after(build.map_or(0, |place| place.row), most)?)
}

/// Indexes all pending changes. `seen` receives the number of documents so far, and returns whether to go on; if not, what is
/// indexed is committed and the next update takes the rest.
pub fn update(home: &DataFolder, archive: &Archive, seen: Seen<'_>) -> Result<Updated, FindError> {
    let documents = update_within(home, archive, Duration::ZERO, seen)?;
    Ok(Updated { documents: documents.unwrap_or_default(), busy: documents.is_none() })
}

/// The same; waits this long for another process that writes the index. Returns the number of documents, or `None`.
pub fn update_within(
    home: &DataFolder,
    archive: &Archive,
    patience: Duration,
    seen: Seen<'_>,
) -> Result<Option<u64>, FindError> {
    let index = open(home, archive)?;
    if index.checkpoint()? == Some(archive.last_change()?) {
        return Ok(Some(0));
    }
    let Some(writer) = writer_within(&index, patience)? else { return Ok(None) };
    let mut update = IndexUpdate { archive, writer, documents: 0, is_stopped: false, seen };
    // Read again under the lock: the previous holder may have moved the checkpoint.
    let checkpoint = match index.checkpoint()? {
        Some(checkpoint) => checkpoint,
        None => update.build(index.unfinished_build()?)?,
    };
    if !update.is_stopped {
        update.follow(checkpoint)?;
    }
    let documents = update.documents;
    update.writer.close()?;
    Ok(Some(documents))
}

/// The writer of the index; `None` if another process holds it for longer.
pub(super) fn writer_within(
    index: &SearchIndex,
    patience: Duration,
) -> Result<Option<IndexWriter<'_>>, FindError> {
    let mut pauses = pauses(patience);
    loop {
        match index.writer() {
            Err(IndexError::Busy) => match pauses.next() {
                Some(pause) => wait(pause),
                None => return Ok(None),
            },
            opened => return Ok(Some(opened?)),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "waiting for another process, which has no timed wait")]
fn wait(pause: Duration) {
    std::thread::sleep(pause);
}

/// Whether no other process writes the index, or stops within this time.
pub fn is_writable(home: &DataFolder, patience: Duration) -> Result<bool, FindError> {
    match SearchIndex::open_existing(&folder(home)) {
        Ok(Some(index)) => Ok(writer_within(&index, patience)?.is_some()),
        // A missing or damaged index has no writer.
        Ok(None) | Err(_) => Ok(true),
    }
}

struct IndexUpdate<'a> {
    archive: &'a Archive,
    writer: IndexWriter<'a>,
    documents: u64,
    is_stopped: bool,
    seen: Seen<'a>,
}

impl IndexUpdate<'_> {
    /// Indexes all rows, or those that an unfinished build lacks. Returns the checkpoint of the built index.
    fn build(&mut self, unfinished: Option<BuildPlace>) -> Result<i64, FindError> {
        let begun = BuildPlace { checkpoint: self.archive.last_change()?, row: 0 };
        let mut place = unfinished.unwrap_or(begun);
        loop {
            let rows = self.archive.conversation_rows_after(place.row, ROWS_AT_ONCE)?;
            if rows.is_empty() {
                break;
            }
            for row in rows {
                if self.is_stopped {
                    self.writer.commit_part(place)?;
                    return Ok(place.checkpoint);
                }
                for change in [
                    ArchiveChange::Conversation { row, from_turn: 0 },
                    ArchiveChange::Summary { conversation: row },
                ] {
                    documents::each_of(self.archive, change, &mut |document| {
                        self.writer.add_new(&document)?;
                        self.count();
                        Ok(())
                    })?;
                }
                place.row = row;
                if self.is_due() {
                    self.writer.commit_part(place)?;
                }
            }
        }
        documents::each_memory(self.archive, &mut |memory| {
            self.add(&memory)?;
            if self.is_due() {
                self.writer.commit_part(place)?;
            }
            Ok(())
        })?;
        self.writer.commit(place.checkpoint)?;
        Ok(place.checkpoint)
    }

    /// Indexes the changes after the checkpoint.
    fn follow(&mut self, mut checkpoint: i64) -> Result<(), FindError> {
        loop {
            let changes = self.archive.changes_after(checkpoint, CHANGES_AT_ONCE)?;
            if changes.is_empty() {
                return Ok(());
            }
            let mut first_turns = first_turns(&changes);
            for (number, change) in changes {
                checkpoint = number;
                let Some(change) = only_once(change, &mut first_turns) else { continue };
                if let Some(gone) = documents::deleted_document(self.archive, change)? {
                    self.writer.remove(gone);
                }
                if let ArchiveChange::Conversation { row, from_turn: 0 } = change {
                    // Texts that have expired or were taken back are not among those that follow.
                    self.writer.remove_parts(row);
                }
                documents::each_of(self.archive, change, &mut |document| self.add(&document))?;
                if self.is_stopped {
                    return Ok(self.writer.commit(checkpoint)?);
                }
                if self.is_due() {
                    self.writer.commit(checkpoint)?;
                }
            }
            self.writer.commit(checkpoint)?;
        }
    }

    fn add(&mut self, document: &Document) -> Result<(), FindError> {
        self.writer.add(document)?;
        self.count();
        Ok(())
    }

    fn count(&mut self) {
        self.documents += 1;
        self.is_stopped |= (self.seen)(self.documents).is_break();
    }

    fn is_due(&self) -> bool {
        self.writer.uncommitted() >= DOCUMENTS_AT_ONCE
    }
}

/// The earliest changed turn of each conversation.
fn first_turns(changes: &[(i64, ArchiveChange)]) -> HashMap<i64, u32> {
    let mut first_turns = HashMap::new();
    for (_, change) in changes {
        if let ArchiveChange::Conversation { row, from_turn } = change {
            let first = first_turns.entry(*row).or_insert(*from_turn);
            *first = (*first).min(*from_turn);
        }
    }
    first_turns
}

/// A conversation that changed several times is read once, from the earliest change on; `None` if that was done.
fn only_once(change: ArchiveChange, first_turns: &mut HashMap<i64, u32>) -> Option<ArchiveChange> {
    match change {
        ArchiveChange::Conversation { row, .. } => {
            first_turns.remove(&row).map(|from_turn| ArchiveChange::Conversation { row, from_turn })
        }
        ArchiveChange::Memory { .. } | ArchiveChange::Summary { .. } => Some(change),
    }
}
