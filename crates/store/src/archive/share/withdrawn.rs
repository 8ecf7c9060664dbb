//! Deletes rows that were withdrawn on another machine; they may be shared again.
//!
//! Leaves no tomb, and deletes no row captured on this machine.

use super::leaving::CapturedPiece;
use crate::StoreError;
use crate::archive::Archive;
use crate::archive::erase::{DROP_TURN, IS_EMPTY};
use crate::archive::memories::DROP;
use rusqlite::OptionalExtension;
use towline_core::share::{RowKind, SharedRow};

const DROP_SUMMARY: &str = "delete from summaries where uid = ?1 returning conversation";
const DROP_NOTE: &str = "delete from others_notes where uid = ?1";
const TURN: &str = "select ordinal from turns where conversation = ?1 and uid = ?2";
const DROP_BODY: &str = "delete from bodies where id = ?1";
const DROP_DETAIL: &str = "delete from details where id = ?1";

impl Archive {
    /// Returns whether a row was deleted.
    pub(super) fn drop_withdrawn(&self, row: &SharedRow) -> Result<bool, StoreError> {
        match row.kind {
            RowKind::Memory => {
                let Some(number) = self.memory_by_uid(row.uid)? else { return Ok(false) };
                for statement in DROP {
                    self.db.prepare_cached(statement)?.execute([number])?;
                }
                self.note_change("memory", number, None)?;
                Ok(true)
            }
            RowKind::Summary => {
                let mut statement = self.db.prepare_cached(DROP_SUMMARY)?;
                let of: Option<i64> = statement.query_row([row.uid.0], |row| row.get(0)).optional()?;
                of.map(|of| self.note_change("summary", of, None)).transpose()?;
                Ok(of.is_some())
            }
            RowKind::Bookmark | RowKind::Baton => {
                Ok(self.db.prepare_cached(DROP_NOTE)?.execute([row.uid.0])? > 0)
            }
            RowKind::Line => self.drop_line(row),
            RowKind::Body => self.drop_piece(row, DROP_BODY),
            RowKind::Detail => self.drop_piece(row, DROP_DETAIL),
        }
    }

    fn drop_line(&self, row: &SharedRow) -> Result<bool, StoreError> {
        let Some((conversation, false)) = self.captured_conversation(row)? else { return Ok(false) };
        let mut find = self.db.prepare_cached(TURN)?;
        let ordinal: Option<i64> = find.query_row((conversation, row.uid.0), |row| row.get(0)).optional()?;
        let Some(ordinal) = ordinal else { return Ok(false) };
        for statement in DROP_TURN {
            self.db.prepare_cached(statement)?.execute((conversation, ordinal))?;
        }
        self.finish_conversation(conversation)?;
        Ok(true)
    }

    fn drop_piece(&self, row: &SharedRow, drop: &str) -> Result<bool, StoreError> {
        match self.piece_by_uid(row)? {
            Some(CapturedPiece { id, conversation, is_captured_here: false }) => {
                self.db.prepare_cached(drop)?.execute([id])?;
                self.finish_conversation(conversation)?;
                Ok(true)
            }
            Some(_) | None => Ok(false),
        }
    }

    /// Deletes the conversation if it is empty.
    fn finish_conversation(&self, conversation: i64) -> Result<(), StoreError> {
        self.note_change("conversation", conversation, Some(0))?;
        if self.db.prepare_cached(IS_EMPTY)?.query_row([conversation], |row| row.get(0))? {
            self.drop_conversation(conversation)?;
        }
        Ok(())
    }
}
