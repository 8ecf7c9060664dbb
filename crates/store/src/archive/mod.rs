//! The archive: conversations captured from the agents' transcripts, and the memories learnt from them, in their own
//! database.
//!
//! Only hooks that may return something (inherited context, memories, turns lost to a compaction) open it. Accepts only
//! `CleanText` text and the `Content` and `Summary` of memories. Agents delete their transcripts, so archived rows cannot
//! be recreated: the archive is never part of a rebuild. What users wrote is in the memory log as well.

mod around;
mod ask;
#[cfg(test)]
mod bench;
mod changes;
mod distilled;
mod erase;
mod erased;
mod facts;
mod figures;
mod gone;
mod jobs;
mod keep;
mod log;
mod memories;
mod name;
mod outside;
mod pack;
mod providers;
mod read;
mod restore;
mod retention;
mod reverts;
mod scrub;
mod seating;
mod share;
mod source;
mod spending;
mod summaries;
mod tally;
mod texts;
mod usage;
mod write;

pub use around::TimeSide;
pub use ask::{PageKey, SessionQuery, TurnFilter, TurnQuery};
pub use changes::ArchiveChange;
pub use erase::{EraseMode, EraseScope, ErasedRows};
pub use erased::ErasedTexts;
pub use figures::{ArchiveCounts, ContextPoint, ProjectCounts};
pub use jobs::{DistilJob, DistilJobKind, JobCounts, JobFailure, JobResults, JobRow, JobState, NewJob};
pub use keep::{
    ExportedConversation, ExportedDetail, ExportedMemory, ExportedMessage, ExportedRow, ExportedTurn,
    ExportedUsage, MemorySelector,
};
pub use memories::{MemoryFilter, MemoryOccurrence, MemoryQuery, MemoryTrace, NewMemory};
pub use name::ProjectRow;
pub use outside::OutsideTexts;
pub(crate) use pack::unpacked;
pub use pack::{PackedOpening, PackedRow, Packer};
pub use providers::{ProviderFailure, ProviderHealth};
pub use read::{Conversation, DetailRow, MessageRow, TurnRow};
pub use restore::{ImportCounts, ImportState};
pub use retention::{ArchiveRetention, ArchiveSizes};
pub use scrub::{ScrubCounts, ScrubRules};
pub use share::{
    LineContent, MOST_OPEN_PROPOSALS, NewProposal, PullCounts, PulledRows, RemoteNote, RowContent, SendState,
    ShareLevel, SharedAnswer, SharedMemory, SharedPiece, SharedProject, SharedProposal, SyncRow,
    TeamProposal, WithdrawingProject, project_id,
};
pub use source::{ReadPosition, TranscriptSource};
pub use spending::{CallCost, DailySpending, DayBudget};
pub use summaries::KeptSummary;
pub use tally::{ModelUsage, TouchedFile};
pub use texts::{DetailOrder, DetailText, IndexText, SearchTextKind};
pub use usage::{UsageGroup, UsageGroupBy, UsageProject, UsageQuery, UsageSeries, UsedSession};
pub use write::{TakenRows, WriteBatch};

use crate::database::{
    StoreError, compact, complaints, empty_wal, machine_name, move_aside, open_for_reading, open_for_writing,
};
use crate::home::DataFolder;
use crate::lock::ArchiveLock;
use crate::tables::projects::{ProjectLocation, ProjectTable};
use crate::{Result, home, unused};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::cell::RefCell;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use towline_core::forget::Forgotten;
use towline_core::id::Uid;
use towline_core::project::ProjectIdentity;
use towline_core::time::Timestamp;

const MIGRATIONS: [&str; 10] = [
    include_str!("migrations/0001_first.sql"),
    include_str!("migrations/0002_remember.sql"),
    include_str!("migrations/0003_usage.sql"),
    include_str!("migrations/0004_leaner.sql"),
    include_str!("migrations/0005_hub.sql"),
    include_str!("migrations/0006_hub_more.sql"),
    include_str!("migrations/0007_outside.sql"),
    include_str!("migrations/0008_proposals.sql"),
    include_str!("migrations/0009_team_proposals.sql"),
    include_str!("migrations/0010_work.sql"),
];

/// WAL size above which a writer checkpoints: a reader that opens the file alone reads the whole WAL first.
const CHECKPOINT_ABOVE: u64 = 256 * 1024;

/// The same during bulk writes. The WAL may exceed it by one transaction, and stays below 64 MB.
const CHECKPOINT_ABOVE_IN_BULK: u64 = 16 * 1024 * 1024;

/// How long a reopened archive waits for others.
const PATIENCE: Duration = Duration::from_secs(10);

/// The fact that holds the page from which on unused bytes may hold something of erased rows; empty if none do.
const SWEPT_TO: &str = "unused bytes overwritten up to page";
/// Bytes of the file that one step of a sweep reads.
const SWEPT_AT_ONCE: u64 = 128 << 20;

/// Page cache of a writer in KiB: holds the tails of all indexes and everything an import changes before it is written.
const CACHE_KIB: i64 = 64 * 1024;

/// A read snapshot: reads see one state of the archive until it is dropped. Writes made meanwhile are rolled back.
pub struct Snapshot<'a> {
    _transaction: Transaction<'a>,
}

/// The files that an open archive depends on, by their identity.
struct OpenedFiles {
    /// Counts the archives that this process has opened for writing.
    number: u64,
    archive: Option<u64>,
    forgotten: Option<(u64, i64, i64)>,
}

static OPENED: AtomicU64 = AtomicU64::new(1);

impl OpenedFiles {
    fn of(home: &DataFolder) -> OpenedFiles {
        let about = |path: PathBuf| std::fs::metadata(path).ok();
        OpenedFiles {
            number: OPENED.fetch_add(1, Ordering::Relaxed),
            archive: about(home.archive()).map(|meta| meta.ino()),
            forgotten: about(home.forgotten()).map(|meta| (meta.ino(), meta.mtime(), meta.mtime_nsec())),
        }
    }
}

pub struct Archive {
    db: Connection,
    home: DataFolder,
    opened: OpenedFiles,
    machine: Uid,
    forgotten: Forgotten,
    /// Memories that were brought back from the log when the archive was opened.
    recovered: usize,
    /// Ids of deleted memories, until the log says so.
    deleted: RefCell<Vec<String>>,
    /// Texts that the index still holds.
    erased: RefCell<ErasedTexts>,
}

impl Archive {
    /// Opens for writing; creates or migrates the file if necessary. `new_machine` is this machine's id if it has none
    /// yet.
    pub fn open(
        home: &DataFolder,
        _lock: &ArchiveLock,
        patience: Duration,
        new_machine: Uid,
    ) -> Result<Archive> {
        let db = open_for_writing(&home.archive(), patience, &MIGRATIONS)?;
        let opened = OpenedFiles::of(home);
        // Deleted content is overwritten: see `tow data forget`.
        db.pragma_update(None, "secure_delete", true)?;
        db.pragma_update(None, "cache_size", -CACHE_KIB)?;
        // Statement journals stay in memory: no captured text may reach the system's temporary folder.
        db.pragma_update(None, "temp_store", "memory")?;
        db.execute_batch(usage::TRIGGERS)?;
        let machine = machine_name(home, new_machine)?;
        let forgotten = gone::load(home)?;
        let mut archive = Archive {
            db,
            home: home.clone(),
            opened,
            machine,
            forgotten,
            recovered: 0,
            deleted: RefCell::default(),
            erased: RefCell::default(),
        };
        archive.recovered = archive.recover_memories()?;
        Ok(archive)
    }

    /// Opens for reading only; `None` if nothing was ever captured.
    pub fn read(home: &DataFolder, patience: Duration) -> Result<Option<Archive>> {
        let db = open_for_reading(&home.archive(), patience, &MIGRATIONS)?;
        let machine = Uid([0; 16]);
        Ok(db.map(|db| Archive {
            db,
            home: home.clone(),
            opened: OpenedFiles { number: 0, archive: None, forgotten: None },
            machine,
            forgotten: Forgotten::default(),
            recovered: 0,
            deleted: RefCell::default(),
            erased: RefCell::default(),
        }))
    }

    /// Opens for reading and holds one snapshot. For short-lived readers.
    pub fn open_snapshot(home: &DataFolder, patience: Duration) -> Result<Option<Archive>> {
        let archive = Archive::read(home, patience)?;
        archive.iter().try_for_each(Archive::begin_read)?;
        Ok(archive)
    }

    /// Starts a read transaction: all later reads see one snapshot and take the locks once.
    pub fn begin_read(&self) -> Result<()> {
        self.db.execute_batch("begin deferred")?;
        Ok(())
    }

    /// Returns a snapshot that lasts until it is dropped.
    pub fn snapshot(&self) -> Result<Snapshot<'_>> {
        Ok(Snapshot { _transaction: Transaction::new_unchecked(&self.db, TransactionBehavior::Deferred)? })
    }

    /// Whether this connection still is to the archive of the data folder, and knows all that must not be captured: other
    /// processes may have moved the archive aside, or erased something, since it was opened.
    pub fn is_current(&self) -> bool {
        let now = OpenedFiles::of(&self.home);
        (now.archive, now.forgotten) == (self.opened.archive, self.opened.forgotten)
    }

    /// The number of this connection, and one that changes whenever another connection has written.
    pub fn data_version(&self) -> Result<(u64, i64)> {
        Ok((self.opened.number, self.db.pragma_query_value(None, "data_version", |row| row.get(0))?))
    }

    /// How many memories the archive lacked when it was opened, and got back from the log.
    pub fn recovered(&self) -> usize {
        self.recovered
    }

    /// Checks every page; an empty answer means that the archive is sound.
    pub fn complaints(&self) -> Result<Vec<String>> {
        complaints(&self.db)
    }

    /// Removes the remains of erased rows: from the memory log, the WAL, and the unused bytes of the file, as far as one step
    /// goes; `is_swept` tells whether `sweep` has to follow. Returns the archive opened anew: pages that this connection has
    /// read may hold such remains.
    pub fn compact(self, lock: &ArchiveLock) -> Result<Archive> {
        self.rewrite_log()?;
        while self.release_pages()? > 0 {}
        self.set_fact(SWEPT_TO, "1")?;
        self.sweep(lock)
    }

    /// Whether the unused bytes of the file hold nothing of erased rows.
    pub fn is_swept(&self) -> Result<bool> {
        Ok(self.fact(SWEPT_TO)?.is_none_or(|page| page.is_empty()))
    }

    /// The pages that a sweep has passed, and all pages; `None` if nothing is left to sweep.
    pub fn sweep_progress(&self) -> Result<Option<(u64, u64)>> {
        let Some(page) = self.fact(SWEPT_TO)?.filter(|page| !page.is_empty()) else { return Ok(None) };
        let pages: i64 = self.db.pragma_query_value(None, "page_count", |row| row.get(0))?;
        Ok(Some((page.parse().unwrap_or(0), pages.cast_unsigned())))
    }

    /// The next step of `compact`: overwrites unused bytes of a part of the file, which takes a fraction of a second.
    pub fn sweep(self, lock: &ArchiveLock) -> Result<Archive> {
        let from = self.fact(SWEPT_TO)?.and_then(|page| page.parse().ok()).unwrap_or(1);
        empty_wal(&self.db)?;
        let (home, machine) = (self.home.clone(), self.machine);
        drop(self);
        let overwritten = unused::overwrite(&home.archive(), from, SWEPT_AT_ONCE);
        let archive = Archive::open(&home, lock, PATIENCE, machine)?;
        let next = match overwritten {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => archive.vacuum().map(|()| None)?,
            Err(source) => return Err(StoreError::Folder { path: home.archive(), source }),
            Ok(overwritten) => overwritten.next,
        };
        // A commit: other connections read their pages again, and write no older copies back.
        archive.set_fact(SWEPT_TO, &next.map_or_else(String::new, |page| page.to_string()))?;
        Ok(archive)
    }

    /// For files too large for `unused`.
    fn vacuum(&self) -> Result<()> {
        // `VACUUM` copies the archive, which may not fit into memory. Changing `temp_store` drops temporary triggers.
        self.db.pragma_update(None, "temp_store", "file")?;
        let compacted = compact(&self.db);
        self.db.pragma_update(None, "temp_store", "memory")?;
        self.db.execute_batch(usage::TRIGGERS)?;
        compacted
    }

    /// The texts that were erased, or changed by an erasure, since the last call.
    pub fn take_erased_texts(&self) -> ErasedTexts {
        self.erased.take()
    }

    /// All projects with captured content.
    pub fn projects(&self) -> Result<Vec<ProjectLocation>> {
        ProjectTable { db: &self.db, machine: self.machine }.all()
    }

    /// Checkpoints the WAL if it has grown. Does not wait for readers that block it.
    pub fn tidy(&self) -> Result<()> {
        self.checkpoint_above(CHECKPOINT_ABOVE)
    }

    /// Like `tidy` for bulk writes: a page that changed many times is written back once.
    pub fn tidy_at_times(&self) -> Result<()> {
        self.checkpoint_above(CHECKPOINT_ABOVE_IN_BULK)
    }

    fn checkpoint_above(&self, bytes: u64) -> Result<()> {
        if home::size(&self.home.archive_log()) > bytes { self.checkpoint() } else { Ok(()) }
    }

    pub fn checkpoint(&self) -> Result<()> {
        self.db.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))?;
        Ok(())
    }

    /// Marks and time ranges that must not be captured again.
    pub fn forgotten(&self) -> &Forgotten {
        &self.forgotten
    }

    /// Skips closing the connection, as `Store::exit_without_close` does: for hooks only.
    pub fn exit_without_close(self) {
        std::mem::forget(self.db);
    }

    /// The row of the project that a folder's traces lead to, if anything was captured there.
    pub fn project(&self, traces: &ProjectIdentity) -> Result<Option<i64>> {
        ProjectTable { db: &self.db, machine: self.machine }.find(traces)
    }
}

/// When the archive was last written; `None` if it does not exist.
pub fn written_at(home: &DataFolder) -> Option<Timestamp> {
    home::modified_at(&home.archive()).max(home::modified_at(&home.archive_log()))
}

/// Moves a damaged archive aside, never deletes it, and returns its new path.
pub fn set_aside(home: &DataFolder, _lock: &ArchiveLock, now: Timestamp) -> io::Result<PathBuf> {
    move_aside(&home.archive(), now)
}

#[cfg(test)]
mod tests;
