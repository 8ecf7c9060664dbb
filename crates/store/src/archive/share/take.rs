//! Applies rows pulled from the hub, with the project's new cursor, in one transaction.
//!
//! Idempotent and independent of the order: the higher stamp of each register wins. Rows that anyone forgot here are
//! not taken in, nor rows of one person in the place or the session of another's. Trust is capped by the writer.

use super::carry::SyncRow;
use super::sent::SendState;
use super::stamps::{RegisterId, initial};
use super::tombs::{Burial, TombFate};
use super::{RowContent, SharedMemory, SharedProject};
use crate::Result;
use crate::archive::erase::ArchiveEraser;
use crate::archive::memories::NewMemory;
use crate::archive::{Archive, gone};
use crate::columns::values;
use crate::query::Query;
use rusqlite::{Transaction, TransactionBehavior};
use std::collections::BTreeMap;
use towline_core::forget::Forgotten;
use towline_core::memory::{MemoryTrust, suspicion};
use towline_core::share::{Register, Registers, RowKind, RowLife, SharedRow, Visibility, WriteStamp};
use towline_core::text::CleanText;
use towline_core::time::Timestamp;

pub struct PulledRows {
    pub rows: Vec<SyncRow<CleanText<'static>>>,
    /// The project's new cursor.
    pub after: u64,
    pub now: Timestamp,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PullCounts {
    /// New or changed rows.
    pub rows: u32,
    /// Deleted rows: files may hold their text until they are compacted.
    pub gone: u32,
}

/// A pull in progress.
pub(super) struct Pull<'a> {
    pub archive: &'a Archive,
    pub project: &'a SharedProject,
    pub own: String,
    pub now: Timestamp,
    pub done: PullCounts,
    /// Changed conversations, and the first turn that changed.
    pub changed: BTreeMap<i64, u32>,
    forgotten: Forgotten,
    /// The ids of other members' machines.
    others: String,
}

/// `?2` is the row's person, `null` for this user; `?3` and `?4` its session, `null` for a memory, which may cite any.
const IS_ANOTHERS: &str = "select exists (select 1 from memories where uid = ?1 and person is not ?2)
    or exists (select 1 from others_notes where uid = ?1 and person is not ?2)
    or exists (select 1 from proposals where uid = ?1 and person is not ?2)
    or exists (select 1 from summaries s join conversations c on c.id = s.conversation
        where s.uid = ?1 and c.person is not ?2)
    or exists (select 1 from conversations where agent = ?3 and session = ?4 and person is not ?2)";
const IS_STORED: &str = "select exists (select 1 from memories where uid = ?1)
    or exists (select 1 from summaries where uid = ?1) or exists (select 1 from others_notes where uid = ?1)
    or exists (select 1 from proposals where uid = ?1)
    or exists (select 1 from turns where at = ?2 and uid = ?1)";
const BURY: &str = "
    insert into tombs (uid, kind, project, person, machine, session, turn, made_at, at, by, fate, told)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'forgotten', 1)
    on conflict (uid) do update set fate = 'forgotten', told = 1, at = excluded.at, by = excluded.by
    where fate <> 'forgotten' or (excluded.at, excluded.by) <= (at, by)";
const SET_ORIGIN: &str = "
    update memories set branch = ?2, commit_hash = ?3, maker = ?4, trust = ?5, confidence = ?6, cost = ?7, valid_from = ?8
    where id = ?1";
const SET_REGISTERS: &str = "
    update memories set revision = revision + 1, changed_at = max(changed_at, ?2), pinned_at = ?3, superseded_at = ?4,
        superseded_why = ?5, superseded_uid = ?6, superseded_by = (select b.id from memories b where b.uid = ?6),
        quarantine = ?7, presence = ?8, found = ?9
    where id = ?1";
/// Links memories that were superseded by one that had not arrived yet.
const RESOLVE: &str = "
    update memories set superseded_by = ?2 where superseded_uid = ?1 and superseded_by is null
        and superseded_at is not null";

impl Archive {
    /// Applies a pull in one transaction.
    pub fn take(&mut self, project: &SharedProject, arrival: PulledRows) -> Result<PullCounts> {
        let transaction = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        let (done, forgotten) = {
            let mut pull = Pull {
                archive: self,
                project,
                own: self.own_person()?,
                now: arrival.now,
                done: PullCounts::default(),
                changed: BTreeMap::new(),
                forgotten: Forgotten::default(),
                others: self.machines_of_others()?,
            };
            for carried in arrival.rows {
                pull.take(carried)?;
            }
            for (conversation, turn) in &pull.changed {
                self.note_change("conversation", *conversation, Some((*turn).into()))?;
            }
            (pull.done, pull.forgotten)
        };
        self.move_cursor(project.row, arrival.after)?;
        let mut all = self.forgotten.clone();
        if !forgotten.is_empty() {
            all.merge(forgotten);
            gone::save(&self.home, &all)?;
        }
        self.log_memories()?;
        transaction.commit()?;
        self.forgotten = all;
        Ok(done)
    }

    /// Whether a pulled row stands in the place, or in a session, of another person than its own.
    pub fn is_anothers(&self, row: &SharedRow, own: &str) -> Result<bool> {
        let person = Some(row.from.person.as_str()).filter(|person| *person != own);
        let session = row.from.session.as_ref().filter(|_| row.kind != RowKind::Memory);
        let (agent, id) = session.map(|session| (session.agent.as_str(), session.id.as_str())).unzip();
        self.db.value(IS_ANOTHERS, (row.uid.0, person, agent, id))
    }

    /// Whether these rows would delete anything: the files must then be compacted.
    pub fn would_delete(&self, rows: &[SharedRow]) -> Result<bool> {
        for row in rows.iter().filter(|row| !row.is_shared()) {
            let is_piece = matches!(row.kind, RowKind::Body | RowKind::Detail);
            if is_piece || self.db.value(IS_STORED, (row.uid.0, row.uid.at().0))? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Pull<'_> {
    fn take(&mut self, carried: SyncRow<CleanText<'static>>) -> Result<()> {
        let SyncRow { row, words } = carried;
        if self.archive.is_anothers(&row, &self.own)? {
            return Ok(());
        }
        match &row.life {
            RowLife::Forgotten { at, by } => self.forget(&row, *at, by)?,
            RowLife::Lives(registers) if registers.presence.value == Visibility::Withdrawn => {
                self.withdraw(&row, registers)?;
            }
            RowLife::Lives(registers) if self.may_store(&row, registers)? => {
                self.archive.note_shared_again(row.uid)?;
                self.apply(&row, registers, words)?;
            }
            RowLife::Lives(_) => {}
        }
        self.archive.note_one(&row, SendState::Had)
    }

    /// Whether the row may be stored: neither forgotten, nor withdrawn later.
    fn may_store(&self, row: &SharedRow, registers: &Registers) -> Result<bool> {
        let known = self.archive.stamp(row.uid, RegisterId::Presence)?.unwrap_or(WriteStamp::NEVER);
        match self.archive.tombstone_fate(row.uid)? {
            Some(TombFate::Forgotten | TombFate::Away) => Ok(false),
            Some(TombFate::Withdrawn) if registers.presence.stamp <= known => Ok(false),
            Some(TombFate::Withdrawn) => {
                self.archive.remove_tombstone(row.uid)?;
                Ok(true)
            }
            None => Ok(true),
        }
    }

    fn forget(&mut self, row: &SharedRow, at: Timestamp, by: &str) -> Result<()> {
        let from = &row.from;
        self.archive.db.change(
            BURY,
            values! {
                row.uid, row.kind, row.project, self.person(row), from.machine, from.session, from.turn,
                from.made_at, at, by
            },
        )?;
        let burial = Burial { at, by, own_fate: TombFate::Forgotten, others_fate: TombFate::Away };
        let mut eraser = ArchiveEraser::new(self.archive, burial);
        eraser.forget_row(row)?;
        let (gone, forgotten) = eraser.finish()?;
        self.done.gone += u32::try_from(gone).unwrap_or(u32::MAX);
        self.forgotten.merge(forgotten);
        Ok(())
    }

    /// Whether a row withdrawn elsewhere stays here: its presence was written by this machine, or it was captured here.
    /// It is not sent until its project is shared again.
    fn stays_here(&self, row: &SharedRow, presence: WriteStamp) -> bool {
        let here = self.archive.machine;
        presence.machine == here || row.kind != RowKind::Memory && row.from.machine == here
    }

    /// Its owner withdrew it: deletes it, except on the machine that withdrew or captured it.
    fn withdraw(&mut self, row: &SharedRow, registers: &Registers) -> Result<()> {
        let (presence, words) = (registers.presence.stamp, registers.words.stamp);
        let known = self.archive.stamp(row.uid, RegisterId::Presence)?.unwrap_or(WriteStamp::NEVER);
        if presence <= known {
            return Ok(());
        }
        if self.stays_here(row, presence) {
            return self.archive.record_withdrawal(row);
        }
        self.done.gone += u32::from(self.archive.drop_withdrawn(row)?);
        let written = self.archive.stamp(row.uid, RegisterId::Words)?.unwrap_or(WriteStamp::NEVER);
        self.archive.set_stamp(row.uid, RegisterId::Words, written.max(words))?;
        self.archive.set_stamp(row.uid, RegisterId::Presence, presence)
    }

    fn apply(
        &mut self,
        row: &SharedRow,
        registers: &Registers,
        words: Option<RowContent<CleanText<'static>>>,
    ) -> Result<()> {
        let stamp = registers.words.stamp;
        let is_new = match words {
            // Its content is empty, or in a format of a newer version.
            None => false,
            Some(RowContent::Memory(words)) => self.memory(row, registers, &words)?,
            Some(RowContent::Summary(summary)) => self.summary(row, registers, &summary)?,
            Some(RowContent::Line(line)) => self.line(row, stamp, &line)?,
            Some(RowContent::Body(body)) => self.body(row, stamp, *body)?,
            Some(RowContent::Detail(detail)) => self.detail(row, stamp, *detail)?,
            Some(RowContent::Noted(words)) => self.noted(row, stamp, &words)?,
            Some(RowContent::Proposal(words)) => self.proposal(row, &words)?,
            Some(RowContent::Answer(words)) => self.answer(row, words)?,
        };
        self.done.rows += u32::from(is_new);
        Ok(())
    }

    /// The owner of a row; `None` for this user.
    pub(super) fn person<'r>(&self, row: &'r SharedRow) -> Option<&'r str> {
        Some(row.from.person.as_str()).filter(|person| *person != self.own)
    }

    /// Whether another member wrote a register of this user's row: an administrator, or anyone before hubs refused it.
    fn is_by_others(&self, row: &SharedRow, stamp: WriteStamp) -> bool {
        self.person(row).is_none() && self.others.contains(&stamp.machine.to_string())
    }

    /// The part of a memory that its writers may state: others neither pin it for this user, nor speak as this user.
    fn capped(
        &self,
        row: &SharedRow,
        mut remote: Registers,
        words: &SharedMemory,
    ) -> (Registers, SharedMemory) {
        let mut words = words.clone();
        if self.is_by_others(row, remote.words.stamp) {
            words.trust = words.trust.and(MemoryTrust::Team);
        }
        if self.is_by_others(row, remote.pin.stamp) {
            remote.pin = Register::unwritten();
        }
        (remote, words)
    }

    fn memory(&mut self, row: &SharedRow, remote: &Registers, words: &SharedMemory) -> Result<bool> {
        let archive = self.archive;
        let (remote, words) = &self.capped(row, remote.clone(), words);
        let (number, before) = match archive.memory_by_uid(row.uid)? {
            Some(number) => (number, archive.row_json(number)?),
            None => {
                let new = self.as_new(row, words);
                if archive.is_memory_forgotten(&new)? {
                    return Ok(false);
                }
                archive.insert_memory(&new, None, row.from.machine, self.person(row))?;
                let number = archive.db.last_insert_rowid();
                archive.db.change(RESOLVE, (row.uid.0, number))?;
                (number, None)
            }
        };
        let local = match &before {
            Some(_) => self.local_registers(number)?,
            None => Registers { found: 0, ..Registers::of_words(String::new(), WriteStamp::NEVER) },
        };
        let is_rewritten = remote.words.stamp > local.words.stamp;
        let mut merged = local.clone().merged(remote.clone());
        merged.words.value = String::new();
        if is_rewritten {
            archive.set_memory_text(number, &words.content, self.now)?;
            self.put_origin(number, words)?;
            let is_decided = remote.hold.stamp > local.hold.stamp || merged.hold.value.is_some();
            if let Some(why) = self.suspicion(row, remote, words).filter(|_| !is_decided) {
                merged.hold = Register { stamp: merged.hold.stamp.next(archive.machine), value: Some(why) };
            }
        }
        if before.is_some() && merged == local {
            return Ok(false);
        }
        self.write_registers(number, row, &merged)?;
        let by = self.person(row).unwrap_or("another machine").to_owned();
        let what = if before.is_some() { "changed elsewhere" } else { "made" };
        archive.add_memory_history(number, self.now, what, &by, before.as_deref())?;
        archive.note_change("memory", number, None)?;
        Ok(true)
    }

    /// Why a memory that a teammate wrote is suspected of addressing the model.
    fn suspicion(&self, row: &SharedRow, remote: &Registers, words: &SharedMemory) -> Option<String> {
        if self.person(row).is_none() && !self.is_by_others(row, remote.words.stamp) {
            return None;
        }
        let found = suspicion::quarantine_reason(&words.content, words.trust.and(MemoryTrust::Team))?;
        Some(found.why().to_owned())
    }

    fn local_registers(&self, number: i64) -> Result<Registers> {
        let missing = || rusqlite::Error::QueryReturnedNoRows;
        let memory = self.archive.memory(number)?.ok_or_else(missing)?;
        let columns = self.archive.sharing_columns(number)?.ok_or_else(missing)?;
        self.archive.registers_of(&memory, &columns)
    }

    fn as_new(&self, row: &SharedRow, words: &SharedMemory) -> NewMemory {
        NewMemory {
            uid: row.uid,
            content: words.content.clone(),
            project: Some(self.project.row),
            session: row.from.session.clone(),
            turn: row.from.turn,
            branch: words.branch.clone(),
            commit: words.commit.clone(),
            maker: words.maker.clone(),
            trust: words.trust,
            confidence: words.confidence,
            cost: words.cost,
            at: row.from.made_at,
            valid_from: words.valid_from,
            quarantine: None,
        }
    }

    fn put_origin(&self, number: i64, words: &SharedMemory) -> Result<()> {
        self.archive.db.run(
            SET_ORIGIN,
            values! {
                number, words.branch, words.commit, words.maker, words.trust, words.confidence, words.cost,
                words.valid_from
            },
        )
    }

    fn write_registers(&self, number: i64, row: &SharedRow, merged: &Registers) -> Result<()> {
        let standing = merged.standing.value.as_ref();
        self.archive.db.change(
            SET_REGISTERS,
            values! {
                number, self.now, merged.pin.value, standing.map(|replaced| replaced.at),
                standing.map(|replaced| &replaced.why), standing.and_then(|replaced| replaced.by),
                merged.hold.value, merged.presence.value, merged.found.max(1)
            },
        )?;
        let machine = row.from.machine;
        let private = (merged.presence.value == Visibility::Withdrawn).then_some(());
        let held = merged.hold.value.as_ref();
        let stamps = [
            (RegisterId::Words, merged.words.stamp, initial(Some(()), machine)),
            (RegisterId::Pin, merged.pin.stamp, initial(merged.pin.value, machine)),
            (RegisterId::Standing, merged.standing.stamp, initial(standing, machine)),
            (RegisterId::Hold, merged.hold.stamp, initial(held, machine)),
            (RegisterId::Presence, merged.presence.stamp, initial(private, machine)),
        ];
        for (register, stamp, default) in stamps {
            // Only stamps that do not follow from the row are stored.
            if stamp == default {
                self.archive.clear_stamp(row.uid, register)?;
            } else {
                self.archive.set_stamp(row.uid, register, stamp)?;
            }
        }
        Ok(())
    }
}
