//! Erasing from everything but the archive: the journal, the database that is folded from it, and the small files beside
//! them.
//!
//! May be stopped at any point and done again. What is erased from the journal is erased from the database too, so that a
//! rebuilt one is like the old. Nothing is noted of what went.

mod files;
mod records;
mod rows;
mod scrub;

pub use crate::archive::Erasing;
pub use files::{Aside, drop_derived, holding, set_aside_files, shed_lines, shows};
pub use rows::ErasedTraces;

use crate::database::compact;
use crate::home::Home;
use crate::journal::{self, Rewritten};
use crate::lock::{FoldLock, wait_for};
use crate::{Pace, Store, StoreError};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use towline_core::forget::{Needle, Stretch};
use towline_core::id::{SessionKey, Uid};

/// What is to be erased of what hooks told.
#[derive(Clone)]
pub enum Traces {
    /// Of these sessions, in a stretch of time.
    Sessions { sessions: BTreeSet<SessionKey>, stretch: Stretch },
    /// Of all sessions, in a stretch of time.
    Everyone { stretch: Stretch },
    /// Everything that holds this text.
    Text(Arc<Needle>),
    /// What single events told of, by their ids: bookmarks, and batons of any machine.
    Notes(BTreeSet<Uid>),
}

/// What was, or would be, erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    pub rows: ErasedTraces,
    pub journal: Rewritten,
}

impl Erased {
    pub fn plus(self, other: Erased) -> Erased {
        let (a, b) = (self.rows, other.rows);
        Erased {
            rows: ErasedTraces {
                sessions: a.sessions + b.sessions,
                heard_turns: a.heard_turns + b.heard_turns,
                events: a.events + b.events,
                others: a.others + b.others,
            },
            journal: self.journal.plus(other.journal),
        }
    }
}

impl Store {
    /// Counts what would go, and changes nothing.
    pub fn rehearse_erasing(&self, traces: &Traces) -> Result<Erased, StoreError> {
        let whole = self.whole_sessions(traces)?;
        let mut decide = |entry: journal::Entry<'_>| records::fate(entry, traces, &whole);
        let journal =
            journal::rehearse(&self.home, &mut decide).map_err(|source| self.journal_error(source))?;
        Ok(Erased { rows: self.erase_rows(traces, &whole, Erasing::Rehearsal)?, journal })
    }

    /// Erases from the journal and from the database. Everything in the journal must have been folded: see `settle`.
    pub fn erase(&self, lock: &FoldLock, traces: &Traces) -> Result<Erased, StoreError> {
        let whole = self.whole_sessions(traces)?;
        let mut decide = |entry: journal::Entry<'_>| records::fate(entry, traces, &whole);
        let journal = self.rewrite_journal(lock, &mut decide)?;
        let rows = self.erase_rows(traces, &whole, Erasing::ForGood)?;
        files::forget_sessions(&self.home, &whole).map_err(|source| self.journal_error(source))?;
        Ok(Erased { rows, journal })
    }

    pub(crate) fn rewrite_journal(
        &self,
        lock: &FoldLock,
        decide: &mut dyn FnMut(journal::Entry<'_>) -> journal::Fate,
    ) -> Result<Rewritten, StoreError> {
        journal::rewrite(&self.home, lock, decide).map_err(|source| self.journal_error(source))
    }

    /// Folds everything, seals the journal, and folds to its end: from then on no place in a sealed segment is remembered.
    pub fn settle(&self, lock: &FoldLock, pace: &Pace<'_>) -> Result<crate::Folded, StoreError> {
        let mut folded = self.fold(pace)?;
        match journal::seal(&self.home, lock) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            sealed => sealed.map_err(|source| self.journal_error(source))?,
        }
        let rest = self.fold(pace)?;
        folded.events += rest.events;
        folded.effects.extend(rest.effects);
        let segments = self.segments()?;
        let at = self.folded(&segments)?;
        if segments.after(at.segment).is_some() { Err(StoreError::NewerJournal) } else { Ok(folded) }
    }

    /// Leaves nothing behind of what was erased: no free page, no log.
    pub fn compact(&self) -> Result<(), StoreError> {
        // What a vacuum writes over is not what a log has held.
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

/// The right to erase, and the note that somebody does: until it is taken away, files may still hold what was erased.
/// Whoever is killed leaves the note behind, but not the right.
pub struct Eraser {
    home: Home,
    _lock: File,
}

impl Eraser {
    /// `None` if somebody else is at it.
    pub fn begin(home: &Home) -> io::Result<Option<Eraser>> {
        loop {
            let Some(lock) = wait_for(&home.erasing(), [])? else { return Ok(None) };
            // Whoever was done at this moment has taken the note away that we hold.
            if home.erasing().exists() {
                lock.sync_all()?;
                return Ok(Some(Eraser { home: home.clone(), _lock: lock }));
            }
        }
    }

    /// Nothing is left of what was erased.
    pub fn end(self) -> io::Result<()> {
        fs::remove_file(self.home.erasing())
    }
}

/// Whether somebody was stopped while erasing, or is at it.
pub fn is_unfinished(home: &Home) -> bool {
    home.erasing().exists()
}

#[cfg(test)]
mod tests;
