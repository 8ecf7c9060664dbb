//! Outgoing rows of shared projects: memories and tombs, with their registers and provenance.
//!
//! Does not check what the hub already has. The content travels beside the row, because its serialisation is not known
//! here: the row's own words are empty.

use super::stamps::{RegisterId, initial};
use super::tombs::TombFate;
use super::{RowContent, SharedMemory, SharedProject};
use crate::archive::Archive;
use crate::columns::{Columns, from_row, lenient_key};
use crate::query::Query;
use crate::{Result, StoreError};
use rusqlite::Row;
use towline_core::id::{SessionKey, Uid};
use towline_core::memory::{Memory, MemoryTrust};
use towline_core::share::{
    Register, Registers, RowKind, RowLife, RowProvenance, RowReplacement, SharedRow, Visibility, WriteStamp,
};
use towline_core::time::Timestamp;

/// A travelling row and its content; without content if it was forgotten or withdrawn.
#[derive(Clone, Debug, PartialEq)]
pub struct SyncRow<Text> {
    pub row: SharedRow,
    pub words: Option<RowContent<Text>>,
}

const SHARING_COLUMNS: &str = "
    select m.machine, m.person, m.trust, m.superseded_uid, m.presence, m.project, m.session, m.turn, m.branch,
        m.commit_hash
    from memories m where m.id = ?1";
const AFTER: &str = "
    select m.id from memories m join shared_projects s on s.project = m.project where m.id > ?1 order by m.id limit ?2";
const UNSENT_TOMBS: &str = "
    select uid, kind, project, person, machine, session, turn, made_at, at, by, fate from tombs indexed by tombs_untold
    where told = 0 order by uid limit ?1";

/// Columns of a memory's row that `Memory` lacks.
pub(super) struct SharingRow {
    pub machine: Uid,
    pub person: Option<String>,
    pub trust: MemoryTrust,
    pub replaced_by: Option<Uid>,
    pub presence: Visibility,
    project: Option<i64>,
    session: Option<SessionKey>,
    turn: Option<u32>,
    branch: Option<String>,
    commit: Option<String>,
}

impl Archive {
    pub fn sync_memory(&self, number: i64) -> Result<Option<SyncRow<String>>> {
        let (Some(memory), Some(columns)) = (self.memory(number)?, self.sharing_columns(number)?) else {
            return Ok(None);
        };
        let project = columns.project.map(|row| self.shared_project(row)).transpose()?.flatten();
        let Some(project) = project else { return Ok(None) };
        let registers = self.registers_of(&memory, &columns)?;
        let from = RowProvenance {
            person: self.named_or_own(columns.person)?,
            machine: columns.machine,
            session: columns.session,
            turn: columns.turn,
            made_at: memory.made_at,
        };
        let is_private = registers.presence.value == Visibility::Withdrawn;
        let life = RowLife::Lives(Box::new(if is_private { withdrawn(&registers) } else { registers }));
        let row = SharedRow { uid: memory.uid, kind: RowKind::Memory, project: project.id, from, life };
        let words = SharedMemory {
            content: memory.content,
            branch: columns.branch,
            commit: columns.commit,
            maker: memory.maker,
            trust: columns.trust,
            confidence: memory.confidence,
            cost: memory.cost,
            valid_from: memory.valid_from,
        };
        Ok(Some(SyncRow { row, words: (!is_private).then(|| RowContent::Memory(Box::new(words))) }))
    }

    /// The numbers of memories in shared projects after this one, in order.
    pub fn shared_memories_behind(&self, number: i64, most: u32) -> Result<Vec<i64>> {
        self.db.all(AFTER, (number, most))
    }

    /// Tombs that the hub has not received.
    pub fn unsent_tombstones(&self, most: u32) -> Result<Vec<SyncRow<String>>> {
        let own = self.own_person()?;
        let found = self.db.all_with(UNSENT_TOMBS, [most], |row| tomb(row, &own))?;
        found.into_iter().flatten().map(|(row, fate)| self.carried_tomb(row, fate)).collect()
    }

    fn carried_tomb(&self, mut row: SharedRow, fate: TombFate) -> Result<SyncRow<String>> {
        if fate == TombFate::Withdrawn {
            let stamp =
                |register| Ok::<_, StoreError>(self.stamp(row.uid, register)?.unwrap_or(WriteStamp::NEVER));
            let mut registers = Registers::of_words(String::new(), stamp(RegisterId::Words)?);
            registers.presence =
                Register { stamp: stamp(RegisterId::Presence)?, value: Visibility::Withdrawn };
            row.life = RowLife::Lives(Box::new(registers));
        }
        Ok(SyncRow { row, words: None })
    }

    pub(super) fn sharing_columns(&self, number: i64) -> Result<Option<SharingRow>> {
        self.db.first(SHARING_COLUMNS, [number])
    }

    /// The current registers, without the words.
    pub(super) fn registers_of(&self, memory: &Memory, row: &SharingRow) -> Result<Registers> {
        let (uid, made) = (memory.uid, row.machine);
        let standing = memory.superseded.as_ref().map(|superseded| RowReplacement {
            by: row.replaced_by,
            at: superseded.at,
            why: superseded.why.clone(),
        });
        let set_once = |value: bool| initial(value.then_some(()), made);
        let (pin, hold) = (memory.pinned_at, memory.quarantine.clone());
        let is_private = row.presence == Visibility::Withdrawn;
        Ok(Registers {
            words: self.register(uid, RegisterId::Words, set_once(true), String::new())?,
            pin: self.register(uid, RegisterId::Pin, set_once(pin.is_some()), pin)?,
            standing: self.register(uid, RegisterId::Standing, set_once(standing.is_some()), standing)?,
            hold: self.register(uid, RegisterId::Hold, set_once(hold.is_some()), hold)?,
            presence: self.register(uid, RegisterId::Presence, set_once(is_private), row.presence)?,
            found: memory.found,
        })
    }

    /// A register with its stamp; `default` if none is stored.
    fn register<T>(&self, uid: Uid, id: RegisterId, default: WriteStamp, value: T) -> Result<Register<T>> {
        Ok(Register { stamp: self.stamp(uid, id)?.unwrap_or(default), value })
    }

    pub(super) fn named_or_own(&self, person: Option<String>) -> Result<String> {
        person.map_or_else(|| self.own_person(), Ok)
    }

    pub(super) fn provenance(
        &self,
        session: &SentSession<'_>,
        turn: u32,
        made_at: Timestamp,
    ) -> Result<RowProvenance> {
        Ok(RowProvenance {
            person: self.named_or_own(session.person.clone())?,
            machine: session.machine,
            session: Some(session.key.clone()),
            turn: Some(turn),
            made_at,
        })
    }
}

/// A conversation whose rows are sent.
pub(super) struct SentSession<'a> {
    pub key: SessionKey,
    pub person: Option<String>,
    pub machine: Uid,
    pub project: &'a SharedProject,
}

/// Registers that only say that the row existed.
fn withdrawn(registers: &Registers) -> Registers {
    let mut left = Registers::of_words(String::new(), registers.words.stamp);
    left.presence = registers.presence.clone();
    left
}

from_row! { SharingRow {
    machine, person, trust: trust, replaced_by, presence, project, session: lenient_key, turn,
    branch, commit
} }

fn trust(columns: &mut Columns<'_>) -> rusqlite::Result<MemoryTrust> {
    Ok(columns.lenient(MemoryTrust::named)?.unwrap_or(MemoryTrust::Web))
}

/// `None` for a kind or a fate of a newer version.
fn tomb(row: &Row<'_>, own: &str) -> rusqlite::Result<Option<(SharedRow, TombFate)>> {
    let (kind, fate) = (row.get::<_, String>(1)?, row.get::<_, String>(10)?);
    let (Some(kind), Some(fate)) = (RowKind::named(&kind), TombFate::named(&fate)) else { return Ok(None) };
    let session: Option<String> = row.get(5)?;
    let from = RowProvenance {
        person: row.get::<_, Option<String>>(3)?.unwrap_or_else(|| own.to_owned()),
        machine: Uid(row.get(4)?),
        session: session.and_then(|key| SessionKey::parse(&key).ok()),
        turn: row.get(6)?,
        made_at: Timestamp(row.get(7)?),
    };
    let by: String = row.get(9)?;
    let by = if by.is_empty() { own.to_owned() } else { by };
    let life = RowLife::Forgotten { at: Timestamp(row.get(8)?), by };
    Ok(Some((SharedRow { uid: Uid(row.get(0)?), kind, project: Uid(row.get(2)?), from, life }, fate)))
}
