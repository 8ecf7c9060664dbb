//! Deletes rows that were withdrawn on another machine; they may be shared again.
//!
//! Leaves no tomb, and deletes no row captured on this machine.

use super::piece_table;
use crate::Result;
use crate::archive::Archive;
use crate::archive::erase::{DROP_TURN, IS_EMPTY};
use crate::archive::memories::DROP;
use crate::query::Query;
use towline_core::share::{RowKind, SharedRow};

const DROP_SUMMARY: &str = "delete from summaries where uid = ?1 returning conversation";
const DROP_NOTE: &str = "delete from others_notes where uid = ?1";
const TURN: &str = "select ordinal from turns where conversation = ?1 and uid = ?2";

impl Archive {
    /// Returns whether a row was deleted.
    pub(super) fn drop_withdrawn(&self, row: &SharedRow) -> Result<bool> {
        match row.kind {
            RowKind::Memory => {
                let Some(number) = self.memory_by_uid(row.uid)? else { return Ok(false) };
                self.note_deletion(number)?;
                for statement in DROP {
                    self.db.change(statement, [number])?;
                }
                self.note_change("memory", number, None)?;
                Ok(true)
            }
            RowKind::Summary => {
                let of: Option<i64> = self.db.first(DROP_SUMMARY, [row.uid.0])?;
                of.map(|of| self.note_change("summary", of, None)).transpose()?;
                Ok(of.is_some())
            }
            RowKind::Bookmark | RowKind::Baton => Ok(self.db.change(DROP_NOTE, [row.uid.0])? > 0),
            RowKind::Proposal => self.drop_proposal(row.uid),
            RowKind::Answer => Ok(false),
            RowKind::Line => self.drop_line(row),
            RowKind::Body | RowKind::Detail => self.drop_piece(row),
        }
    }

    fn drop_line(&self, row: &SharedRow) -> Result<bool> {
        let Some((conversation, false)) = self.captured_conversation(row)? else { return Ok(false) };
        let ordinal: Option<i64> = self.db.first(TURN, (conversation, row.uid.0))?;
        let Some(ordinal) = ordinal else { return Ok(false) };
        for statement in DROP_TURN {
            self.db.change(statement, (conversation, ordinal))?;
        }
        self.finish_conversation(conversation)?;
        Ok(true)
    }

    fn drop_piece(&self, row: &SharedRow) -> Result<bool> {
        let Some(piece) = self.piece_by_uid(row)?.filter(|piece| !piece.is_captured_here) else {
            return Ok(false);
        };
        self.delete_piece(row.kind, piece.id)?;
        self.finish_conversation(piece.conversation)?;
        Ok(true)
    }

    pub(crate) fn delete_piece(&self, kind: RowKind, id: i64) -> Result<usize> {
        self.db.change(&format!("delete from {} where id = ?1", piece_table(kind)), [id])
    }

    /// Deletes the conversation if it is empty.
    fn finish_conversation(&self, conversation: i64) -> Result<()> {
        self.note_change("conversation", conversation, Some(0))?;
        if self.db.value(IS_EMPTY, [conversation])? {
            self.drop_conversation(conversation)?;
        }
        Ok(())
    }
}
