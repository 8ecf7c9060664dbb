//! Erases memories: with their turns, by number, or by creation time.
//!
//! A memory that took facts from forgotten content loses them, in its trace too. An erased memory is recorded by its id
//! and a mark of its words, so that no import and no distiller brings it back.

use super::ArchiveEraser;
use crate::Result;
use crate::archive::memories::marks_of;
use crate::query::Query;
use rusqlite::Params;
use serde_json::Value;
use towline_core::id::SessionKey;
use towline_core::memory::{MemoryContent, MemoryDraft};

/// A memory may be older than its session's first capture.
const LINK: &str = "
    update memories set conversation = (select c.id from conversations c
        where c.short = substr(substr(memories.session, instr(memories.session, ':') + 1), -8)
            and c.agent || ':' || c.session = memories.session)
    where conversation is null and session is not null";

pub(super) const OF_TURN: &str = "select id from memories where conversation = ?1 and turn = ?2";
pub(super) const OF_CUT_TURNS: &str = "
    select m.id from memories m join turns t on t.conversation = m.conversation and t.ordinal = m.turn
    where t.conversation = ?1 and t.at < ?2 and t.until >= ?2";
pub(super) const OF_SESSION: &str = "
    select id from memories where session = ?1 and (made_at between ?2 and ?3 or valid_from between ?2 and ?3)";
pub(super) const OF_PROJECT: &str = "
    select m.id from memories m join projects p on p.id = m.project
    where (p.root = ?1 or p.remote is not null and p.remote = ?2)
        and (m.made_at between ?3 and ?4 or m.valid_from between ?3 and ?4)";
pub(super) const IN_RANGE: &str = "
    select id from memories where made_at between ?1 and ?2 or valid_from between ?1 and ?2";

/// Occurrences that name a session; the first word is an id.
const FINDINGS: &str =
    "select memory, id, why from memory_trace where what = 'found again' and instr(why, ' ') > 0";
const PREVIOUS_ROWS: &str =
    "select id, before from memory_trace where memory = ?1 and before is not null and id >= ?2 order by id";
const CHANGE_BEFORE: &str = "update memory_trace set before = ?2 where id = ?1";
const FORGET_FINDING: &str = "update memory_trace set why = '' where id = ?1";

impl ArchiveEraser<'_> {
    pub(super) fn link_memories(&mut self) -> Result<()> {
        self.archive.db.run(LINK, [])
    }

    /// Erases one memory and records its marks.
    pub(super) fn erase_memory(&mut self, number: i64) -> Result<()> {
        let Some(memory) = self.archive.memory(number)? else { return Ok(()) };
        for mark in marks_of(memory.uid, &memory.content) {
            self.forgotten.add_memory(mark);
        }
        self.drop_memory(number)?;
        Ok(())
    }

    fn drop_memory(&mut self, number: i64) -> Result<()> {
        self.texts.memories.push(number);
        self.archive.add_memory_tombstone(number, self.burial)?;
        self.erased.memories += usize::from(self.archive.drop_memory(number)?);
        Ok(())
    }

    /// Erases the memories that a query finds.
    pub(super) fn erase_memories(&mut self, query: &str, values: impl Params) -> Result<()> {
        let found: Vec<i64> = self.archive.db.all(query, values)?;
        found.into_iter().try_for_each(|number| self.erase_memory(number))
    }

    /// Records no marks: those of the turns prevent that their memories are made again from what was erased.
    pub(super) fn drop_memories(&mut self, query: &str, values: impl Params) -> Result<()> {
        let found: Vec<i64> = self.archive.db.all(query, values)?;
        found.into_iter().try_for_each(|number| self.drop_memory(number))
    }

    /// Removes facts that remaining memories took from erased turns.
    pub(super) fn drop_taken_facts(&mut self) -> Result<()> {
        if self.dropped.is_empty() {
            return Ok(());
        }
        for (memory, trace, why) in self.archive.db.all::<(i64, i64, String)>(FINDINGS, [])? {
            let turn_id = why.split_once(' ').and_then(|(_, id)| id.rsplit_once('#'));
            let turn = turn_id.and_then(|(session, turn)| {
                Some((SessionKey::parse(session).ok()?, turn.parse::<i64>().ok()?))
            });
            if turn.is_some_and(|turn| self.dropped.contains(&turn)) {
                self.drop_facts_of(memory, trace)?;
            }
        }
        Ok(())
    }

    fn drop_facts_of(&mut self, number: i64, trace: i64) -> Result<()> {
        let previous: Vec<(i64, String)> = self.archive.db.all(PREVIOUS_ROWS, (number, trace))?;
        let Some(memory) = self.archive.memory(number)? else { return Ok(()) };
        let before = previous.first().map(|(_, before)| facts_in(before)).unwrap_or_default();
        let after = previous.get(1).map_or_else(|| memory.content.facts.clone(), |(_, next)| facts_in(next));
        let added: Vec<String> = after.into_iter().filter(|fact| !before.contains(fact)).collect();
        for (id, before) in previous.iter().skip(1) {
            self.archive.db.change(CHANGE_BEFORE, (id, without_facts(before, &added)))?;
        }
        let (at, draft) = (memory.changed_at, memory.content.into_draft());
        let facts = draft.facts.iter().filter(|fact| !added.contains(fact)).cloned().collect();
        if let Some(content) = MemoryContent::of(MemoryDraft { facts, ..draft }) {
            self.archive.set_memory_text(number, &content, at)?;
            self.archive.stamp_memory_text(number)?;
        }
        self.archive.db.change(FORGET_FINDING, [trace])?;
        self.archive.note_change("memory", number, None)?;
        self.texts.memories.push(number);
        self.erased.others += 1;
        Ok(())
    }
}

/// The facts of a row as a trace stores it: a JSON list within the object.
fn facts_in(before: &str) -> Vec<String> {
    let row: Value = serde_json::from_str(before).unwrap_or_default();
    serde_json::from_str(row["facts"].as_str().unwrap_or("[]")).unwrap_or_default()
}

fn without_facts(before: &str, added: &[String]) -> String {
    let mut row: Value = serde_json::from_str(before).unwrap_or_default();
    let kept: Vec<String> = facts_in(before).into_iter().filter(|fact| !added.contains(fact)).collect();
    row["facts"] = serde_json::to_string(&kept).unwrap_or_else(|_| "[]".to_owned()).into();
    row.to_string()
}
