//! Projects that are taken back, and the rows that went with them.
//!
//! A project that leaves is no longer shared: nothing goes and nothing comes. What was taken back is noted before the hub is
//! told, so that it can be given again later under higher stamps.

use super::SharedProject;
use super::stamps::Part;
use crate::StoreError;
use crate::archive::Archive;
use rusqlite::{OptionalExtension, Row};
use towline_core::id::{Mark, Uid};
use towline_core::share::{Life, Register, Registers, RowKind, SharedRow, Stamp};
use towline_core::time::Timestamp;

/// A project that is being taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeavingProject {
    /// The project's row here.
    pub row: i64,
    /// The same for all who share it.
    pub id: Uid,
    pub key: String,
    pub name: String,
    pub since: Timestamp,
}

const BEGIN: &str = "
    insert into leaving_projects (project, id, key, since) values (?1, ?2, ?3, ?4) on conflict do nothing";
const ALL: &str = "
    select l.project, l.id, l.key, p.name, l.since from leaving_projects l join projects p on p.id = l.project
    order by p.name, l.project";
const END: &str = "delete from leaving_projects where project = ?1";
const FORGET_SENT: &str = "delete from sent where project = ?1";
const NOTE: &str = "insert into taken_back (uid, project) values (?1, ?2) on conflict do nothing";
const IS_BACK: &str = "select exists (select 1 from taken_back where uid = ?1)";
/// What is given again is newer than its going.
const RAISE: &str = "
    update stamps set count = count + 1, machine = ?2
    where uid in (select uid from taken_back where project = ?1) and register <> 'pin'";
const GIVEN_AGAIN: &str = "delete from taken_back where uid = ?1";
const RAISED: &str = "delete from taken_back where project = ?1";
const RAISE_TURN: &str =
    "update turns set revision = max(revision, ?3) where at = ?1 and uid = ?2 and machine = ?4";
const RAISE_SUMMARY: &str =
    "update summaries set revision = max(revision, ?2) where uid = ?1 and machine = ?3";
const RAISE_BODY: &str = "update bodies set revision = max(revision, ?2) where id = ?1";
const RAISE_DETAIL: &str = "update details set revision = max(revision, ?2) where id = ?1";
/// A wish to leave the hub once all is taken back, among the archive's facts.
const LEAVE: &str = "hub leave";

impl Archive {
    /// From now on nothing of it goes and nothing comes; what its person gave is to be taken back.
    pub fn begin_leaving(&self, project: &SharedProject, now: Timestamp) -> Result<(), StoreError> {
        self.as_one(|| {
            let row = (project.row, project.id.0, &project.key, now.0);
            self.db.prepare_cached(BEGIN)?.execute(row)?;
            self.unshare_project(project.row).map(drop)
        })
    }

    pub fn leaving_projects(&self) -> Result<Vec<LeavingProject>, StoreError> {
        let mut statement = self.db.prepare_cached(ALL)?;
        let read = |row: &Row<'_>| {
            Ok(LeavingProject {
                row: row.get(0)?,
                id: Uid(row.get(1)?),
                key: row.get(2)?,
                name: row.get(3)?,
                since: Timestamp(row.get(4)?),
            })
        };
        Ok(statement.query_map([], read)?.collect::<Result<_, _>>()?)
    }

    /// All is taken back, or nobody wants it to be any more.
    pub fn end_leaving(&self, project: &LeavingProject) -> Result<(), StoreError> {
        self.as_one(|| {
            self.db.prepare_cached(END)?.execute([project.row])?;
            self.db.prepare_cached(FORGET_SENT)?.execute([project.id.0])?;
            Ok(())
        })
    }

    /// The hub is to be left once nothing is to be taken back any more.
    pub fn wish_to_leave(&self) -> Result<(), StoreError> {
        self.set_fact(LEAVE, "1")
    }

    pub fn wishes_to_leave(&self) -> Result<bool, StoreError> {
        Ok(self.fact(LEAVE)?.is_some_and(|wish| wish == "1"))
    }

    /// Notes rows that are taken back, before the hub is told.
    pub fn note_taken_back(&self, rows: &[SharedRow]) -> Result<(), StoreError> {
        self.as_one(|| rows.iter().try_for_each(|row| self.take_back(row)))
    }

    /// Whether it stays here until its project is shared again.
    pub fn is_taken_back(&self, uid: Uid) -> Result<bool, StoreError> {
        Ok(self.db.prepare_cached(IS_BACK)?.query_row([uid.0], |row| row.get(0))?)
    }

    pub(super) fn take_back(&self, row: &SharedRow) -> Result<(), StoreError> {
        let Life::Lives(registers) = &row.life else { return Ok(()) };
        self.db.prepare_cached(NOTE)?.execute((row.uid.0, row.project.0))?;
        self.set_stamp(row.uid, Part::Presence, registers.presence.stamp)?;
        match row.kind {
            RowKind::Memory => self.take_back_memory(row.uid, registers),
            RowKind::Bookmark | RowKind::Baton => self.set_stamp(row.uid, Part::Words, registers.words.stamp),
            RowKind::Summary | RowKind::Line | RowKind::Body | RowKind::Detail => {
                self.raise_revision(row, registers.words.stamp.count.saturating_add(1))
            }
        }
    }

    fn take_back_memory(&self, uid: Uid, registers: &Registers) -> Result<(), StoreError> {
        let parts = [
            (Part::Words, registers.words.stamp),
            (Part::Standing, registers.standing.stamp),
            (Part::Hold, registers.hold.stamp),
        ];
        let written = parts.into_iter().filter(|(_, stamp)| *stamp != Stamp::NEVER);
        written.into_iter().try_for_each(|(part, stamp)| self.set_stamp(uid, part, stamp))
    }

    /// What was captured here counts how often it was written.
    fn raise_revision(&self, row: &SharedRow, count: u64) -> Result<(), StoreError> {
        let (uid, count, here) = (row.uid, count.cast_signed(), self.machine.0);
        self.clear_stamp(uid, Part::Words)?;
        match row.kind {
            RowKind::Line => {
                self.db.prepare_cached(RAISE_TURN)?.execute((uid.at().0, uid.0, count, here))?;
            }
            RowKind::Summary => {
                self.db.prepare_cached(RAISE_SUMMARY)?.execute((uid.0, count, here))?;
            }
            RowKind::Body | RowKind::Detail => {
                let raise = if row.kind == RowKind::Body { RAISE_BODY } else { RAISE_DETAIL };
                let found = self.piece_by_uid(row)?.filter(|piece| piece.is_captured_here);
                if let Some(piece) = found {
                    self.db.prepare_cached(raise)?.execute((piece.id, count))?;
                }
            }
            RowKind::Memory | RowKind::Bookmark | RowKind::Baton => {}
        }
        Ok(())
    }

    /// A project is shared again: whatever was taken back with it goes again.
    pub(super) fn give_again(&self, project: &SharedProject) -> Result<(), StoreError> {
        self.db.prepare_cached(END)?.execute([project.row])?;
        self.db.prepare_cached(RAISE)?.execute((project.id.0, self.machine.0))?;
        self.db.prepare_cached(RAISED)?.execute([project.id.0])?;
        Ok(())
    }

    /// Another machine of this person has given it again.
    pub(super) fn note_given_again(&self, uid: Uid) -> Result<(), StoreError> {
        self.db.prepare_cached(GIVEN_AGAIN)?.execute([uid.0])?;
        Ok(())
    }

    /// A bookmark or a baton of this machine with the stamps that it has after it was taken back and given again.
    pub fn raised(&self, mut row: SharedRow) -> Result<SharedRow, StoreError> {
        if let Life::Lives(registers) = &mut row.life {
            if let Some(floor) = self.stamp(row.uid, Part::Words)? {
                registers.words.stamp.count = registers.words.stamp.count.saturating_add(floor.count);
            }
            if let Some(stamp) = self.stamp(row.uid, Part::Presence)? {
                registers.presence = Register { stamp, ..registers.presence };
            }
        }
        Ok(row)
    }
}

/// A body or a detail by its global id.
pub(super) struct Piece {
    pub id: i64,
    pub conversation: i64,
    pub is_captured_here: bool,
}

const BODIES: &str = "select id, mark from bodies where conversation = ?1 and at = ?2";
const DETAILS: &str = "select id, mark from details where conversation = ?1 and at = ?2";
const CAPTURED_ON: &str = "select id, machine from conversations where agent = ?1 and session = ?2";

impl Archive {
    /// The conversation of what a session said or did, and whether it was captured here.
    pub(super) fn captured(&self, row: &SharedRow) -> Result<Option<(i64, bool)>, StoreError> {
        let Some(session) = &row.from.session else { return Ok(None) };
        let read = |row: &Row<'_>| Ok((row.get(0)?, Uid(row.get(1)?) == self.machine));
        let named = (session.agent.as_str(), session.id.as_str());
        Ok(self.db.prepare_cached(CAPTURED_ON)?.query_row(named, read).optional()?)
    }

    /// A piece has no id of its own in its table: it is known by what the id was made of.
    pub(super) fn piece_by_uid(&self, row: &SharedRow) -> Result<Option<Piece>, StoreError> {
        let (Some(session), Some((conversation, is_captured_here))) =
            (&row.from.session, self.captured(row)?)
        else {
            return Ok(None);
        };
        let (query, at) = (if row.kind == RowKind::Body { BODIES } else { DETAILS }, row.uid.at());
        let mut statement = self.db.prepare_cached(query)?;
        let known = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, Mark(row.get(1)?)));
        let found = statement.query_map((conversation, at.0), known)?.collect::<Result<Vec<_>, _>>()?;
        let is_it = |mark: Mark| super::piece_uid(row.kind.name(), session, (mark, at)) == row.uid;
        let piece = found.into_iter().find(|(_, mark)| is_it(*mark));
        Ok(piece.map(|(id, _)| Piece { id, conversation, is_captured_here }))
    }
}
