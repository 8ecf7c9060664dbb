//! The archive: what was captured from the agents' transcripts and learnt from it, in a database of its own.
//!
//! No hook opens it but one that may have something to give: what is inherited and remembered, what a compaction took.
//! Takes only text that is `Clean`, and `Content` and `Summary` of memories. What the agents delete later stays here: it cannot be made anew from anything, so it is never part of a
//! rebuild.

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
pub use figures::{ContextPoint, Counts, ProjectFigures};
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

/// Beyond this, whoever writes writes it back: a reader that comes alone reads all of the log before anything else.
const LOG_WANTS_UPKEEP: u64 = 256 * 1024;

/// How large it may become while much is written.
const LOG_MUST_SHRINK: u64 = 64 * 1024 * 1024;

/// Pages that a writer remembers, in KiB: enough that the ends of all indexes stay at hand, and all that an import changes
/// before it is written.
const CACHE_KIB: i64 = 64 * 1024;

/// While it lasts, nothing of the archive changes for whoever reads. What is written meanwhile is taken back at its end.
pub struct Moment<'a> {
    _transaction: Transaction<'a>,
}

/// The open archive of one data folder.
pub struct Archive {
    db: Connection,
    home: Home,
    machine: Uid,
    forgotten: Forgotten,
}

impl Archive {
    /// Opens for writing, making or migrating what is not there yet. `new_machine` names this machine if it has no name.
    pub fn open(
        home: &Home,
        _lock: &ArchiveLock,
        patience: Duration,
        new_machine: Uid,
    ) -> Result<Archive, StoreError> {
        let db = open_for_writing(&home.archive(), patience, &MIGRATIONS)?;
        // What is deleted is gone: see `tow forget`.
        db.pragma_update(None, "secure_delete", true)?;
        db.pragma_update(None, "cache_size", -CACHE_KIB)?;
        // What a statement may have to take back lies in no file of the system's folder for such.
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

    /// Opens for reading what is there at this moment. For those who ask and leave.
    pub fn glance(home: &Home, patience: Duration) -> Result<Option<Archive>, StoreError> {
        let archive = Archive::read(home, patience)?;
        archive.iter().try_for_each(Archive::hold_still)?;
        Ok(archive)
    }

    /// All that is read from now on is of one moment, and costs one look at the locks.
    pub fn hold_still(&self) -> Result<(), StoreError> {
        self.db.execute_batch("begin deferred")?;
        Ok(())
    }

    /// All that is read until it is dropped is of one moment.
    pub fn moment(&self) -> Result<Moment<'_>, StoreError> {
        Ok(Moment { _transaction: Transaction::new_unchecked(&self.db, TransactionBehavior::Deferred)? })
    }

    /// Looks at every page; an empty answer means that the archive is sound.
    pub fn complaints(&self) -> Result<Vec<String>, StoreError> {
        complaints(&self.db)
    }

    /// Leaves nothing behind of what was erased: no free page, no log.
    pub fn compact(&self) -> Result<(), StoreError> {
        // The archive is laid out anew beside itself, which may be more than fits into memory. Changing this drops triggers.
        self.db.pragma_update(None, "temp_store", "file")?;
        let compacted = compact(&self.db);
        self.db.pragma_update(None, "temp_store", "memory")?;
        self.db.execute_batch(usage::TRIGGERS)?;
        compacted
    }

    /// All projects of which something was captured.
    pub fn projects(&self) -> Result<Vec<KnownProject>, StoreError> {
        Projects { db: &self.db, machine: self.machine }.all()
    }

    /// Writes the log back if it has grown. Readers that are in the way are not waited for.
    pub fn tidy(&self) -> Result<(), StoreError> {
        self.checkpoint_above(LOG_WANTS_UPKEEP)
    }

    /// The same while much is written: the same page is written back once, however often it changed.
    pub fn tidy_at_times(&self) -> Result<(), StoreError> {
        self.checkpoint_above(LOG_MUST_SHRINK)
    }

    fn checkpoint_above(&self, bytes: u64) -> Result<(), StoreError> {
        if home::size(&self.home.archive_log()) > bytes { self.checkpoint() } else { Ok(()) }
    }

    pub fn checkpoint(&self) -> Result<(), StoreError> {
        self.db.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))?;
        Ok(())
    }

    /// What must not be captured again.
    pub fn forgotten(&self) -> &Forgotten {
        &self.forgotten
    }

    /// The row of the project that a folder's traces lead to, if anything was captured there.
    pub fn project(&self, traces: &ProjectTraces) -> Result<Option<i64>, StoreError> {
        Projects { db: &self.db, machine: self.machine }.find(traces)
    }
}

/// When the archive was written last; `None` if there is none.
pub fn written_at(home: &Home) -> Option<Timestamp> {
    home::modified_at(&home.archive()).max(home::modified_at(&home.archive_log()))
}

/// Moves a damaged archive aside, never deletes it, and returns its new place.
pub fn set_aside(home: &Home, _lock: &ArchiveLock, now: Timestamp) -> io::Result<PathBuf> {
    move_aside(&home.archive(), now)
}

#[cfg(test)]
mod tests;
