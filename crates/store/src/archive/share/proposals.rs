//! Proposals of teammates to change a memory: those of this user, those that this user decides on, and the answers.
//!
//! A proposal never changes after it was taken in: the user decides on the text that was listed. One that was withdrawn
//! does not come back. It is stored only if the memory is this user's or not known yet, and only a bounded number of each
//! member.

use super::stamps::RegisterId;
use super::take::Pull;
use super::{RowContent, SharedAnswer, SharedProposal, SyncRow};
use crate::Result;
use crate::archive::Archive;
use crate::columns::{from_row, values};
use crate::query::Query;
use towline_core::id::Uid;
use towline_core::memory::{MemoryContent, ProposalFate};
use towline_core::share::{
    Register, Registers, RowKind, RowLife, RowProvenance, SharedRow, Visibility, WriteStamp,
};
use towline_core::time::Timestamp;

/// Open proposals of one member that are kept; more would bury the important ones.
pub const MOST_OPEN_PROPOSALS: u32 = 20;

/// A proposal as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamProposal {
    /// The number in its name, `p12`.
    pub number: i64,
    pub uid: Uid,
    /// The proposer; `None` for this user.
    pub person: Option<String>,
    /// The member who decides; `None` for this user, or if that is not known here.
    pub owner: Option<String>,
    /// The memory's number, if it is here.
    pub memory: Option<i64>,
    /// JSON as received; empty once the text is no longer needed.
    pub change: String,
    pub made_at: Timestamp,
    pub fate: Option<ProposalFate>,
}

from_row!(TeamProposal { number, uid, person, owner, memory, change, made_at, fate });

/// A proposal of this user.
#[derive(Clone, Debug)]
pub struct NewProposal<'a> {
    pub uid: Uid,
    /// The memory that would change.
    pub memory: Uid,
    /// The row of its project.
    pub project: i64,
    pub owner: &'a str,
    pub change: &'a str,
}

/// A row that the hub does not have yet.
struct UntoldRow {
    uid: Uid,
    project: Uid,
    person: Option<String>,
    machine: Uid,
    memory: Uid,
    change: String,
    made_at: Timestamp,
    fate: Option<ProposalFate>,
    fate_at: Option<Timestamp>,
    answer: Option<Uid>,
}

from_row!(UntoldRow { uid, project, person, machine, memory, change, made_at, fate, fate_at, answer });

const ALL: &str = "
    select p.id, p.uid, p.person, ifnull(p.owner, m.person), m.id, p.change, p.made_at, p.fate
    from proposals p left join memories m on m.uid = p.memory and m.project = p.project";
/// Those of teammates for memories of this user.
const TO_DECIDE: &str = "p.person is not null and p.fate is null and m.id is not null and m.person is null";
const OPEN: &str = "
    select count(*) from proposals p join memories m on m.uid = p.memory and m.project = p.project
    where p.person is not null and p.fate is null and m.person is null";
const OPEN_OF: &str = "select count(*) from proposals where fate is null and person is ?1";
const SAME: &str = "
    select id from proposals where person is null and fate is null and memory = ?1 and change = ?2 limit 1";
const OWNER: &str = "select person from memories where uid = ?1 and project = ?2";
const ADD: &str = "
    insert into proposals (uid, project, person, owner, machine, memory, change, made_at, told)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) on conflict (uid) do nothing";
const DECIDE: &str = "
    update proposals set fate = ?2, fate_at = ?3, answer = ?4, change = '', told = 0
    where id = ?1 and fate is null and person is not null";
const WITHDRAW: &str = "
    update proposals set fate = 'withdrawn', fate_at = ?2, change = '', told = 0
    where id = ?1 and person is null and fate is null";
/// `?2` is the name of who answers: only the owner of the memory is believed.
const ANSWERED: &str = "
    update proposals set fate = ?3, fate_at = ?4 where uid = ?1 and fate is null and person is null
        and ifnull(owner, (select m.person from memories m where m.uid = memory)) = ?2";
const ANSWERED_ELSEWHERE: &str = "
    update proposals set fate = ?2, fate_at = ?3, change = '' where uid = ?1 and fate is null and person is not null
        and exists (select 1 from memories m where m.uid = memory and m.person is null)";
const UNTOLD: &str = "
    select p.uid, s.id, p.person, p.machine, p.memory, p.change, p.made_at, p.fate, p.fate_at, p.answer
    from proposals p join shared_projects s on s.project = p.project where p.told = 0 order by p.id";
const TOLD: &str = "
    update proposals set told = 1
    where answer = ?1 or uid = ?1 and person is null and (fate is 'withdrawn') = ?2";
const DROP: &str = "delete from proposals where uid = ?1";
const DROP_PROJECT: &str = "delete from proposals where project = ?1";
/// A teammate's text is never the user's own word, whatever it replaces.
const CAP_TRUST: &str = "update memories set trust = 'team' where id = ?1 and trust in ('person', 'agent')";

impl Archive {
    /// The owner of a memory whose changes are to be proposed, and the row of its project; `None` if it is this user's
    /// own, or no longer shared.
    pub fn asks_owner(&self, number: i64) -> Result<Option<(String, i64)>> {
        const QUERY: &str = "
            select m.person, m.project from memories m join shared_projects s on s.project = m.project
            where m.id = ?1 and m.person is not null";
        self.db.first(QUERY, [number])
    }

    /// Stores a proposal of this user. `None` if the same one is open already.
    pub fn propose_change(&self, new: &NewProposal<'_>, at: Timestamp) -> Result<Option<i64>> {
        self.in_transaction(|| {
            if self.same_proposal(new.memory, new.change)?.is_some() {
                return Ok(None);
            }
            let nobody: Option<&str> = None;
            let row = values![
                new.uid,
                new.project,
                nobody,
                new.owner,
                self.machine,
                new.memory,
                new.change,
                at,
                0_i64
            ];
            self.db.change(ADD, row)?;
            Ok(Some(self.db.last_insert_rowid()))
        })
    }

    /// This user's open proposal with the same change.
    pub fn same_proposal(&self, memory: Uid, change: &str) -> Result<Option<i64>> {
        self.db.first(SAME, (memory.0, change))
    }

    /// How many proposals of this user are open.
    pub fn own_open_proposals(&self) -> Result<u32> {
        self.db.value(OPEN_OF, [None::<String>])
    }

    /// How many proposals of teammates wait for this user, in all projects.
    pub fn count_team_proposals(&self) -> Result<u32> {
        self.db.value(OPEN, [])
    }

    /// The proposals of teammates that this user decides on, of one project or of all, by member.
    pub fn proposals_to_decide(&self, project: Option<i64>) -> Result<Vec<TeamProposal>> {
        let query =
            format!("{ALL} where {TO_DECIDE} and (?1 is null or p.project = ?1) order by p.person, p.id");
        self.db.all(&query, [project])
    }

    /// This user's proposals that are open, or were answered since then.
    pub fn own_proposals(&self, project: Option<i64>, since: Timestamp) -> Result<Vec<TeamProposal>> {
        let query = format!(
            "{ALL} where p.person is null and (?1 is null or p.project = ?1) and p.fate is not 'withdrawn'
                and (p.fate is null or p.fate_at >= ?2) order by p.id"
        );
        self.db.all(&query, (project, since.0))
    }

    pub fn team_proposal(&self, number: i64) -> Result<Option<TeamProposal>> {
        self.db.first(&format!("{ALL} where p.id = ?1"), [number])
    }

    /// Records this user's answer to a teammate's proposal. False if it is not open.
    pub fn decide_proposal(
        &self,
        number: i64,
        fate: ProposalFate,
        answer: Uid,
        at: Timestamp,
    ) -> Result<bool> {
        Ok(self.db.change(DECIDE, (number, fate.name(), at.0, answer.0))? > 0)
    }

    /// Takes back a proposal of this user. False if it is not open.
    pub fn withdraw_proposal(&self, number: i64, at: Timestamp) -> Result<bool> {
        Ok(self.db.change(WITHDRAW, (number, at.0))? > 0)
    }

    /// Replaces the words of a memory by a teammate's, which lowers its trust to a teammate's.
    pub fn edit_by_teammate(
        &self,
        number: i64,
        content: &MemoryContent,
        at: Timestamp,
        person: &str,
    ) -> Result<bool> {
        let why = format!("proposed by {person}");
        self.change_memory(number, at, "edited", &why, || {
            self.db.change(CAP_TRUST, [number])?;
            self.set_memory_text(number, content, at)
        })
    }

    /// Proposals and answers that the hub does not have yet.
    pub fn unsent_proposals(&self) -> Result<Vec<SyncRow<String>>> {
        let own = self.own_person()?;
        let rows: Vec<UntoldRow> = self.db.all(UNTOLD, [])?;
        Ok(rows.into_iter().filter_map(|row| row.carried(&own, self.machine)).collect())
    }

    /// Records that the hub has a proposal or an answer.
    pub(super) fn note_proposal_sent(&self, row: &SharedRow) -> Result<()> {
        self.db.run(TOLD, (row.uid.0, !row.is_shared()))
    }

    pub(crate) fn drop_proposal(&self, uid: Uid) -> Result<bool> {
        Ok(self.db.change(DROP, [uid.0])? > 0)
    }

    pub(super) fn drop_proposals_of(&self, project: i64) -> Result<()> {
        self.db.run(DROP_PROJECT, [project])
    }
}

impl UntoldRow {
    fn carried(self, own: &str, here: Uid) -> Option<SyncRow<String>> {
        let first = WriteStamp::NEVER.next(here);
        let (uid, kind, machine, made_at, registers, words) = match (self.person, self.fate) {
            (None, Some(ProposalFate::Withdrawn)) => {
                let mut registers = Registers::of_words(String::new(), first.next(here));
                registers.presence = Register { stamp: first, value: Visibility::Withdrawn };
                (self.uid, RowKind::Proposal, self.machine, self.made_at, registers, None)
            }
            (None, _) => {
                let words = SharedProposal { memory: self.memory, change: self.change };
                let words = Some(RowContent::Proposal(Box::new(words)));
                let registers = Registers::of_words(String::new(), WriteStamp::NEVER.next(self.machine));
                (self.uid, RowKind::Proposal, self.machine, self.made_at, registers, words)
            }
            (Some(_), fate) => {
                let words = RowContent::Answer(SharedAnswer { proposal: self.uid, fate: fate? });
                let registers = Registers::of_words(String::new(), first);
                (self.answer?, RowKind::Answer, here, self.fate_at?, registers, Some(words))
            }
        };
        let (session, turn) = (None, None);
        let from = RowProvenance { person: own.to_owned(), machine, session, turn, made_at };
        let life = RowLife::Lives(Box::new(registers));
        Some(SyncRow { row: SharedRow { uid, kind, project: self.project, from, life }, words })
    }
}

impl Pull<'_> {
    pub(super) fn proposal(&mut self, row: &SharedRow, words: &SharedProposal) -> Result<bool> {
        let (archive, person) = (self.archive, self.person(row));
        let owner: Option<Option<String>> = archive.db.first(OWNER, (words.memory.0, self.project.row))?;
        let is_for_others = matches!((person, owner), (Some(_), Some(Some(_))) | (None, Some(None)));
        let was_withdrawn = archive.stamp(row.uid, RegisterId::Presence)?.is_some();
        if is_for_others || was_withdrawn || self.has_enough_of(person)? {
            return Ok(false);
        }
        let owner: Option<&str> = None;
        let row = values![
            row.uid,
            self.project.row,
            person,
            owner,
            row.from.machine,
            words.memory,
            words.change,
            row.from.made_at,
            1_i64
        ];
        Ok(archive.db.change(ADD, row)? > 0)
    }

    fn has_enough_of(&self, person: Option<&str>) -> Result<bool> {
        let Some(person) = person else { return Ok(false) };
        let open: u32 = self.archive.db.value(OPEN_OF, [person])?;
        Ok(open >= MOST_OPEN_PROPOSALS)
    }

    pub(super) fn answer(&mut self, row: &SharedRow, words: SharedAnswer) -> Result<bool> {
        let (uid, fate, at) = (words.proposal.0, words.fate.name(), row.from.made_at.0);
        let changed = match self.person(row) {
            Some(person) => self.archive.db.change(ANSWERED, (uid, person, fate, at))?,
            None => self.archive.db.change(ANSWERED_ELSEWHERE, (uid, fate, at))?,
        };
        Ok(changed > 0)
    }
}
