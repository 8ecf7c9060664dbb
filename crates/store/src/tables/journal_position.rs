//! The position up to which the journal is applied.
//!
//! Changed only in the transaction that saved the projected rows.

use crate::journal::{JournalPosition, Segments};
use crate::query::Query;
use crate::{Result, Store};

const POSITION: &str = "select segment, offset, mark from folded where only_row = 1";
const MOVE: &str = "update folded set segment = ?1, offset = ?2, mark = ?3 where only_row = 1";

impl Store {
    /// The position where applying continues: the start if the journal was replaced, since its records were never applied.
    pub fn applied_position(&self, segments: &Segments) -> Result<JournalPosition> {
        let (segment, offset, mark): (u64, u64, u64) = self.db.value(POSITION, [])?;
        let replaced = offset > 0 && segments.mark(segment) != mark;
        Ok(JournalPosition { segment, offset: if replaced { 0 } else { offset } })
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
