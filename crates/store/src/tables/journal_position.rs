//! How far the journal is folded.
//!
//! Only ever changed in the transaction that saved what was folded.

use crate::journal::Position;
use crate::{Store, StoreError};

const FOLDED: &str = "select segment, offset from folded where only_row = 1";
const MOVE: &str = "update folded set segment = ?1, offset = ?2 where only_row = 1";

impl Store {
    pub fn folded(&self) -> Result<Position, StoreError> {
        let mut statement = self.db.prepare_cached(FOLDED)?;
        let position = |row: &rusqlite::Row<'_>| {
            Ok(Position {
                segment: row.get::<_, i64>(0)?.cast_unsigned(),
                offset: row.get::<_, i64>(1)?.cast_unsigned(),
            })
        };
        Ok(statement.query_row([], position)?)
    }

    pub(crate) fn move_folded(&self, to: Position) -> Result<(), StoreError> {
        self.db.prepare_cached(MOVE)?.execute((to.segment.cast_signed(), to.offset.cast_signed()))?;
        Ok(())
    }
}
