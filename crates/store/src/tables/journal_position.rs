//! The position up to which the journal is applied.
//!
//! Changed only in the transaction that saved the projected rows.

use crate::columns::from_row;
use crate::journal::{JournalPosition, Segments};
use crate::query::Query;
use crate::{Result, Store};

const POSITION: &str = "select segment, offset, mark from folded where only_row = 1";
const MOVE: &str = "update folded set segment = ?1, offset = ?2, mark = ?3 where only_row = 1";
const MOVE_ON: &str = "update folded set offset = ?1 where only_row = 1";

/// The position as its row has it.
#[derive(Clone, Copy)]
struct StoredPosition {
    segment: u64,
    offset: u64,
    /// The mark of the segment's file.
    mark: u64,
}

from_row!(StoredPosition { segment, offset, mark });

impl StoredPosition {
    /// Whether the file is the one whose records were applied.
    fn is_in(&self, segments: &Segments) -> bool {
        self.offset > 0 && segments.mark(self.segment) == self.mark
    }

    /// The start if the journal was replaced, since its records were never applied.
    fn among(&self, segments: &Segments) -> JournalPosition {
        JournalPosition { segment: self.segment, offset: if self.is_in(segments) { self.offset } else { 0 } }
    }
}

impl Store {
    /// The position where applying continues, and the files from there on.
    pub(crate) fn unapplied(&self) -> Result<(JournalPosition, Segments)> {
        let stored: StoredPosition = self.db.value(POSITION, [])?;
        // Most often the active file is the one: then the folder need not be listed.
        let active = Segments::active_as(&self.home, stored.segment);
        if stored.is_in(&active) {
            return Ok((JournalPosition { segment: stored.segment, offset: stored.offset }, active));
        }
        let segments = self.segments()?;
        Ok((stored.among(&segments), segments))
    }

    /// The position where applying continues.
    pub fn applied_position(&self, segments: &Segments) -> Result<JournalPosition> {
        Ok(self.db.value::<StoredPosition>(POSITION, [])?.among(segments))
    }

    /// Moves the position on from one that the row holds.
    pub(crate) fn move_applied_position(
        &self,
        from: JournalPosition,
        to: JournalPosition,
        segments: &Segments,
    ) -> Result<()> {
        if to.segment == from.segment && from.offset > 0 {
            return self.db.run(MOVE_ON, [to.offset.cast_signed()]);
        }
        self.set_applied_position(to, segments)
    }

    pub(crate) fn set_applied_position(&self, to: JournalPosition, segments: &Segments) -> Result<()> {
        let mark = segments.mark(to.segment).cast_signed();
        self.db.run(MOVE, (to.segment.cast_signed(), to.offset.cast_signed(), mark))
    }

    /// The current files of the journal; stable while the caller holds the apply lock.
    pub(crate) fn segments(&self) -> Result<Segments> {
        Segments::list(&self.home).map_err(|source| self.folder_error(source))
    }
}
