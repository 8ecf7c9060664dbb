//! The archive: conversations captured from the agents' transcripts, and the memories learnt from them, in their own
//! database.
//!
//! Only hooks that may return something (inherited context, memories, turns lost to a compaction) open it. Accepts only
//! `Clean` text and the `Content` and `Summary` of memories. Agents delete their transcripts, so archived rows cannot
//! be recreated: the archive is never part of a rebuild.

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
mod memories;
mod name;
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

pub use around::Side;
pub use ask::{PageKey, SessionsAsked, TurnsAsked, Which};
pub use changes::Change;
pub use erase::{ErasedRows, Erasing, Extent};
pub use figures::{ArchiveCounts, ContextPoint, ProjectFigures};
pub use jobs::{Abandoned, Came, Job, JobCounts, JobKind, JobState, KeptJob, NewJob};
pub use keep::{
    KeptBody, KeptConversation, KeptDetail, KeptMemory, KeptRow, KeptTurn, KeptUsage, WhichMemories,
};
pub use memories::{Finding, MemoriesAsked, NewMemory, Only, Trace};
pub use name::ProjectRow;
pub(crate) use pack::unpacked;
pub use pack::{Packed, PackedOpening, Packer};
pub use providers::{Health, Trouble};
pub use read::{BodyRow, Conversation, DetailRow, TurnRow};
pub use restore::{Restored, Restoring};
pub use retention::{ArchiveRetention, Sizes};
pub use scrub::{Cleaner, Scrubbed};
pub use share::{
    Arrival, Carried, Elsewhere, LeavingProject, LineWords, MemoryWords, Outcome, PieceWords, SharedExtent,
    SharedProject, TakenIn, Words, project_id,
};
pub use source::{Reading, Source};
pub use spending::{Budget, Spent, SpentDay};
pub use summaries::KeptSummary;
pub use tally::{ModelUsage, TouchedFile};
pub use texts::{Text, TextKind};
pub use usage::{Named, UsageAsked, UsageBy, UsageOf, UsedSession};
pub use write::{Taken, Together};

use crate::database::{compact, complaints, machine_name, move_aside, open_for_reading, open_for_writing};
use crate::home::Home;
use crate::lock::ArchiveLock;
use crate::tables::projects::{KnownProject, Projects};
use crate::{StoreError, home};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use towline_core::forget::Forgotten;
use towline_core::id::Uid;
use towline_core::project::ProjectTraces;
use towline_core::time::Timestamp;

const MIGRATIONS: [&str; 6] = [
    include_str!("migrations/0001_first.sql"),
    include_str!("migrations/0002_remember.sql"),
    include_str!("migrations/0003_usage.sql"),
    include_str!("migrations/0004_leaner.sql"),
    include_str!("migrations/0005_hub.sql"),
    include_str!("migrations/0006_hub_more.sql"),
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
    home: Home,
    machine: Uid,
    forgotten: Forgotten,
}

impl Archive {
    /// Opens for writing; creates or migrates the file if necessary. `new_machine` is this machine's id if it has none
    /// yet.
    pub fn open(
        home: &Home,
        _lock: &ArchiveLock,
        patience: Duration,
        new_machine: Uid,
    ) -> Result<Archive, StoreError> {
        let db = open_for_writing(&home.archive(), patience, &MIGRATIONS)?;
        // Deleted content is overwritten: see `tow forget`.
        db.pragma_update(None, "secure_delete", true)?;
        db.pragma_update(None, "cache_size", -CACHE_KIB)?;
        // Statement journals stay in memory: no captured text may reach the system's temporary folder.
        db.pragma_update(None, "temp_store", "memory")?;
        db.execute_batch(usage::TRIGGERS)?;
        let machine = machine_name(home, new_machine)?;
        let forgotten = gone::load(home)?;
        Ok(Archive { db, home: home.clone(), machine, forgotten })
    }

    /// Opens for reading only; `None` if nothing was ever captured.
    pub fn read(home: &Home, patience: Duration) -> Result<Option<Archive>, StoreError> {
        let db = open_for_reading(&home.archive(), patience, &MIGRATIONS)?;
        let machine = Uid([0; 16]);
        Ok(db.map(|db| Archive { db, home: home.clone(), machine, forgotten: Forgotten::default() }))
    }

    /// Opens for reading and holds one snapshot. For short-lived readers.
    pub fn glance(home: &Home, patience: Duration) -> Result<Option<Archive>, StoreError> {
        let archive = Archive::read(home, patience)?;
        archive.iter().try_for_each(Archive::hold_still)?;
        Ok(archive)
    }

    /// Starts a read transaction: all later reads see one snapshot and take the locks once.
    pub fn hold_still(&self) -> Result<(), StoreError> {
        self.db.execute_batch("begin deferred")?;
        Ok(())
    }

    /// Returns a snapshot that lasts until it is dropped.
    pub fn moment(&self) -> Result<Snapshot<'_>, StoreError> {
        Ok(Snapshot { _transaction: Transaction::new_unchecked(&self.db, TransactionBehavior::Deferred)? })
    }

    /// Checks every page; an empty answer means that the archive is sound.
    pub fn complaints(&self) -> Result<Vec<String>, StoreError> {
        complaints(&self.db)
    }

    /// Removes the remains of erased rows: free pages and the WAL.
    pub fn compact(&self) -> Result<(), StoreError> {
        // `VACUUM` copies the archive, which may not fit into memory. Changing `temp_store` drops temporary triggers.
        self.db.pragma_update(None, "temp_store", "file")?;
        let compacted = compact(&self.db);
        self.db.pragma_update(None, "temp_store", "memory")?;
        self.db.execute_batch(usage::TRIGGERS)?;
        compacted
    }

    /// All projects with captured content.
    pub fn projects(&self) -> Result<Vec<KnownProject>, StoreError> {
        Projects { db: &self.db, machine: self.machine }.all()
    }

    /// Checkpoints the WAL if it has grown. Does not wait for readers that block it.
    pub fn tidy(&self) -> Result<(), StoreError> {
        self.checkpoint_above(CHECKPOINT_ABOVE)
    }

    /// Like `tidy` for bulk writes: a page that changed many times is written back once.
    pub fn tidy_at_times(&self) -> Result<(), StoreError> {
        self.checkpoint_above(CHECKPOINT_ABOVE_IN_BULK)
    }

    fn checkpoint_above(&self, bytes: u64) -> Result<(), StoreError> {
        if home::size(&self.home.archive_log()) > bytes { self.checkpoint() } else { Ok(()) }
    }

    pub fn checkpoint(&self) -> Result<(), StoreError> {
        self.db.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))?;
        Ok(())
    }

    /// Marks and time ranges that must not be captured again.
    pub fn forgotten(&self) -> &Forgotten {
        &self.forgotten
    }

    /// The row of the project that a folder's traces lead to, if anything was captured there.
    pub fn project(&self, traces: &ProjectTraces) -> Result<Option<i64>, StoreError> {
        Projects { db: &self.db, machine: self.machine }.find(traces)
    }
}

/// When the archive was last written; `None` if it does not exist.
pub fn written_at(home: &Home) -> Option<Timestamp> {
    home::modified_at(&home.archive()).max(home::modified_at(&home.archive_log()))
}

/// Moves a damaged archive aside, never deletes it, and returns its new path.
pub fn set_aside(home: &Home, _lock: &ArchiveLock, now: Timestamp) -> io::Result<PathBuf> {
    move_aside(&home.archive(), now)
}

#[cfg(test)]
mod tests;
