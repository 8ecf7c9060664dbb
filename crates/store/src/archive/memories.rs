//! Memories, with their provenance and the history of their changes.
//!
//! Every change records the previous row as a trace in the same transaction, so that it can be undone. Accepts only
//! `Content`, which is redacted.

mod listing;

use super::Archive;
use super::name::SHORT;
use super::read::unknown;
use super::share::{Burial, TombFate};
use crate::StoreError;
use listing::listing;
use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior, params, params_from_iter};
use std::fmt;
use towline_core::capture::FileAccess;
use towline_core::forget::{PieceSource, project_marks};
use towline_core::id::{IdHash, SessionKey, Uid};
use towline_core::memory::{
    Citation, ConfidencePercent, Memory, MemoryAuthor, MemoryContent, MemoryDraft, MemoryTrust, MemoryType,
    Supersession,
};
use towline_core::share::Visibility;
use towline_core::text::clip_start;
use towline_core::time::Timestamp;

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

/// One entry of a memory's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryTrace {
    pub at: Timestamp,
    /// `made`, `found again`, `edited`, `pinned`, `unpinned`, `superseded`, `released`, `held back`, `kept private`,
    /// `shared`, `changed elsewhere`.
    pub what: String,
    pub why: String,
    pub undone_at: Option<Timestamp>,
}

const ADD: &str = "
    insert into memories (uid, machine, revision, project, conversation, session, turn, branch, commit_hash, type, title,
        subtitle, facts, narrative, concepts, maker, trust, confidence, cost, made_at, changed_at, valid_from, quarantine,
        found, fingerprint)
    values (?1, ?2, 1, ?3, (select id from conversations where agent || ':' || session = ?4
            and short = ?23), ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?18, ?19, ?20, ?21, ?22)
    on conflict (uid) do nothing";

pub(super) const MEMORY: &str = "
    select m.id, m.uid, m.type, m.title, m.subtitle, m.facts, m.narrative, m.concepts, p.name, m.session, m.turn, m.branch,
        m.commit_hash, m.maker, m.trust, m.confidence, m.cost, m.made_at, m.changed_at, m.valid_from, m.superseded_by,
        m.superseded_at, m.superseded_why, m.pinned_at, m.quarantine, m.found,
        (select json_group_array(json_array(f.path, f.how)) from memory_files f where f.memory = m.id), m.person,
        m.presence, (select n.name from machine_names n where n.id = m.machine)
    from memories m left join projects p on p.id = m.project";

/// In the order of the index on creation time: by number, all memories of the project would have to be sorted.
const NEWEST: &str = "where m.project = ?1 and m.superseded_at is null and m.quarantine is null
    order by m.made_at desc, m.id desc limit ?2";
/// Pinned memories are few and have their own index; by default the planner reads the whole project.
const PINNED: &str = "where m.id in (
        select id from memories indexed by memories_pinned where pinned_at is not null and project is null
        union all select id from memories indexed by memories_pinned where pinned_at is not null and project = ?1)
    and m.superseded_at is null and m.quarantine is null order by m.id limit 100";

/// The columns that an undo restores.
const ROW_JSON: &str = "
    select json_object('type', type, 'title', title, 'subtitle', subtitle, 'facts', facts, 'narrative', narrative,
        'concepts', concepts, 'valid_from', valid_from, 'superseded_by', superseded_by, 'superseded_at', superseded_at,
        'superseded_why', superseded_why, 'superseded_uid', hex(superseded_uid), 'presence', presence,
        'pinned_at', pinned_at, 'quarantine', quarantine, 'found', found,
        'fingerprint', fingerprint, 'confidence', confidence,
        'files', (select json_group_array(json_array(path, how)) from memory_files where memory = memories.id))
    from memories where id = ?1";

/// `found` never decreases once the memory was sent: other machines have merged the count. Old traces lack
/// `superseded_uid`.
const PUT_BACK: &str = "
    update memories set revision = revision + 1, changed_at = ?3, type = ?2 ->> 'type', title = ?2 ->> 'title',
        subtitle = ?2 ->> 'subtitle', facts = ?2 ->> 'facts', narrative = ?2 ->> 'narrative',
        concepts = ?2 ->> 'concepts', valid_from = ?2 ->> 'valid_from', superseded_by = ?2 ->> 'superseded_by',
        superseded_at = ?2 ->> 'superseded_at', superseded_why = ?2 ->> 'superseded_why',
        superseded_uid = ifnull(nullif(unhex(?2 ->> 'superseded_uid'), x''),
            (select b.uid from memories b where b.id = ?2 ->> 'superseded_by')),
        presence = ifnull(?2 ->> 'presence', presence),
        pinned_at = ?2 ->> 'pinned_at', quarantine = ?2 ->> 'quarantine',
        found = iif(exists (select 1 from sent where sent.uid = memories.uid), max(found, ?2 ->> 'found'), ?2 ->> 'found'),
        fingerprint = ?2 ->> 'fingerprint', confidence = ?2 ->> 'confidence'
    where id = ?1";

const LEAVE_TRACE: &str =
    "insert into memory_trace (memory, at, what, why, before) values (?1, ?2, ?3, ?4, ?5)";
const LAST_TRACE: &str = "
    select id, what, before from memory_trace where memory = ?1 and undone_at is null order by id desc limit 1";
const TRACE: &str = "select at, what, why, undone_at from memory_trace where memory = ?1 order by id";

/// Deletes a memory, its own row last.
pub(super) const DROP: [&str; 5] = [
    "delete from memory_files where memory = ?1",
    "delete from memory_concepts where memory = ?1",
    "delete from memory_trace where memory = ?1",
    // Memories it superseded stay superseded, without a successor.
    "update memories set superseded_by = null, revision = revision + 1 where superseded_by = ?1",
    "delete from memories where id = ?1",
];

impl Archive {
    /// Stores a memory and returns its number. Adding the same uid again is a no-op.
    pub fn add_memory(&self, new: &NewMemory) -> Result<i64, StoreError> {
        self.as_one(|| {
            let content = &new.content;
            let session = new.session.as_ref().map(ToString::to_string);
            let short = new.session.as_ref().map(|session| clip_start(session.id.as_str(), SHORT));
            self.db.prepare_cached(ADD)?.execute(params![
                new.uid.0,
                self.machine.0,
                new.project,
                session,
                new.turn,
                new.branch,
                new.commit,
                content.kind.as_str(),
                content.title,
                content.subtitle,
                list(&content.facts),
                content.narrative,
                list(&content.concepts),
                new.maker.name(),
                new.trust.name(),
                new.confidence.as_percent(),
                new.cost.cast_signed(),
                new.at.0,
                new.valid_from.0,
                new.quarantine,
                1,
                fingerprint(content).0,
                short,
            ])?;
            let is_new = self.db.changes() > 0;
            let number = self.memory_by_uid(new.uid)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            if is_new {
                self.put_lists(number, content)?;
                self.revive(new.uid)?;
                self.leave_trace(number, new.at, "made", new.maker.name(), None)?;
                self.note_change("memory", number, None)?;
            }
            Ok(number)
        })
    }

    pub fn memory_by_uid(&self, uid: Uid) -> Result<Option<i64>, StoreError> {
        let mut statement = self.db.prepare_cached("select id from memories where uid = ?1")?;
        Ok(statement.query_row([uid.0], |row| row.get(0)).optional()?)
    }

    /// Whether the archive has the `memories` table: one last written by an older version does not.
    pub fn remembers(&self) -> Result<bool, StoreError> {
        const TABLE: &str = "select exists (select 1 from sqlite_master where name = 'memories')";
        Ok(self.db.query_row(TABLE, [], |row| row.get(0))?)
    }

    /// Whether it belongs to content that was forgotten here.
    pub fn is_memory_forgotten(&self, new: &NewMemory) -> Result<bool, StoreError> {
        const PROJECT: &str = "select root, remote from projects where id = ?1";
        if marks_of(new.uid, &new.content).iter().any(|mark| self.forgotten.is_memory_gone(*mark)) {
            return Ok(true);
        }
        let Some(session) = &new.session else { return Ok(false) };
        let marks = |row: &Row<'_>| {
            Ok(project_marks(&row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?.as_deref()))
        };
        let project = self.db.prepare_cached(PROJECT)?.query_row([new.project], marks).optional()?;
        let gone = self.forgotten.of(session, &project.unwrap_or_default());
        Ok(gone.is_some_and(|gone| gone.is_time_gone(new.valid_from, PieceSource::Session)))
    }

    pub fn memory(&self, number: i64) -> Result<Option<Memory>, StoreError> {
        let query = format!("{MEMORY} where m.id = ?1");
        Ok(self.db.prepare_cached(&query)?.query_row([number], memory).optional()?)
    }

    /// The newest first: of one project by creation time, as indexed; of all projects by number.
    pub fn memories(&self, asked: &MemoryQuery<'_>) -> Result<Vec<Memory>, StoreError> {
        let (query, values) = listing(asked);
        let mut statement = self.db.prepare_cached(&query)?;
        Ok(statement.query_map(params_from_iter(values), memory)?.collect::<Result<_, _>>()?)
    }

    /// The newest standing memories of a project. An agent waits for this: the cost does not depend on their number.
    pub fn newest_memories(&self, project: i64, most: u32) -> Result<Vec<Memory>, StoreError> {
        let query = format!("{MEMORY} {NEWEST}");
        Ok(self.db.prepare_cached(&query)?.query_map((project, most), memory)?.collect::<Result<_, _>>()?)
    }

    /// The memories pinned in the project and those pinned globally, oldest first.
    pub fn pinned_memories(&self, project: Option<i64>) -> Result<Vec<Memory>, StoreError> {
        let query = format!("{MEMORY} {PINNED}");
        Ok(self.db.prepare_cached(&query)?.query_map([project], memory)?.collect::<Result<_, _>>()?)
    }

    /// The numbers of the memories that this one superseded.
    pub fn memories_replaced_by(&self, number: i64) -> Result<Vec<i64>, StoreError> {
        const REPLACED: &str = "select id from memories where superseded_by = ?1 order by id";
        let mut statement = self.db.prepare_cached(REPLACED)?;
        Ok(statement.query_map([number], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// A standing memory of the project with the same words.
    pub fn same_memory(
        &self,
        content: &MemoryContent,
        project: Option<i64>,
    ) -> Result<Option<i64>, StoreError> {
        const QUERY: &str = "
            select id from memories where fingerprint = ?1 and project is ?2 and superseded_at is null limit 1";
        let mut statement = self.db.prepare_cached(QUERY)?;
        Ok(statement.query_row((fingerprint(content).0, project), |row| row.get(0)).optional()?)
    }

    /// Counts another occurrence of the same memory.
    pub fn found_memory_again(&self, number: i64, at: Timestamp) -> Result<bool, StoreError> {
        let again = "update memories set revision = revision + 1, found = found + 1, changed_at = max(changed_at, ?2) where id = ?1";
        self.change_memory(number, at, "found again", "", || {
            Ok(self.db.prepare_cached(again)?.execute((number, at.0))?)
        })
    }

    /// Counts another occurrence that adds facts, and stores the merged words. Each occurrence counts once.
    pub fn merge_memory(
        &self,
        number: i64,
        content: &MemoryContent,
        at: Timestamp,
        finding: &MemoryOccurrence<'_>,
    ) -> Result<bool, StoreError> {
        const KNOWN: &str = "
            select exists (select 1 from memory_trace
                where memory = ?1 and what = 'found again' and substr(why, 1, length(?2)) = ?2)";
        let mut known = self.db.prepare_cached(KNOWN)?;
        if known.query_row((number, finding.uid.to_string()), |row| row.get(0))? {
            return Ok(false);
        }
        let again = "update memories set found = found + 1 where id = ?1";
        self.change_memory(number, at, "found again", &finding.to_string(), || {
            self.db.prepare_cached(again)?.execute([number])?;
            self.put_words(number, content, at)
        })
    }

    /// Replaces the words of a memory.
    pub fn edit_memory(
        &self,
        number: i64,
        content: &MemoryContent,
        at: Timestamp,
        why: &str,
    ) -> Result<bool, StoreError> {
        self.change_memory(number, at, "edited", why, || self.put_words(number, content, at))
    }

    pub(super) fn put_words(
        &self,
        number: i64,
        content: &MemoryContent,
        at: Timestamp,
    ) -> Result<usize, StoreError> {
        const WORDS: &str = "
            update memories set revision = revision + 1, changed_at = ?2, type = ?3, title = ?4, subtitle = ?5,
                facts = ?6, narrative = ?7, concepts = ?8, fingerprint = ?9 where id = ?1";
        let changed = self.db.prepare_cached(WORDS)?.execute(params![
            number,
            at.0,
            content.kind.as_str(),
            content.title,
            content.subtitle,
            list(&content.facts),
            content.narrative,
            list(&content.concepts),
            fingerprint(content).0,
        ])?;
        self.put_lists(number, content)?;
        Ok(changed)
    }

    /// Pins or unpins it.
    pub fn pin_memory(
        &self,
        number: i64,
        pinned: Option<Timestamp>,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let what = if pinned.is_some() { "pinned" } else { "unpinned" };
        let pin = "update memories set revision = revision + 1, changed_at = ?2, pinned_at = ?3
            where id = ?1 and (pinned_at is null) <> (?3 is null)";
        self.change_memory(number, at, what, "", || {
            Ok(self.db.prepare_cached(pin)?.execute((number, at.0, pinned.map(|at| at.0)))?)
        })
    }

    /// Marks it as superseded, by another memory or by none.
    pub fn supersede_memory(
        &self,
        number: i64,
        by: Option<i64>,
        at: Timestamp,
        why: &str,
    ) -> Result<bool, StoreError> {
        let supersede = "
            update memories set revision = revision + 1, changed_at = ?2, superseded_by = ?3, superseded_at = ?2,
                superseded_why = ?4, superseded_uid = (select b.uid from memories b where b.id = ?3)
            where id = ?1 and id is not ?3";
        self.change_memory(number, at, "superseded", why, || {
            Ok(self.db.prepare_cached(supersede)?.execute((number, at.0, by, why))?)
        })
    }

    /// Puts it in quarantine, which hides it from every model, or releases it.
    pub fn quarantine_memory(
        &self,
        number: i64,
        reason: Option<&str>,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let what = if reason.is_some() { "held back" } else { "released" };
        let hold =
            "update memories set revision = revision + 1, changed_at = ?2, quarantine = ?3 where id = ?1";
        self.change_memory(number, at, what, reason.unwrap_or(""), || {
            Ok(self.db.prepare_cached(hold)?.execute((number, at.0, reason))?)
        })
    }

    /// Undoes the last change not undone yet. Returns its name; `None` if there is nothing to undo.
    pub fn undo_memory(&self, number: i64, at: Timestamp) -> Result<Option<String>, StoreError> {
        self.as_one(|| {
            let read = |row: &Row<'_>| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, Option<String>>(2)?))
            };
            let last = self.db.prepare_cached(LAST_TRACE)?.query_row([number], read).optional()?;
            let Some((trace, what, Some(before))) = last else { return Ok(None) };
            let undone = self.row_json(number)?.unwrap_or_default();
            self.db.prepare_cached(PUT_BACK)?.execute((number, &before, at.0))?;
            let content = self.memory(number)?.map(|memory| memory.content.into_draft());
            let files = serde_json::from_str::<serde_json::Value>(&before).unwrap_or_default();
            if let Some(draft) = content {
                let files = files_in(files["files"].as_str().unwrap_or("[]"));
                let put_back = MemoryContent::of(MemoryDraft { files, ..draft });
                put_back.map(|content| self.put_lists(number, &content)).transpose()?;
            }
            let taken_back = "update memory_trace set undone_at = ?2 where id = ?1";
            self.db.prepare_cached(taken_back)?.execute((trace, at.0))?;
            self.stamp_changes(number, &undone)?;
            self.note_change("memory", number, None)?;
            Ok(Some(what))
        })
    }

    /// The history of a memory, in order.
    pub fn memory_trace(&self, number: i64) -> Result<Vec<MemoryTrace>, StoreError> {
        let read = |row: &Row<'_>| {
            Ok(MemoryTrace {
                at: Timestamp(row.get(0)?),
                what: row.get(1)?,
                why: row.get(2)?,
                undone_at: row.get::<_, Option<i64>>(3)?.map(Timestamp),
            })
        };
        Ok(self.db.prepare_cached(TRACE)?.query_map([number], read)?.collect::<Result<_, _>>()?)
    }

    /// Makes it private or shared. Only its owner can.
    pub fn keep_private(&self, number: i64, presence: Visibility, at: Timestamp) -> Result<bool, StoreError> {
        const KEEP: &str = "
            update memories set revision = revision + 1, changed_at = ?2, presence = ?3
            where id = ?1 and presence <> ?3 and person is null";
        let (what, word) = match presence {
            Visibility::Withdrawn => ("kept private", "private"),
            Visibility::Shared => ("shared", "shared"),
        };
        self.change_memory(number, at, what, "", || {
            Ok(self.db.prepare_cached(KEEP)?.execute((number, at.0, word))?)
        })
    }

    /// Deletes it, here and on all other machines; it may be made again.
    pub fn drop_memory(&self, number: i64) -> Result<bool, StoreError> {
        self.as_one(|| {
            let (own_fate, others_fate) = (TombFate::Withdrawn, TombFate::Away);
            self.bury_memory(number, Burial { at: Timestamp(0), by: "", own_fate, others_fate })?;
            let mut dropped = 0;
            for statement in DROP {
                dropped = self.db.prepare_cached(statement)?.execute([number])?;
            }
            self.note_change("memory", number, None)?;
            Ok(dropped > 0)
        })
    }

    /// Runs a change and records the previous row. A change of no rows leaves no trace.
    fn change_memory(
        &self,
        number: i64,
        at: Timestamp,
        what: &str,
        why: &str,
        change: impl FnOnce() -> Result<usize, StoreError>,
    ) -> Result<bool, StoreError> {
        self.as_one(|| {
            let Some(before) = self.row_json(number)? else { return Ok(false) };
            if change()? == 0 {
                return Ok(false);
            }
            self.stamp_changes(number, &before)?;
            self.leave_trace(number, at, what, why, Some(&before))?;
            self.note_change("memory", number, None)?;
            Ok(true)
        })
    }

    /// The row as JSON, as traces store it.
    pub(super) fn row_json(&self, number: i64) -> Result<Option<String>, StoreError> {
        Ok(self.db.prepare_cached(ROW_JSON)?.query_row([number], |row| row.get(0)).optional()?)
    }

    pub(super) fn leave_trace(
        &self,
        number: i64,
        at: Timestamp,
        what: &str,
        why: &str,
        before: Option<&str>,
    ) -> Result<(), StoreError> {
        self.db.prepare_cached(LEAVE_TRACE)?.execute((number, at.0, what, why, before))?;
        Ok(())
    }

    /// Files and concepts have tables of their own for lookups.
    pub(super) fn put_lists(&self, number: i64, content: &MemoryContent) -> Result<(), StoreError> {
        self.db.prepare_cached(DROP[0])?.execute([number])?;
        self.db.prepare_cached(DROP[1])?.execute([number])?;
        let mut file = self
            .db
            .prepare_cached("insert or ignore into memory_files (memory, path, how) values (?1, ?2, ?3)")?;
        for (path, how) in &content.files {
            file.execute((number, path, how.name()))?;
        }
        let mut concept = self
            .db
            .prepare_cached("insert or ignore into memory_concepts (memory, concept) values (?1, ?2)")?;
        for name in &content.concepts {
            concept.execute((number, name.to_lowercase()))?;
        }
        Ok(())
    }

    /// Runs `work` in a transaction, or in the current one if there is one.
    pub fn as_one<T>(&self, work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        if !self.db.is_autocommit() {
            return work();
        }
        let transaction = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        let done = work()?;
        transaction.commit()?;
        Ok(done)
    }
}

/// A hash of title and facts that ignores case, spacing and punctuation.
pub(super) fn fingerprint(content: &MemoryContent) -> IdHash {
    let words = |text: &str| {
        let letters =
            text.chars().flat_map(char::to_lowercase).map(|c| if c.is_alphanumeric() { c } else { ' ' });
        letters.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let facts: Vec<String> = content.facts.iter().map(|fact| words(fact)).collect();
    IdHash::of(&format!("{}\n{}\n{}", content.kind, words(&content.title), facts.join("\n")))
}

/// The marks by which a forgotten memory is recognised: its id and its words.
pub(super) fn marks_of(uid: Uid, content: &MemoryContent) -> [IdHash; 2] {
    [IdHash::of(&uid.to_string()), fingerprint(content)]
}

pub(super) fn list(items: &[String]) -> String {
    serde_json::to_string(items).unwrap_or_else(|_| "[]".to_owned())
}

pub(super) fn memory(row: &Row<'_>) -> rusqlite::Result<Memory> {
    let strings = |column| -> rusqlite::Result<Vec<String>> {
        serde_json::from_str(&row.get::<_, String>(column)?).map_err(|_| unknown(column))
    };
    let draft = MemoryDraft {
        kind: MemoryType::parse(&row.get::<_, String>(2)?).ok_or_else(|| unknown(2))?,
        title: row.get(3)?,
        subtitle: row.get(4)?,
        facts: strings(5)?,
        narrative: row.get(6)?,
        concepts: strings(7)?,
        files: files_in(&row.get::<_, String>(26)?),
    };
    let time = |column| row.get::<_, Option<i64>>(column).map(|at| at.map(Timestamp));
    let superseded_at: Option<Timestamp> = time(21)?;
    let superseded = superseded_at.map(|at| -> rusqlite::Result<Supersession> {
        Ok(Supersession { by: row.get(20)?, at, why: row.get::<_, Option<String>>(22)?.unwrap_or_default() })
    });
    let person: Option<String> = row.get(27)?;
    let trust = MemoryTrust::named(&row.get::<_, String>(14)?).ok_or_else(|| unknown(14))?;
    Ok(Memory {
        number: row.get(0)?,
        uid: Uid(row.get(1)?),
        content: MemoryContent::of(draft).ok_or_else(|| unknown(3))?,
        project: row.get(8)?,
        source: citation(row)?,
        maker: MemoryAuthor::named(&row.get::<_, String>(13)?),
        trust: person.as_ref().map_or(trust, |_| trust.and(MemoryTrust::Team)),
        person,
        machine: row.get(29)?,
        is_private: row.get::<_, String>(28)? == "private",
        confidence: ConfidencePercent::percent(row.get(15)?),
        cost: row.get::<_, i64>(16)?.cast_unsigned(),
        made_at: Timestamp(row.get(17)?),
        changed_at: Timestamp(row.get(18)?),
        valid_from: Timestamp(row.get(19)?),
        superseded: superseded.transpose()?,
        pinned_at: time(23)?,
        quarantine: row.get(24)?,
        found: row.get(25)?,
    })
}

fn citation(row: &Row<'_>) -> rusqlite::Result<Option<Citation>> {
    let Some(raw) = row.get::<_, Option<String>>(9)? else { return Ok(None) };
    let session = SessionKey::parse(&raw).map_err(|_| unknown(9))?;
    let short = clip_start(session.id.as_str(), SHORT).to_owned();
    Ok(Some(Citation { session, short, turn: row.get(10)?, branch: row.get(11)?, commit: row.get(12)? }))
}

/// Pairs of a path and a touch; invalid pairs are skipped.
fn files_in(json: &str) -> Vec<(String, FileAccess)> {
    let pairs: Vec<(String, String)> = serde_json::from_str(json).unwrap_or_default();
    pairs.into_iter().filter_map(|(path, how)| Some((path, FileAccess::named(&how)?))).collect()
}

#[cfg(test)]
mod tests;
