//! Projects that are being withdrawn, and their withdrawn rows.
//!
//! A leaving project is no longer exchanged. A withdrawal is recorded before the hub is notified, so that the row can be
//! shared again later with a higher stamp.

use super::stamps::RegisterId;
use super::{SharedProject, piece_table};
use crate::Result;
use crate::archive::Archive;
use crate::columns::from_row;
use crate::query::Query;
use towline_core::id::{IdHash, Uid};
use towline_core::share::{Register, Registers, RowKind, RowLife, SharedRow, WriteStamp};
use towline_core::time::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithdrawingProject {
    /// The project's row here.
    pub row: i64,
    /// The same on all machines.
    pub id: Uid,
    pub key: String,
    pub name: String,
    pub since: Timestamp,
}

from_row!(WithdrawingProject { row, id, key, name, since });

/// A body or a detail by its global id.
pub(crate) struct CapturedPiece {
    pub id: i64,
    pub conversation: i64,
    pub mark: IdHash,
    pub is_captured_here: bool,
}

const BEGIN: &str = "
    insert into leaving_projects (project, id, key, since) values (?1, ?2, ?3, ?4) on conflict do nothing";
const ALL: &str = "
    select l.project, l.id, l.key, p.name, l.since from leaving_projects l join projects p on p.id = l.project
    order by p.name, l.project";
const END: &str = "delete from leaving_projects where project = ?1";
const FORGET_SENT: &str = "delete from sent where project = ?1";
const NOTE_WITHDRAWN: &str = "insert into taken_back (uid, project) values (?1, ?2) on conflict do nothing";
const IS_WITHDRAWN: &str = "select exists (select 1 from taken_back where uid = ?1)";
/// A row shared again must be newer than its withdrawal.
const RAISE_STAMPS: &str = "
    update stamps set count = count + 1, machine = ?2
    where uid in (select uid from taken_back where project = ?1) and register <> 'pin'";
const SHARED_AGAIN: &str = "delete from taken_back where uid = ?1";
const ALL_SHARED_AGAIN: &str = "delete from taken_back where project = ?1";
const RAISE_TURN: &str =
    "update turns set revision = max(revision, ?3) where at = ?1 and uid = ?2 and machine = ?4";
const RAISE_SUMMARY: &str =
    "update summaries set revision = max(revision, ?2) where uid = ?1 and machine = ?3";
const CAPTURED_ON: &str = "select id, machine from conversations where agent = ?1 and session = ?2";
/// The fact that asks to leave the hub once all rows are withdrawn.
const LEAVE: &str = "hub leave";

impl Archive {
    /// Stops the exchange of a project, whose user's rows are then to be withdrawn.
    pub fn begin_withdrawal(&self, project: &SharedProject, now: Timestamp) -> Result<()> {
        self.in_transaction(|| {
            let row = (project.row, project.id.0, &project.key, now.0);
            self.db.change(BEGIN, row)?;
            self.drop_proposals_of(project.row)?;
            self.unshare_project(project.row).map(drop)
        })
    }

    pub fn leaving_projects(&self) -> Result<Vec<WithdrawingProject>> {
        self.db.all(ALL, [])
    }

    /// Ends a withdrawal that is complete or was cancelled.
    pub fn end_leaving(&self, project: &WithdrawingProject) -> Result<()> {
        self.in_transaction(|| {
            self.db.change(END, [project.row])?;
            self.db.run(FORGET_SENT, [project.id.0])
        })
    }

    /// Requests leaving the hub once all rows are withdrawn.
    pub fn request_leave(&self) -> Result<()> {
        self.set_fact(LEAVE, "1")
    }

    pub fn is_leave_requested(&self) -> Result<bool> {
        Ok(self.fact(LEAVE)?.is_some_and(|wish| wish == "1"))
    }

    /// Records withdrawn rows, before the hub is notified.
    pub fn note_taken_back(&self, rows: &[SharedRow]) -> Result<()> {
        self.in_transaction(|| rows.iter().try_for_each(|row| self.record_withdrawal(row)))
    }

    /// Whether it stays here, unsent, until its project is shared again.
    pub fn is_withdrawn(&self, uid: Uid) -> Result<bool> {
        self.db.value(IS_WITHDRAWN, [uid.0])
    }

    pub(super) fn record_withdrawal(&self, row: &SharedRow) -> Result<()> {
        let RowLife::Lives(registers) = &row.life else { return Ok(()) };
        self.db.change(NOTE_WITHDRAWN, (row.uid.0, row.project.0))?;
        self.set_stamp(row.uid, RegisterId::Presence, registers.presence.stamp)?;
        match row.kind {
            RowKind::Memory => self.record_memory_withdrawal(row.uid, registers),
            RowKind::Bookmark | RowKind::Baton | RowKind::Proposal | RowKind::Answer => {
                self.set_stamp(row.uid, RegisterId::Words, registers.words.stamp)
            }
            RowKind::Summary | RowKind::Line | RowKind::Body | RowKind::Detail => {
                self.raise_revision(row, registers.words.stamp.count.saturating_add(1))
            }
        }
    }

    fn record_memory_withdrawal(&self, uid: Uid, registers: &Registers) -> Result<()> {
        let parts = [
            (RegisterId::Words, registers.words.stamp),
            (RegisterId::Standing, registers.standing.stamp),
            (RegisterId::Hold, registers.hold.stamp),
        ];
        let mut written = parts.into_iter().filter(|(_, stamp)| *stamp != WriteStamp::NEVER);
        written.try_for_each(|(part, stamp)| self.set_stamp(uid, part, stamp))
    }

    /// Captured rows count their writes in `revision`.
    fn raise_revision(&self, row: &SharedRow, count: u64) -> Result<()> {
        let (uid, count, here) = (row.uid, count.cast_signed(), self.machine.0);
        self.clear_stamp(uid, RegisterId::Words)?;
        match row.kind {
            RowKind::Line => self.db.run(RAISE_TURN, (uid.at().0, uid.0, count, here)),
            RowKind::Summary => self.db.run(RAISE_SUMMARY, (uid.0, count, here)),
            RowKind::Body | RowKind::Detail => match self.piece_by_uid(row)? {
                Some(piece) if piece.is_captured_here => {
                    let table = piece_table(row.kind);
                    let raise = format!("update {table} set revision = max(revision, ?2) where id = ?1");
                    self.db.run(&raise, (piece.id, count))
                }
                Some(_) | None => Ok(()),
            },
            RowKind::Memory | RowKind::Bookmark | RowKind::Baton | RowKind::Proposal | RowKind::Answer => {
                Ok(())
            }
        }
    }

    /// A project is shared again: its withdrawn rows are sent again.
    pub(super) fn share_again(&self, project: &SharedProject) -> Result<()> {
        self.db.change(END, [project.row])?;
        self.db.change(RAISE_STAMPS, (project.id.0, self.machine.0))?;
        self.db.run(ALL_SHARED_AGAIN, [project.id.0])
    }

    /// Another machine of this user has shared it again.
    pub(super) fn note_shared_again(&self, uid: Uid) -> Result<()> {
        self.db.run(SHARED_AGAIN, [uid.0])
    }

    /// A bookmark or baton of this machine with the stamps it has after being withdrawn and shared again.
    pub fn raised(&self, mut row: SharedRow) -> Result<SharedRow> {
        if let RowLife::Lives(registers) = &mut row.life {
            if let Some(floor) = self.stamp(row.uid, RegisterId::Words)? {
                registers.words.stamp.count = registers.words.stamp.count.saturating_add(floor.count);
            }
            if let Some(stamp) = self.stamp(row.uid, RegisterId::Presence)? {
                registers.presence = Register { stamp, ..registers.presence };
            }
        }
        Ok(row)
    }

    /// The conversation of a session's row, and whether it was captured here.
    pub(super) fn captured_conversation(&self, row: &SharedRow) -> Result<Option<(i64, bool)>> {
        let Some(session) = &row.from.session else { return Ok(None) };
        let named = (session.agent.as_str(), session.id.as_str());
        let found: Option<(i64, Uid)> = self.db.first(CAPTURED_ON, named)?;
        Ok(found.map(|(id, machine)| (id, machine == self.machine)))
    }

    /// Pieces have no id column: the id is derived again from mark and time.
    pub(crate) fn piece_by_uid(&self, row: &SharedRow) -> Result<Option<CapturedPiece>> {
        let (Some(session), Some((conversation, is_captured_here))) =
            (&row.from.session, self.captured_conversation(row)?)
        else {
            return Ok(None);
        };
        let (table, at) = (piece_table(row.kind), row.uid.at());
        let query = format!("select id, mark from {table} where conversation = ?1 and at = ?2");
        let found: Vec<(i64, IdHash)> = self.db.all(&query, (conversation, at.0))?;
        let has_uid = |mark: IdHash| super::piece_uid(row.kind.name(), session, mark, at) == row.uid;
        let piece = found.into_iter().find(|(_, mark)| has_uid(*mark));
        Ok(piece.map(|(id, mark)| CapturedPiece { id, conversation, mark, is_captured_here }))
    }
}
