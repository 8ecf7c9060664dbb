//! The position up to which the journal is applied.
//!
//! Changed only in the transaction that saved the projected rows.

use crate::journal::{JournalPosition, Segments};
use crate::query::Query;
use crate::{Store, StoreError};

const POSITION: &str = "select segment, offset, mark from folded where only_row = 1";
const MOVE: &str = "update folded set segment = ?1, offset = ?2, mark = ?3 where only_row = 1";

impl Store {
    /// The position where applying continues: the start if the journal was replaced, since its records were never applied.
    pub fn applied_position(&self, segments: &Segments) -> Result<JournalPosition, StoreError> {
        let mut statement = self.db.prepare_cached(POSITION)?;
        let (segment, offset, mark): (i64, i64, i64) =
            statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let (segment, offset) = (segment.cast_unsigned(), offset.cast_unsigned());
        let replaced = offset > 0 && segments.mark(segment) != mark.cast_unsigned();
        Ok(JournalPosition { segment, offset: if replaced { 0 } else { offset } })
    }

    pub(crate) fn set_applied_position(&self, to: JournalPosition, segments: &Segments) -> Result<(), StoreError> {
        let mark = segments.mark(to.segment).cast_signed();
        self.db.change(MOVE, (to.segment.cast_signed(), to.offset.cast_signed(), mark))?;
        Ok(())
    }

    /// The current files of the journal; stable while the caller holds the apply lock.
    pub(crate) fn segments(&self) -> Result<Segments, StoreError> {
        Segments::list(&self.home).map_err(|source| self.folder_error(source))
    }
}
