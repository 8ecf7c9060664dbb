//! How far the journal is folded.
//!
//! Only ever changed in the transaction that saved what was folded.

use crate::journal::{Position, Segments};
use crate::{Store, StoreError};

const FOLDED: &str = "select segment, offset, mark from folded where only_row = 1";
const MOVE: &str = "update folded set segment = ?1, offset = ?2, mark = ?3 where only_row = 1";

impl Store {
    /// Where folding goes on. A journal that was replaced by another begins anew: what is in it was never folded.
    pub fn folded(&self, segments: &Segments) -> Result<Position, StoreError> {
        let mut statement = self.db.prepare_cached(FOLDED)?;
        let (segment, offset, mark): (i64, i64, i64) =
            statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let (segment, offset) = (segment.cast_unsigned(), offset.cast_unsigned());
        let replaced = offset > 0 && segments.mark(segment) != mark.cast_unsigned();
        Ok(Position { segment, offset: if replaced { 0 } else { offset } })
    }

    pub(crate) fn move_folded(&self, to: Position, segments: &Segments) -> Result<(), StoreError> {
        let mark = segments.mark(to.segment).cast_signed();
        self.db.prepare_cached(MOVE)?.execute((to.segment.cast_signed(), to.offset.cast_signed(), mark))?;
        Ok(())
    }

    /// The files of the journal as they are now; whoever holds the fold lock may rely on the list.
    pub(crate) fn segments(&self) -> Result<Segments, StoreError> {
        Segments::list(&self.home).map_err(|source| self.folder_error(source))
    }
}
