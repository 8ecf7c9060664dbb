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
pub use texts::{IndexText, SearchTextKind};
pub use usage::{UsageGroup, UsageGroupBy, UsageProject, UsageQuery, UsedSession};
pub use write::{TakenRows, WriteBatch};

use crate::database::{compact, complaints, machine_name, move_aside, open_for_reading, open_for_writing};
use crate::home::DataFolder;
use crate::lock::ArchiveLock;
use crate::tables::projects::{ProjectLocation, ProjectTable};
use crate::{Result, home};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::cell::RefCell;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use towline_core::forget::Forgotten;
use towline_core::id::Uid;
use towline_core::project::ProjectIdentity;
use towline_core::time::Timestamp;

const MIGRATIONS: [&str; 9] = [
    include_str!("migrations/0001_first.sql"),
    include_str!("migrations/0002_remember.sql"),
    include_str!("migrations/0003_usage.sql"),
    include_str!("migrations/0004_leaner.sql"),
    include_str!("migrations/0005_hub.sql"),
    include_str!("migrations/0006_hub_more.sql"),
    include_str!("migrations/0007_outside.sql"),
    include_str!("migrations/0008_proposals.sql"),
    include_str!("migrations/0009_team_proposals.sql"),
];

/// WAL size above which a writer checkpoints: a reader that opens the file alone reads the whole WAL first.
const CHECKPOINT_ABOVE: u64 = 256 * 1024;

/// WAL size limit during bulk writes.
const CHECKPOINT_ABOVE_IN_BULK: u64 = 64 * 1024 * 1024;

/// Page cache of a writer in KiB: holds the tails of all indexes and everything an import changes before it is written.
const CACHE_KIB: i64 = 64 * 1024;

/// A read snapshot: reads see one state of the archive until it is dropped. Writes made meanwhile are rolled back.
pub struct Snapshot<'a> {
    _transaction: Transaction<'a>,
}

pub struct Archive {
    db: Connection,
    home: DataFolder,
    machine: Uid,
    forgotten: Forgotten,
    /// Memories that were brought back from the log when the archive was opened.
    recovered: usize,
    /// Ids of deleted memories, until the log says so.
    deleted: RefCell<Vec<String>>,
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
        // Deleted content is overwritten: see `tow data forget`.
        db.pragma_update(None, "secure_delete", true)?;
        db.pragma_update(None, "cache_size", -CACHE_KIB)?;
        // Statement journals stay in memory: no captured text may reach the system's temporary folder.
        db.pragma_update(None, "temp_store", "memory")?;
        db.execute_batch(usage::TRIGGERS)?;
        let machine = machine_name(home, new_machine)?;
        let forgotten = gone::load(home)?;
        let mut archive =
            Archive { db, home: home.clone(), machine, forgotten, recovered: 0, deleted: RefCell::default() };
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
            machine,
            forgotten: Forgotten::default(),
            recovered: 0,
            deleted: RefCell::default(),
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

    /// How many memories the archive lacked when it was opened, and got back from the log.
    pub fn recovered(&self) -> usize {
        self.recovered
    }

    /// Checks every page; an empty answer means that the archive is sound.
    pub fn complaints(&self) -> Result<Vec<String>> {
        complaints(&self.db)
    }

    /// Removes the remains of erased rows: from the memory log, free pages and the WAL.
    pub fn compact(&self) -> Result<()> {
        self.rewrite_log()?;
        // `VACUUM` copies the archive, which may not fit into memory. Changing `temp_store` drops temporary triggers.
        self.db.pragma_update(None, "temp_store", "file")?;
        let compacted = compact(&self.db);
        self.db.pragma_update(None, "temp_store", "memory")?;
        self.db.execute_batch(usage::TRIGGERS)?;
        compacted
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
