//! Erases one row by its global id, because it was forgotten on another machine.
//!
//! Works as if it had been forgotten here, with all dependent rows, so that no capture brings it back. A missing row is
//! not an error.

use super::ArchiveEraser;
use crate::StoreError;
use crate::archive::share::piece_uid;
use crate::query::Query;
use rusqlite::Row;
use towline_core::forget::{Forgotten, TimeRange};
use towline_core::id::{IdHash, SessionKey};
use towline_core::share::{RowKind, SharedRow};
use towline_core::time::Timestamp;

const TURN: &str = "select ordinal, mark, at, until from turns where conversation = ?1 and uid = ?2";
const BODIES: &str = "select id, mark from bodies where conversation = ?1 and at = ?2";
const DETAILS: &str = "select id, mark from details where conversation = ?1 and at = ?2";
const DROP_BODY: &str = "delete from bodies where id = ?1";
const DROP_DETAIL: &str = "delete from details where id = ?1";
const DROP_SUMMARY: &str = "delete from summaries where uid = ?1";
const DROP_ELSEWHERE: &str = "delete from others_notes where uid = ?1";

impl ArchiveEraser<'_> {
    /// Erases one row of any kind.
    pub(in crate::archive) fn forget_row(&mut self, row: &SharedRow) -> Result<(), StoreError> {
        match row.kind {
            RowKind::Memory => match self.archive.memory_by_uid(row.uid)? {
                Some(number) => self.erase_memory(number),
                None => Ok(()),
            },
            RowKind::Line => self.erase_turn(row),
            RowKind::Body => {
                self.erased.bodies += self.erase_piece(row, BODIES, DROP_BODY)?;
                Ok(())
            }
            RowKind::Detail => {
                self.erased.details += self.erase_piece(row, DETAILS, DROP_DETAIL)?;
                Ok(())
            }
            RowKind::Summary => {
                self.erased.memories += self.archive.db.change(DROP_SUMMARY, [row.uid.0])?;
                Ok(())
            }
            RowKind::Bookmark | RowKind::Baton => {
                self.erased.others += self.archive.db.change(DROP_ELSEWHERE, [row.uid.0])?;
                Ok(())
            }
        }
    }

    /// Returns the number of erased rows, and the marks that keep them away.
    pub(in crate::archive) fn finish(mut self) -> Result<(usize, Forgotten), StoreError> {
        self.drop_taken_facts()?;
        let gone = self.erased;
        let rows = gone.conversations + gone.turns + gone.bodies + gone.details + gone.memories + gone.others;
        Ok((rows, self.forgotten))
    }

    fn conversation_of(&self, row: &SharedRow) -> Result<Option<(i64, SessionKey)>, StoreError> {
        let Some(session) = &row.from.session else { return Ok(None) };
        Ok(self.archive.conversation(session)?.map(|found| (found.row(), session.clone())))
    }

    fn erase_turn(&mut self, row: &SharedRow) -> Result<(), StoreError> {
        let Some((conversation, session)) = self.conversation_of(row)? else { return Ok(()) };
        let read = |row: &Row<'_>| {
            let stretch = TimeRange { from: Timestamp(row.get(2)?), until: Timestamp(row.get(3)?) };
            Ok((row.get::<_, i64>(0)?, IdHash(row.get(1)?), stretch))
        };
        let found = self.archive.db.first(TURN, (conversation, row.uid.0), read)?;
        let Some((ordinal, mark, stretch)) = found else { return Ok(()) };
        self.forgotten.add_turn(&session, mark, stretch);
        self.drop_turn(conversation, ordinal)?;
        self.finish_conversation(conversation)
    }

    /// Pieces have no id column: the id is derived again from mark and time.
    fn erase_piece(&mut self, row: &SharedRow, find: &str, drop: &str) -> Result<usize, StoreError> {
        let Some((conversation, session)) = self.conversation_of(row)? else { return Ok(0) };
        let at = row.uid.at();
        let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, IdHash(row.get(1)?)));
        let found = self.archive.db.all(find, (conversation, at.0), read)?;
        let has_uid = |mark: IdHash| piece_uid(row.kind.name(), &session, mark, at) == row.uid;
        let Some((id, mark)) = found.into_iter().find(|(_, mark)| has_uid(*mark)) else { return Ok(0) };
        self.forgotten.add_piece(&session, mark);
        let dropped = self.archive.db.change(drop, [id])?;
        self.finish_conversation(conversation)?;
        Ok(dropped)
    }
}
