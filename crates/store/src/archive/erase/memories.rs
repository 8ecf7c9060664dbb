//! Erasing memories: with the turns they came from, by their numbers, by the time they were made.
//!
//! A memory that took over facts from what is forgotten loses those, wherever its trace repeats them. What went is noted by
//! its id and a mark of its words, so that no import and no distiller brings it back.

use super::{KnownProject, Work};
use crate::StoreError;
use crate::archive::memories::marks_of;
use rusqlite::Row;
use serde_json::Value;
use towline_core::forget::Stretch;
use towline_core::id::SessionKey;
use towline_core::memory::{Content, Draft};
use towline_core::time::Timestamp;

/// A memory may be older than what was captured of its session.
const SEAT: &str = "
    update memories set conversation = (select c.id from conversations c
        where c.short = substr(substr(memories.session, instr(memories.session, ':') + 1), -8)
            and c.agent || ':' || c.session = memories.session)
    where conversation is null and session is not null";

const OF_TURN: &str = "select id from memories where conversation = ?1 and turn = ?2";
const RAN_INTO: &str = "
    select m.id from memories m join turns t on t.conversation = m.conversation and t.ordinal = m.turn
    where t.conversation = ?1 and t.at < ?2 and t.until >= ?2";
const OF_SESSION: &str = "
    select id from memories where session = ?1 and (made_at between ?2 and ?3 or valid_from between ?2 and ?3)";
const OF_PROJECT: &str = "
    select m.id from memories m join projects p on p.id = m.project
    where (p.root = ?1 or p.remote is not null and p.remote = ?2)
        and (m.made_at between ?3 and ?4 or m.valid_from between ?3 and ?4)";
const OF_THEN: &str = "
    select id from memories where made_at between ?1 and ?2 or valid_from between ?1 and ?2";

/// Findings that name a session; the first word is an id.
const FINDINGS: &str =
    "select memory, id, why from memory_trace where what = 'found again' and instr(why, ' ') > 0";
const BEFORES: &str =
    "select id, before from memory_trace where memory = ?1 and before is not null and id >= ?2 order by id";
const CHANGE_BEFORE: &str = "update memory_trace set before = ?2 where id = ?1";
const FORGET_FINDING: &str = "update memory_trace set why = '' where id = ?1";

impl Work<'_> {
    pub(super) fn seat_memories(&mut self) -> Result<(), StoreError> {
        self.archive.change(SEAT, [])?;
        Ok(())
    }

    /// One memory, with a note that it went.
    pub(super) fn memory(&mut self, number: i64) -> Result<(), StoreError> {
        let Some(memory) = self.archive.memory(number)? else { return Ok(()) };
        for mark in marks_of(memory.uid, &memory.content) {
            self.forgotten.add_memory(mark);
        }
        self.drop_memory(number)?;
        Ok(())
    }

    fn drop_memory(&mut self, number: i64) -> Result<(), StoreError> {
        self.archive.bury_memory(number, self.burial)?;
        self.erased.memories += usize::from(self.archive.drop_memory(number)?);
        Ok(())
    }

    /// What was learnt from a turn is not noted: the turn is, and no memory is made of it again.
    pub(super) fn memories_of_turn(&mut self, turn: (i64, i64)) -> Result<(), StoreError> {
        for number in self.archive.list(OF_TURN, turn, |row| row.get(0))? {
            self.drop_memory(number)?;
        }
        Ok(())
    }

    /// Of turns of which only the rest stays: what was learnt is learnt again from that.
    pub(super) fn memories_that_ran_into(&mut self, of: i64, from: Timestamp) -> Result<(), StoreError> {
        for number in self.archive.list(RAN_INTO, (of, from.0), |row| row.get(0))? {
            self.drop_memory(number)?;
        }
        Ok(())
    }

    pub(super) fn memories_of_session(
        &mut self,
        session: &SessionKey,
        stretch: Stretch,
    ) -> Result<(), StoreError> {
        let then = (session.to_string(), stretch.from.0, stretch.until.0);
        let found: Vec<i64> = self.archive.list(OF_SESSION, then, |row| row.get(0))?;
        found.into_iter().try_for_each(|number| self.memory(number))
    }

    pub(super) fn memories_of_project(
        &mut self,
        project: &KnownProject,
        stretch: Stretch,
    ) -> Result<(), StoreError> {
        let then = (&project.root, &project.remote, stretch.from.0, stretch.until.0);
        let found: Vec<i64> = self.archive.list(OF_PROJECT, then, |row| row.get(0))?;
        found.into_iter().try_for_each(|number| self.memory(number))
    }

    pub(super) fn memories_of_then(&mut self, stretch: Stretch) -> Result<(), StoreError> {
        let found: Vec<i64> =
            self.archive.list(OF_THEN, (stretch.from.0, stretch.until.0), |row| row.get(0))?;
        found.into_iter().try_for_each(|number| self.memory(number))
    }

    /// Takes back what memories that stay took over from turns that went.
    pub(super) fn shed_findings(&mut self) -> Result<(), StoreError> {
        if self.dropped.is_empty() {
            return Ok(());
        }
        let read =
            |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?));
        for (memory, trace, why) in self.archive.list(FINDINGS, [], read)? {
            let place = why.split_once(' ').and_then(|(_, place)| place.rsplit_once('#'));
            let turn = place.and_then(|(session, turn)| {
                Some((SessionKey::parse(session).ok()?, turn.parse::<i64>().ok()?))
            });
            if turn.is_some_and(|turn| self.dropped.contains(&turn)) {
                self.shed_finding(memory, trace)?;
            }
        }
        Ok(())
    }

    fn shed_finding(&mut self, number: i64, trace: i64) -> Result<(), StoreError> {
        let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
        let befores = self.archive.list(BEFORES, (number, trace), read)?;
        let Some(memory) = self.archive.memory(number)? else { return Ok(()) };
        let before = befores.first().map(|(_, before)| facts_in(before)).unwrap_or_default();
        let after = befores.get(1).map_or_else(|| memory.content.facts.clone(), |(_, next)| facts_in(next));
        let taken: Vec<String> = after.into_iter().filter(|fact| !before.contains(fact)).collect();
        for (id, before) in befores.iter().skip(1) {
            self.archive.change(CHANGE_BEFORE, (id, without(before, &taken)))?;
        }
        let (at, draft) = (memory.changed_at, memory.content.into_draft());
        let facts = draft.facts.iter().filter(|fact| !taken.contains(fact)).cloned().collect();
        if let Some(content) = Content::of(Draft { facts, ..draft }) {
            self.archive.put_words(number, &content, at)?;
            self.archive.stamp_words(number)?;
        }
        self.archive.change(FORGET_FINDING, [trace])?;
        self.archive.note_change("memory", number, None)?;
        self.erased.others += 1;
        Ok(())
    }
}

/// The facts of a row as a trace keeps it: a list within the object.
fn facts_in(before: &str) -> Vec<String> {
    let row: Value = serde_json::from_str(before).unwrap_or_default();
    serde_json::from_str(row["facts"].as_str().unwrap_or("[]")).unwrap_or_default()
}

fn without(before: &str, taken: &[String]) -> String {
    let mut row: Value = serde_json::from_str(before).unwrap_or_default();
    let kept: Vec<String> = facts_in(before).into_iter().filter(|fact| !taken.contains(fact)).collect();
    row["facts"] = serde_json::to_string(&kept).unwrap_or_else(|_| "[]".to_owned()).into();
    row.to_string()
}
