//! Deletes rows that were withdrawn on another machine; they may be shared again.
//!
//! Leaves no tomb, and deletes no row captured on this machine.

use super::leaving::CapturedPiece;
use crate::StoreError;
use crate::archive::Archive;
use crate::archive::erase::{DROP_TURN, IS_EMPTY};
use crate::archive::memories::DROP;
use crate::query::Query;
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
                    self.db.change(statement, [number])?;
                }
                self.note_change("memory", number, None)?;
                Ok(true)
            }
            RowKind::Summary => {
                let of: Option<i64> = self.db.first(DROP_SUMMARY, [row.uid.0], |row| row.get(0))?;
                of.map(|of| self.note_change("summary", of, None)).transpose()?;
                Ok(of.is_some())
            }
            RowKind::Bookmark | RowKind::Baton => Ok(self.db.change(DROP_NOTE, [row.uid.0])? > 0),
            RowKind::Line => self.drop_line(row),
            RowKind::Body => self.drop_piece(row, DROP_BODY),
            RowKind::Detail => self.drop_piece(row, DROP_DETAIL),
        }
    }

    fn drop_line(&self, row: &SharedRow) -> Result<bool, StoreError> {
        let Some((conversation, false)) = self.captured_conversation(row)? else { return Ok(false) };
        let ordinal: Option<i64> = self.db.first(TURN, (conversation, row.uid.0), |row| row.get(0))?;
        let Some(ordinal) = ordinal else { return Ok(false) };
        for statement in DROP_TURN {
            self.db.change(statement, (conversation, ordinal))?;
        }
        self.finish_conversation(conversation)?;
        Ok(true)
    }

    fn drop_piece(&self, row: &SharedRow, drop: &str) -> Result<bool, StoreError> {
        match self.piece_by_uid(row)? {
            Some(CapturedPiece { id, conversation, is_captured_here: false }) => {
                self.db.change(drop, [id])?;
                self.finish_conversation(conversation)?;
                Ok(true)
            }
            Some(_) | None => Ok(false),
        }
    }

    /// Deletes the conversation if it is empty.
    fn finish_conversation(&self, conversation: i64) -> Result<(), StoreError> {
        self.note_change("conversation", conversation, Some(0))?;
        if self.db.value(IS_EMPTY, [conversation])? {
            self.drop_conversation(conversation)?;
        }
        Ok(())
    }
}
