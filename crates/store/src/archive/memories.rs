//! Memories, with their provenance and the history of their changes.
//!
//! Every change records the previous row as a trace in the same transaction, so that it can be undone. Accepts only
//! `Content`, which is redacted.

mod history;
mod listing;
mod proposals;
mod row;

use super::Archive;
use super::share::{Burial, TombFate};
use crate::Result;
use crate::columns::{FromRow, values};
use crate::query::Query;
use listing::listing;
use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior, params_from_iter};
use std::fmt;
use std::ops::ControlFlow;
use towline_core::forget::{PieceSource, project_marks};
use towline_core::id::{SessionKey, Uid};
use towline_core::memory::choose::Candidate;
use towline_core::memory::{ConfidencePercent, Memory, MemoryAuthor, MemoryContent, MemoryTrust, MemoryType};
use towline_core::share::Visibility;
use towline_core::time::Timestamp;

pub use history::MemoryTrace;
use row::candidate;
pub(super) use row::{MEMORY, fingerprint, list, marks_of};

#[derive(Clone, Debug)]
pub struct NewMemory {
    pub uid: Uid,
    pub content: MemoryContent,
    /// The project's row.
    pub project: Option<i64>,
    pub session: Option<SessionKey>,
    pub turn: Option<u32>,
    pub branch: Option<String>,
    pub commit: Option<String>,
    pub maker: MemoryAuthor,
    pub trust: MemoryTrust,
    pub confidence: ConfidencePercent,
    pub cost: u64,
    pub at: Timestamp,
    pub valid_from: Timestamp,
    pub quarantine: Option<String>,
}

/// Selects memories; `None` matches all.
#[derive(Clone, Debug, Default)]
pub struct MemoryQuery<'a> {
    pub project: Option<i64>,
    pub kind: Option<&'a MemoryType>,
    pub concept: Option<&'a str>,
    /// A path, or the end of one.
    pub file: Option<&'a str>,
    pub session: Option<&'a SessionKey>,
    pub turn: Option<u32>,
    pub branch: Option<&'a str>,
    pub from: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub only: MemoryFilter,
    /// The page starts behind this memory.
    pub before: Option<i64>,
    pub limit: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryFilter {
    #[default]
    All,
    /// Neither superseded nor in quarantine.
    Standing,
    Pinned,
    HeldBack,
    /// An agent proposed to pin them.
    Proposed,
}

/// An occurrence of something that a known memory says already; its id in the trace makes it count once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryOccurrence<'a> {
    pub uid: Uid,
    pub session: Option<&'a SessionKey>,
    pub turn: Option<u32>,
}

impl fmt::Display for MemoryOccurrence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.session, self.turn) {
            (Some(session), Some(turn)) => write!(f, "{} {session}#{turn}", self.uid),
            (Some(session), None) => write!(f, "{} {session}", self.uid),
            (None, _) => write!(f, "{}", self.uid),
        }
    }
}

/// Inserts a memory. If its number is in use, the database assigns another.
const ADD: &str = "
    insert into memories (id, uid, machine, person, revision, project, conversation, session, turn, branch, commit_hash, type,
        title, subtitle, facts, narrative, concepts, maker, trust, confidence, cost, made_at, changed_at, valid_from,
        quarantine, found, fingerprint)
    values ((select ?1 where not exists (select 1 from memories where id = ?1)), ?2, ?3, ?4, 1, ?5,
        (select id from conversations where short = ?6 and agent || ':' || session = ?7), ?7, ?8, ?9, ?10, ?11, ?12, ?13,
        ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?21, ?22, ?23, 1, ?24)
    on conflict (uid) do nothing";

/// In the order of the index on creation time: by number, all memories of the project would have to be sorted.
/// `NEWEST`, `NUMBERED` and `PINNED` repeat the condition of `Memory::is_current`.
const NEWEST: &str = "where m.project = ?1 and m.superseded_at is null and m.quarantine is null
    order by m.made_at desc, m.id desc limit ?2";
const NUMBERED: &str =
    "where m.id = ?1 and m.project = ?2 and m.superseded_at is null and m.quarantine is null";
/// The columns of `Candidate`; only a session's memory has a branch.
const CANDIDATES: &str = "select m.id, m.made_at, m.trust, m.person is not null, m.confidence, m.found, m.type,
        case when m.session is null then null else m.branch end, m.title, m.subtitle, m.facts, m.narrative, m.pinned_at
    from memories m";
/// The memories about a file, from a number on.
const ABOUT: &str = "select memory from memory_files where path = ?1 and memory >= ?2";
/// Pinned memories are few and have their own index; by default the planner reads the whole project.
const PINNED: &str = "
    select id from memories indexed by memories_pinned
    where pinned_at is not null and project is null and superseded_at is null and quarantine is null
    union all select id from memories indexed by memories_pinned
    where pinned_at is not null and project = ?1 and superseded_at is null and quarantine is null
    order by id limit 100";

const ADD_FILE: &str = "insert or ignore into memory_files (memory, path, how) values (?1, ?2, ?3)";
const ADD_CONCEPT: &str = "insert or ignore into memory_concepts (memory, concept) values (?1, ?2)";

/// Deletes a memory, its own row last.
pub(super) const DROP: [&str; 7] = [
    "delete from memory_files where memory = ?1",
    "delete from memory_concepts where memory = ?1",
    "delete from memory_trace where memory = ?1",
    // Proposals go with their memory; this user's own leave the hub as well.
    "update proposals set fate = 'withdrawn', change = '', told = 0
        where person is null and fate is not 'withdrawn' and memory = (select uid from memories where id = ?1)",
    // An answer that the hub does not have yet has no text, and is still sent.
    "delete from proposals where person is not null and (fate is null or told = 1)
        and memory = (select uid from memories where id = ?1)",
    // Memories it superseded stay superseded, without a successor.
    "update memories set superseded_by = null, revision = revision + 1 where superseded_by = ?1",
    "delete from memories where id = ?1",
];

impl Archive {
    /// Stores a memory and returns its number. Adding the same uid again is a no-op.
    pub fn add_memory(&self, new: &NewMemory) -> Result<i64> {
        self.in_transaction(|| {
            let is_new = self.insert_memory(new, None, self.machine, None)?;
            let number = self.memory_by_uid(new.uid)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            if is_new {
                self.set_files_and_concepts(number, &new.content)?;
                self.restore_withdrawn(new.uid)?;
                self.add_memory_history(number, new.at, "made", new.maker.name(), None)?;
                self.note_change("memory", number, None)?;
            }
            Ok(number)
        })
    }

    /// Inserts the row of a memory, if its uid is new. `number` is the one it had elsewhere; `person` its owner, if it is
    /// a teammate.
    pub(super) fn insert_memory(
        &self,
        new: &NewMemory,
        number: Option<i64>,
        machine: Uid,
        person: Option<&str>,
    ) -> Result<bool> {
        let content = &new.content;
        let short = new.session.as_ref().map(SessionKey::short);
        let added = self.db.change(
            ADD,
            values! {
                number, new.uid, machine, person, new.project, short, new.session, new.turn, new.branch, new.commit,
                content.kind, content.title, content.subtitle, list(&content.facts), content.narrative,
                list(&content.concepts), new.maker, new.trust, new.confidence, new.cost, new.at, new.valid_from,
                new.quarantine, fingerprint(content)
            },
        )?;
        Ok(added > 0)
    }

    pub fn memory_by_uid(&self, uid: Uid) -> Result<Option<i64>> {
        self.db.first("select id from memories where uid = ?1", [uid.0])
    }

    /// Whether the archive has the `memories` table: one last written by an older version does not.
    pub fn has_memory_tables(&self) -> Result<bool> {
        const TABLE: &str = "select exists (select 1 from sqlite_master where name = 'memories')";
        self.db.value(TABLE, [])
    }

    /// Whether it belongs to content that was forgotten here.
    pub fn is_memory_forgotten(&self, new: &NewMemory) -> Result<bool> {
        const PROJECT: &str = "select root, remote from projects where id = ?1";
        if marks_of(new.uid, &new.content).iter().any(|mark| self.forgotten.is_memory_erased(*mark)) {
            return Ok(true);
        }
        let Some(session) = &new.session else { return Ok(false) };
        let project = self.db.first::<(String, Option<String>)>(PROJECT, [new.project])?;
        let marks = project.map(|(root, remote)| project_marks(&root, remote.as_deref()));
        let gone = self.forgotten.of(session, &marks.unwrap_or_default());
        Ok(gone.is_some_and(|gone| gone.is_time_erased(new.valid_from, PieceSource::Session)))
    }

    pub fn memory(&self, number: i64) -> Result<Option<Memory>> {
        let query = format!("{MEMORY} where m.id = ?1");
        self.db.first(&query, [number])
    }

    /// The newest first: of one project by creation time, as indexed; of all projects by number.
    pub fn memories(&self, asked: &MemoryQuery<'_>) -> Result<Vec<Memory>> {
        let (query, values) = listing(asked);
        self.db.all(&query, params_from_iter(values))
    }

    /// Passes the newest standing memories of a project to be ranked, with the time at which each was pinned. An agent waits
    /// for this: the cost does not depend on their number.
    pub fn newest_memories(
        &self,
        project: i64,
        most: u32,
        each: &mut dyn FnMut(Candidate<'_>, Option<Timestamp>),
    ) -> Result<()> {
        let query = format!("{CANDIDATES} {NEWEST}");
        let mut pass = |row: &Row<'_>| -> Result<ControlFlow<()>> {
            let (candidate, pinned_at) = candidate(row)?;
            each(candidate, pinned_at);
            Ok(ControlFlow::Continue(()))
        };
        self.db.each(&query, (project, most), &mut pass).map(drop)
    }

    /// The same for the standing ones of a project among these numbers.
    pub fn memories_to_rank(
        &self,
        project: i64,
        numbers: &[i64],
        each: &mut dyn FnMut(Candidate<'_>, Option<Timestamp>),
    ) -> Result<()> {
        if numbers.is_empty() {
            return Ok(());
        }
        let mut statement = self.db.cached(&format!("{CANDIDATES} {NUMBERED}"))?;
        for number in numbers {
            let mut rows = statement.query((number, project))?;
            if let Some(row) = rows.next()? {
                let (candidate, pinned_at) = candidate(row)?;
                each(candidate, pinned_at);
            }
        }
        Ok(())
    }

    /// The files that a memory is about.
    pub fn paths_of_memory(&self, number: i64) -> Result<Vec<String>> {
        self.db.all("select distinct path from memory_files where memory = ?1", [number])
    }

    pub fn project_name(&self, project: i64) -> Result<Option<String>> {
        self.db.first("select name from projects where id = ?1", [project])
    }

    /// The numbers of the memories about a file, from a number on.
    pub fn memories_about(&self, path: &str, from: i64) -> Result<Vec<i64>> {
        self.db.all(ABOUT, (path, from))
    }

    /// The numbers of the memories pinned in the project and of those pinned globally, oldest first.
    pub fn pinned_memories(&self, project: Option<i64>) -> Result<Vec<i64>> {
        self.db.all(PINNED, [project])
    }

    /// The memories with these numbers, in their order; missing ones are left out. One statement for all: looking up a cached
    /// one costs as much as reading the row.
    pub fn memories_numbered(&self, numbers: &[i64]) -> Result<Vec<Memory>> {
        if numbers.is_empty() {
            return Ok(vec![]);
        }
        let mut statement = self.db.cached(&format!("{MEMORY} where m.id = ?1"))?;
        let one = |number: &i64| statement.query_row([number], Memory::of).optional().transpose();
        Ok(numbers.iter().filter_map(one).collect::<rusqlite::Result<_>>()?)
    }

    /// The numbers of the memories that this one superseded.
    pub fn memories_replaced_by(&self, number: i64) -> Result<Vec<i64>> {
        const REPLACED: &str = "select id from memories where superseded_by = ?1 order by id";
        self.db.all(REPLACED, [number])
    }

    /// A standing memory of the project with the same words.
    pub fn find_same_memory(&self, content: &MemoryContent, project: Option<i64>) -> Result<Option<i64>> {
        const QUERY: &str = "
            select id from memories where fingerprint = ?1 and project is ?2 and superseded_at is null limit 1";
        self.db.first(QUERY, (fingerprint(content).0, project))
    }

    /// Counts another occurrence of the same memory.
    pub fn found_memory_again(&self, number: i64, at: Timestamp) -> Result<bool> {
        let again = "update memories set revision = revision + 1, found = found + 1, changed_at = max(changed_at, ?2) where id = ?1";
        self.change_memory(number, at, "found again", "", || self.db.change(again, (number, at.0)))
    }

    /// Counts another occurrence that adds facts, and stores the merged words. Each occurrence counts once.
    pub fn merge_memory(
        &self,
        number: i64,
        content: &MemoryContent,
        at: Timestamp,
        finding: &MemoryOccurrence<'_>,
    ) -> Result<bool> {
        const KNOWN: &str = "
            select exists (select 1 from memory_trace
                where memory = ?1 and what = 'found again' and substr(why, 1, length(?2)) = ?2)";
        if self.db.value(KNOWN, (number, finding.uid.to_string()))? {
            return Ok(false);
        }
        let again = "update memories set found = found + 1 where id = ?1";
        self.change_memory(number, at, "found again", &finding.to_string(), || {
            self.db.change(again, [number])?;
            self.set_memory_text(number, content, at)
        })
    }

    /// Replaces the words of a memory.
    pub fn edit_memory(
        &self,
        number: i64,
        content: &MemoryContent,
        at: Timestamp,
        why: &str,
    ) -> Result<bool> {
        self.change_memory(number, at, "edited", why, || self.set_memory_text(number, content, at))
    }

    pub(super) fn set_memory_text(
        &self,
        number: i64,
        content: &MemoryContent,
        at: Timestamp,
    ) -> Result<usize> {
        const WORDS: &str = "
            update memories set revision = revision + 1, changed_at = ?2, type = ?3, title = ?4, subtitle = ?5,
                facts = ?6, narrative = ?7, concepts = ?8, fingerprint = ?9 where id = ?1";
        let changed = self.db.change(
            WORDS,
            values! {
                number, at, content.kind, content.title, content.subtitle, list(&content.facts),
                content.narrative, list(&content.concepts), fingerprint(content)
            },
        )?;
        self.set_files_and_concepts(number, content)?;
        Ok(changed)
    }

    pub fn pin_memory(&self, number: i64, pinned: Option<Timestamp>, at: Timestamp) -> Result<bool> {
        let what = if pinned.is_some() { "pinned" } else { "unpinned" };
        let pin = "update memories set revision = revision + 1, changed_at = ?2, pinned_at = ?3
            where id = ?1 and (pinned_at is null) <> (?3 is null)";
        self.change_memory(number, at, what, "", || {
            self.db.change(pin, (number, at.0, pinned.map(|at| at.0)))
        })
    }

    /// Marks it as superseded, by another memory or by none, because somebody said so.
    pub fn supersede_memory(&self, number: i64, by: Option<i64>, at: Timestamp, why: &str) -> Result<bool> {
        self.set_superseded("superseded", number, by, at, why)
    }

    /// The same because a rule found it outdated. The rule would find it again, so it is not logged as a user's decision.
    pub fn replace_memory(&self, number: i64, by: i64, at: Timestamp, why: &str) -> Result<bool> {
        self.set_superseded("replaced", number, Some(by), at, why)
    }

    fn set_superseded(
        &self,
        what: &str,
        number: i64,
        by: Option<i64>,
        at: Timestamp,
        why: &str,
    ) -> Result<bool> {
        let supersede = "
            update memories set revision = revision + 1, changed_at = ?2, superseded_by = ?3, superseded_at = ?2,
                superseded_why = ?4, superseded_uid = (select b.uid from memories b where b.id = ?3)
            where id = ?1 and id is not ?3";
        self.change_memory(number, at, what, why, || self.db.change(supersede, (number, at.0, by, why)))
    }

    /// Puts it in quarantine, which hides it from every model, or releases it.
    pub fn quarantine_memory(&self, number: i64, reason: Option<&str>, at: Timestamp) -> Result<bool> {
        let what = if reason.is_some() { "held back" } else { "released" };
        let hold =
            "update memories set revision = revision + 1, changed_at = ?2, quarantine = ?3 where id = ?1";
        self.change_memory(number, at, what, reason.unwrap_or(""), || {
            self.db.change(hold, (number, at.0, reason))
        })
    }

    /// Makes it private or shared. Only its owner can.
    pub fn keep_private(&self, number: i64, presence: Visibility, at: Timestamp) -> Result<bool> {
        const KEEP: &str = "
            update memories set revision = revision + 1, changed_at = ?2, presence = ?3
            where id = ?1 and presence <> ?3 and person is null";
        let what = if presence == Visibility::Withdrawn { "kept private" } else { "shared" };
        self.change_memory(number, at, what, "", || self.db.change(KEEP, values![number, at, presence]))
    }

    /// Deletes it, here and on all other machines; it may be made again.
    pub fn drop_memory(&self, number: i64) -> Result<bool> {
        self.in_transaction(|| {
            self.note_deletion(number)?;
            let (own_fate, others_fate) = (TombFate::Withdrawn, TombFate::Away);
            self.add_memory_tombstone(number, Burial { at: Timestamp(0), by: "", own_fate, others_fate })?;
            let mut dropped = 0;
            for statement in DROP {
                dropped = self.db.change(statement, [number])?;
            }
            self.note_change("memory", number, None)?;
            Ok(dropped > 0)
        })
    }

    /// Files and concepts have tables of their own for lookups.
    pub(super) fn set_files_and_concepts(&self, number: i64, content: &MemoryContent) -> Result<()> {
        self.db.change(DROP[0], [number])?;
        self.db.change(DROP[1], [number])?;
        for (path, how) in &content.files {
            self.db.change(ADD_FILE, (number, path, how.name()))?;
        }
        for name in &content.concepts {
            self.db.change(ADD_CONCEPT, (number, name.to_lowercase()))?;
        }
        Ok(())
    }

    /// Runs `work` in a transaction, or in the current one if there is one.
    pub fn in_transaction<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        if !self.db.is_autocommit() {
            return work();
        }
        let transaction = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        let done = work()?;
        self.log_memories()?;
        transaction.commit()?;
        Ok(done)
    }
}

#[cfg(test)]
mod tests;
