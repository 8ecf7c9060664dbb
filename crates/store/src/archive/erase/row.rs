//! Erases one row by its global id, because it was forgotten on another machine.
//!
//! Works as if it had been forgotten here, with all dependent rows, so that no capture brings it back. A missing row is
//! not an error.

use super::ArchiveEraser;
use crate::Result;
use crate::query::Query;
use towline_core::forget::{Forgotten, TimeRange};
use towline_core::id::IdHash;
use towline_core::share::{RowKind, SharedRow};

const TURN: &str = "select ordinal, mark, at, until from turns where conversation = ?1 and uid = ?2";
const DROP_SUMMARY: &str = "delete from summaries where uid = ?1";
const DROP_ELSEWHERE: &str = "delete from others_notes where uid = ?1";

impl ArchiveEraser<'_> {
    /// Erases one row of any kind.
    pub(crate) fn forget_row(&mut self, row: &SharedRow) -> Result<()> {
        match row.kind {
            RowKind::Memory => match self.archive.memory_by_uid(row.uid)? {
                Some(number) => self.erase_memory(number),
                None => Ok(()),
            },
            RowKind::Line => self.erase_turn(row),
            RowKind::Body | RowKind::Detail => self.erase_piece(row),
            RowKind::Summary => {
                self.erased.memories += self.archive.db.change(DROP_SUMMARY, [row.uid.0])?;
                Ok(())
            }
            RowKind::Proposal => {
                self.erased.others += usize::from(self.archive.drop_proposal(row.uid)?);
                Ok(())
            }
            RowKind::Answer => Ok(()),
            RowKind::Bookmark | RowKind::Baton => {
                self.erased.others += self.archive.db.change(DROP_ELSEWHERE, [row.uid.0])?;
                Ok(())
            }
        }
    }

    /// Returns the number of erased rows, and the marks that keep them away.
    pub(crate) fn finish(mut self) -> Result<(usize, Forgotten)> {
        self.drop_taken_facts()?;
        let gone = self.erased;
        let rows = gone.conversations + gone.turns + gone.bodies + gone.details + gone.memories + gone.others;
        Ok((rows, self.forgotten))
    }

    fn erase_turn(&mut self, row: &SharedRow) -> Result<()> {
        let Some(session) = &row.from.session else { return Ok(()) };
        let Some(conversation) = self.archive.conversation(session)?.map(|found| found.row()) else {
            return Ok(());
        };
        let found = self.archive.db.first::<(i64, IdHash, TimeRange)>(TURN, (conversation, row.uid.0))?;
        let Some((ordinal, mark, stretch)) = found else { return Ok(()) };
        self.forgotten.add_turn(session, mark, stretch);
        self.drop_turn(conversation, ordinal, None)?;
        self.finish_conversation(conversation)
    }

    fn erase_piece(&mut self, row: &SharedRow) -> Result<()> {
        let (Some(session), Some(piece)) = (&row.from.session, self.archive.piece_by_uid(row)?) else {
            return Ok(());
        };
        self.forgotten.add_piece(session, piece.mark);
        let dropped = self.archive.delete_piece(row.kind, piece.id)?;
        let is_body = row.kind == RowKind::Body;
        *(if is_body { &mut self.erased.bodies } else { &mut self.erased.details }) += dropped;
        self.finish_conversation(piece.conversation)
    }
}
