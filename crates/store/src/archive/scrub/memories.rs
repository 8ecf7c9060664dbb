//! Applies the current rules to memories, their traces, and summaries.
//!
//! Lists are cleaned item by item. Memories of an excluded project and excluded paths are deleted whole.

use super::{BATCH, Scrubber};
use crate::Result;
use crate::archive::memories::{MEMORY, fingerprint, list};
use crate::query::Query;
use rusqlite::Row;
use serde_json::Value;
use std::collections::BTreeMap;
use towline_core::memory::Memory;
use towline_core::time::Timestamp;

const FOLDERS: &str = "
    select m.id, ifnull(p.root, ''), ifnull(c.folder, '') from memories m left join projects p on p.id = m.project
        left join conversations c on c.id = m.conversation where m.id > ?1 order by m.id limit ?2";
const TEXTS: &str = "
    select title, subtitle, facts, narrative, concepts, branch, superseded_why, quarantine from memories where id = ?1";
/// The indexes of facts and concepts among them.
const LISTS: [usize; 2] = [2, 4];
const CHANGE_TEXTS: &str = "
    update memories set title = ?2, subtitle = ?3, facts = ?4, narrative = ?5, concepts = ?6, branch = ?7,
        superseded_why = ?8, quarantine = ?9, revision = revision + 1 where id = ?1";
const CHANGE_FINGERPRINT: &str = "update memories set fingerprint = ?2 where id = ?1";
const PATHS: &str = "select path from memory_files where memory = ?1";
const DROP_PATH: &str = "delete from memory_files where memory = ?1 and path = ?2";
const CONCEPTS: &str = "select concept from memory_concepts where memory = ?1";
const DROP_CONCEPT: &str = "delete from memory_concepts where memory = ?1 and concept = ?2";

const TRACES: &str = "select id, why, before from memory_trace where id > ?1 order by id limit ?2";
const CHANGE_TRACE: &str = "update memory_trace set why = ?2, before = ?3 where id = ?1";

const SUMMARIES: &str = "
    select id, conversation, request, investigated, learned, completed, next_steps, notes from summaries
    where id > ?1 order by id limit ?2";
const CHANGE_SUMMARY: &str = "
    update summaries set request = ?2, investigated = ?3, learned = ?4, completed = ?5, next_steps = ?6, notes = ?7,
        revision = revision + 1 where id = ?1";

const DROP_SUMMARY: &str = "delete from summaries where conversation = ?1";
const OF_TURN: &str = "select id from memories where conversation = ?1 and turn = ?2";
const WITH_PATH: &str = "select distinct conversation from files where path = ?1";

impl Scrubber<'_> {
    pub(super) fn memories(&mut self, after: i64) -> Result<Option<i64>> {
        let rows: Vec<(i64, String, String)> = self.rows(FOLDERS, after)?;
        let is_excluded = |folder: &str| !folder.is_empty() && (self.cleaner.is_excluded_folder)(folder);
        for (number, root, folder) in &rows {
            let is_gone = is_excluded(root) || is_excluded(folder);
            let is_changed = if is_gone {
                self.archive.drop_memory(*number)?
            } else {
                let words = self.clean_words(*number)?;
                let paths = self.clean_names(*number)?;
                words || paths
            };
            if is_changed {
                self.done.memories += 1;
                self.archive.stamp_scrubbed(*number)?;
                self.archive.note_change("memory", *number, None)?;
            }
        }
        Ok(rows.last().map(|(number, _, _)| *number))
    }

    fn clean_words(&mut self, number: i64) -> Result<bool> {
        let texts =
            |row: &Row<'_>| (0..8).map(|at| row.get(at)).collect::<rusqlite::Result<Vec<Option<String>>>>();
        let before = self.archive.db.prepare_cached(TEXTS)?.query_row([number], texts)?;
        let clean = |(at, text): (usize, &Option<String>)| {
            let clean = |text: &String| {
                if LISTS.contains(&at) { self.cleaned_list(text) } else { self.cleaned(text) }
            };
            text.as_ref().map(clean)
        };
        let after: Vec<Option<String>> = before.iter().enumerate().map(clean).collect();
        let [title, subtitle, facts, narrative, concepts, branch, why, quarantine] = after.as_slice() else {
            return Ok(false);
        };
        if after == before {
            return Ok(false);
        }
        self.change(
            CHANGE_TEXTS,
            (number, title, subtitle, facts, narrative, concepts, branch, why, quarantine),
        )?;
        let query = format!("{MEMORY} where m.id = ?1");
        let memory: Memory = self.archive.db.value(&query, [number])?;
        self.change(CHANGE_FINGERPRINT, (number, fingerprint(&memory.content).0))?;
        Ok(true)
    }

    fn clean_names(&mut self, number: i64) -> Result<bool> {
        let names = |query: &str| -> Result<Vec<String>> { self.archive.db.all(query, [number]) };
        let mut dropped = 0;
        for path in names(PATHS)? {
            if (self.cleaner.is_excluded_path)(&path) || (self.cleaner.clean)(&path).is_some() {
                dropped += self.change(DROP_PATH, (number, path))?;
            }
        }
        for concept in names(CONCEPTS)? {
            if (self.cleaner.clean)(&concept).is_some() {
                dropped += self.change(DROP_CONCEPT, (number, concept))?;
            }
        }
        Ok(dropped > 0)
    }

    pub(super) fn traces(&mut self, after: i64) -> Result<Option<i64>> {
        let rows: Vec<(i64, String, Option<String>)> = self.rows(TRACES, after)?;
        for (id, why, before) in &rows {
            let clean_why = self.cleaned(why);
            let clean_before = before.as_ref().map(|before| self.cleaned_row(before));
            if (&clean_why, &clean_before) != (why, before) {
                self.done.memories += self.change(CHANGE_TRACE, (id, clean_why, clean_before))?;
            }
        }
        Ok(rows.last().map(|(id, _, _)| *id))
    }

    pub(super) fn summaries(&mut self, after: i64) -> Result<Option<i64>> {
        let read = |row: &Row<'_>| {
            let parts = (2..8).map(|at| row.get(at)).collect::<rusqlite::Result<Vec<String>>>()?;
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, parts))
        };
        let rows = self.archive.db.all_with(SUMMARIES, (after, BATCH), read)?;
        for (id, conversation, before) in &rows {
            let after: Vec<String> = before.iter().map(|part| self.cleaned(part)).collect();
            if let [request, investigated, learned, completed, next, notes] = after.as_slice()
                && after != *before
            {
                let row = (id, request, investigated, learned, completed, next, notes);
                self.done.memories += self.change(CHANGE_SUMMARY, row)?;
                self.archive.note_change("summary", *conversation, None)?;
            }
        }
        Ok(rows.last().map(|(id, _, _)| *id))
    }

    /// Drops what was made from a turn with an excluded call: it may mention the call, and is made again without it.
    pub(super) fn drop_derived_memories(&mut self, conversation: i64, turn: i64) -> Result<()> {
        for number in self.archive.db.all(OF_TURN, [conversation, turn])? {
            self.done.memories += usize::from(self.archive.drop_memory(number)?);
        }
        self.make_again(conversation, turn)
    }

    /// Drops the summaries of sessions that touched an excluded file: they may name it.
    pub(super) fn unlearn_path(&mut self, path: &str) -> Result<()> {
        for conversation in self.archive.db.all(WITH_PATH, [path])? {
            self.make_again(conversation, 0)?;
        }
        Ok(())
    }

    fn make_again(&mut self, conversation: i64, from_turn: i64) -> Result<()> {
        self.archive.add_summary_tombstone(conversation, Timestamp(0))?;
        self.done.memories += self.change(DROP_SUMMARY, [conversation])?;
        self.archive.note_change("conversation", conversation, Some(from_turn))
    }

    fn cleaned(&self, text: &str) -> String {
        (self.cleaner.clean)(text).unwrap_or_else(|| text.to_owned())
    }

    /// A list of texts, as stored in its column.
    fn cleaned_list(&self, text: &str) -> String {
        let Ok(items) = serde_json::from_str::<Vec<String>>(text) else { return self.cleaned(text) };
        let clean: Vec<String> = items.iter().map(|item| self.cleaned(item)).collect();
        if clean == items { text.to_owned() } else { list(&clean) }
    }

    /// A row as a trace stores it: its texts, its lists, and its files.
    fn cleaned_row(&self, before: &str) -> String {
        let Ok(mut row) = serde_json::from_str::<BTreeMap<String, Value>>(before) else {
            return self.cleaned(before);
        };
        let is_excluded =
            |path: &str| (self.cleaner.is_excluded_path)(path) || (self.cleaner.clean)(path).is_some();
        let mut is_changed = false;
        for (name, value) in &mut row {
            let Some(text) = value.as_str() else { continue };
            let clean = match name.as_str() {
                "files" => kept_files(text, &is_excluded),
                "facts" | "concepts" => self.cleaned_list(text),
                _ => self.cleaned(text),
            };
            if clean != text {
                *value = clean.into();
                is_changed = true;
            }
        }
        if is_changed { serde_json::to_string(&row).unwrap_or_default() } else { before.to_owned() }
    }
}

fn kept_files(text: &str, is_excluded: &dyn Fn(&str) -> bool) -> String {
    let Ok(pairs) = serde_json::from_str::<Vec<(String, String)>>(text) else { return text.to_owned() };
    let kept: Vec<&(String, String)> = pairs.iter().filter(|(path, _)| !is_excluded(path)).collect();
    if kept.len() == pairs.len() {
        return text.to_owned();
    }
    serde_json::to_string(&kept).unwrap_or_else(|_| "[]".to_owned())
}
