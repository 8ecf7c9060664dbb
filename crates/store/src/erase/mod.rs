//! Erasing from everything but the archive: the journal, the database projected from it, and the small files.
//!
//! May be interrupted at any point and repeated. Erases the same data from journal and database, so that a rebuilt
//! database equals the old one. Keeps no record of the erased data.

mod files;
mod records;
mod rows;
mod scrub;

pub use crate::archive::EraseMode;
pub use files::{DamagedFile, drop_derived, files_containing, remove_lines, set_aside_files, shows};
pub use rows::ErasedSessionRows;

use crate::database::compact;
use crate::home::{DataFolder, if_exists};
use crate::journal::{self, RewriteCounts};
use crate::lock::{ProjectionLock, wait_for};
use crate::{ProjectionLimits, Result, Store, StoreError};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;
use towline_core::forget::{ForgetText, TimeRange};
use towline_core::id::{SessionKey, Uid};

/// Selects the hook data to erase.
#[derive(Clone)]
pub enum EraseSelection {
    /// Data of these sessions in a stretch of time.
    Sessions { sessions: BTreeSet<SessionKey>, stretch: TimeRange },
    /// Data of all sessions in a stretch of time.
    Everyone { stretch: TimeRange },
    /// Everything that contains this text.
    Text(Arc<ForgetText>),
    /// Single bookmarks, and batons of any machine, by their ids, with all events about them.
    Notes(BTreeSet<Uid>),
}

/// The number of rows and records that were, or would be, erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EraseReport {
    pub rows: ErasedSessionRows,
    pub journal: RewriteCounts,
}

impl EraseReport {
    pub fn plus(self, other: EraseReport) -> EraseReport {
        EraseReport { rows: self.rows.plus(other.rows), journal: self.journal.plus(other.journal) }
    }
}

impl Store {
    /// Counts what would be erased, and changes nothing.
    pub fn preview_erase(&self, traces: &EraseSelection) -> Result<EraseReport> {
        let whole = self.whole_sessions(traces)?;
        let mut decide = |entry: journal::JournalEntry<'_>| records::fate(entry, traces, &whole);
        let journal =
            journal::preview_rewrite(&self.home, &mut decide).map_err(|source| self.journal_error(source))?;
        Ok(EraseReport { rows: self.erase_rows(traces, &whole, EraseMode::Rehearsal)?, journal })
    }

    /// Erases from the journal and from the database. Everything in the journal must have been applied: see `settle`.
    pub fn erase(&self, lock: &ProjectionLock, traces: &EraseSelection) -> Result<EraseReport> {
        let whole = self.whole_sessions(traces)?;
        let mut decide = |entry: journal::JournalEntry<'_>| records::fate(entry, traces, &whole);
        let journal = self.rewrite_journal(lock, &mut decide)?;
        let rows = self.erase_rows(traces, &whole, EraseMode::ForGood)?;
        files::forget_sessions(&self.home, &whole).map_err(|source| self.journal_error(source))?;
        Ok(EraseReport { rows, journal })
    }

    pub(crate) fn rewrite_journal(
        &self,
        lock: &ProjectionLock,
        decide: &mut dyn FnMut(journal::JournalEntry<'_>) -> journal::Rewrite,
    ) -> Result<RewriteCounts> {
        journal::rewrite(&self.home, lock, decide).map_err(|source| self.journal_error(source))
    }

    /// Applies everything, seals the journal, and applies again, so that the stored position is not in a sealed segment.
    pub fn apply_and_seal(
        &self,
        lock: &ProjectionLock,
        limits: &ProjectionLimits<'_>,
    ) -> Result<crate::Projected> {
        let mut applied = self.apply_journal(limits)?;
        if_exists(journal::seal(&self.home, lock)).map_err(|source| self.journal_error(source))?;
        let rest = self.apply_journal(limits)?;
        applied.events += rest.events;
        applied.effects.extend(rest.effects);
        let segments = self.segments()?;
        let at = self.applied_position(&segments)?;
        if segments.after(at.segment).is_some() { Err(StoreError::NewerJournal) } else { Ok(applied) }
    }

    /// Removes the erased data from free pages and from the WAL.
    pub fn compact(&self) -> Result<()> {
        // Vacuum overwrites pages of the database, but not copies of them in the WAL.
        self.db.pragma_update(None, "secure_delete", true)?;
        compact(&self.db)
    }

    fn journal_error(&self, source: io::Error) -> StoreError {
        if source.kind() == ErrorKind::Unsupported {
            StoreError::NewerJournal
        } else {
            self.folder_error(source)
        }
    }
}

/// The right to erase, and a file that shows an erase in progress: until `end` removes it, other files may still
/// contain erased data. A killed process leaves the file behind, but not the lock.
pub struct EraseGuard {
    home: DataFolder,
    _lock: File,
}

impl EraseGuard {
    /// `None` if another process goes on erasing for longer than the pauses last.
    pub fn begin(
        home: &DataFolder,
        pauses: impl IntoIterator<Item = Duration>,
    ) -> io::Result<Option<EraseGuard>> {
        let mut pauses = pauses.into_iter();
        loop {
            let Some(lock) = wait_for(&home.erasing(), &mut pauses)? else { return Ok(None) };
            // The previous holder may have removed the file that we hold just now.
            if home.erasing().exists() {
                lock.sync_all()?;
                return Ok(Some(EraseGuard { home: home.clone(), _lock: lock }));
            }
        }
    }

    /// Called when no erased data is left in any file.
    pub fn end(self) -> io::Result<()> {
        fs::remove_file(self.home.erasing())
    }
}

/// Whether an erase is in progress or was interrupted.
pub fn is_unfinished(home: &DataFolder) -> bool {
    home.erasing().exists()
}

#[cfg(test)]
mod tests;
