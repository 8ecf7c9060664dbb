//! The history of a memory: every change records the previous row, so that it can be undone.
//!
//! The trace is written in the transaction of the change. It never changes a memory by itself, except to undo.

use super::row::files_in;
use crate::Result;
use crate::archive::Archive;
use crate::columns::from_row;
use crate::query::Query;
use towline_core::memory::{MemoryContent, MemoryDraft};
use towline_core::time::Timestamp;

/// One entry of a memory's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryTrace {
    pub at: Timestamp,
    /// `made`, `found again`, `edited`, `pinned`, `unpinned`, `proposed`, `accepted`, `rejected`, `superseded`, `released`,
    /// `held back`, `kept private`, `shared`, `changed elsewhere`.
    pub what: String,
    pub why: String,
    pub undone_at: Option<Timestamp>,
}

from_row!(MemoryTrace { at, what, why, undone_at });

/// The columns that an undo restores.
const ROW_JSON: &str = "
    select json_object('type', type, 'title', title, 'subtitle', subtitle, 'facts', facts, 'narrative', narrative,
        'concepts', concepts, 'valid_from', valid_from, 'superseded_by', superseded_by, 'superseded_at', superseded_at,
        'superseded_why', superseded_why, 'superseded_uid', hex(superseded_uid), 'presence', presence,
        'pinned_at', pinned_at, 'proposed_at', proposed_at, 'trust', trust, 'quarantine', quarantine, 'found', found,
        'fingerprint', fingerprint, 'confidence', confidence,
        'files', (select json_group_array(json_array(path, how)) from memory_files where memory = memories.id))
    from memories where id = ?1";

/// `found` never decreases once the memory was sent: other machines have merged the count. Old traces lack
/// `superseded_uid` and `trust`. Undoing lowers trust, from the user's to what it was, and never raises it.
const PUT_BACK: &str = "
    update memories set revision = revision + 1, changed_at = ?3, type = ?2 ->> 'type', title = ?2 ->> 'title',
        subtitle = ?2 ->> 'subtitle', facts = ?2 ->> 'facts', narrative = ?2 ->> 'narrative',
        concepts = ?2 ->> 'concepts', valid_from = ?2 ->> 'valid_from', superseded_by = ?2 ->> 'superseded_by',
        superseded_at = ?2 ->> 'superseded_at', superseded_why = ?2 ->> 'superseded_why',
        superseded_uid = ifnull(nullif(unhex(?2 ->> 'superseded_uid'), x''),
            (select b.uid from memories b where b.id = ?2 ->> 'superseded_by')),
        presence = ifnull(?2 ->> 'presence', presence),
        pinned_at = ?2 ->> 'pinned_at', proposed_at = ?2 ->> 'proposed_at', quarantine = ?2 ->> 'quarantine',
        trust = iif(trust = 'person', ifnull(?2 ->> 'trust', trust), trust),
        found = iif(exists (select 1 from sent where sent.uid = memories.uid), max(found, ?2 ->> 'found'), ?2 ->> 'found'),
        fingerprint = ?2 ->> 'fingerprint', confidence = ?2 ->> 'confidence'
    where id = ?1";

const LEAVE_TRACE: &str =
    "insert into memory_trace (memory, at, what, why, before) values (?1, ?2, ?3, ?4, ?5)";
const LAST_TRACE: &str = "
    select id, what, before from memory_trace where memory = ?1 and undone_at is null order by id desc limit 1";
const TRACE: &str = "select at, what, why, undone_at from memory_trace where memory = ?1 order by id";

impl Archive {
    /// Undoes the last change not undone yet. Returns its name; `None` if there is nothing to undo.
    pub fn undo_memory(&self, number: i64, at: Timestamp) -> Result<Option<String>> {
        self.in_transaction(|| {
            let last: Option<(i64, String, Option<String>)> = self.db.first(LAST_TRACE, [number])?;
            let Some((trace, what, Some(before))) = last else { return Ok(None) };
            let undone = self.row_json(number)?.unwrap_or_default();
            self.db.change(PUT_BACK, (number, &before, at.0))?;
            let content = self.memory(number)?.map(|memory| memory.content.into_draft());
            let files = serde_json::from_str::<serde_json::Value>(&before).unwrap_or_default();
            if let Some(draft) = content {
                let files = files_in(files["files"].as_str().unwrap_or("[]"));
                let put_back = MemoryContent::of(MemoryDraft { files, ..draft });
                put_back.map(|content| self.set_files_and_concepts(number, &content)).transpose()?;
            }
            let taken_back = "update memory_trace set undone_at = ?2 where id = ?1";
            self.db.change(taken_back, (trace, at.0))?;
            self.stamp_changes(number, &undone)?;
            self.note_change("memory", number, None)?;
            Ok(Some(what))
        })
    }

    /// The history of a memory, in order.
    pub fn memory_trace(&self, number: i64) -> Result<Vec<MemoryTrace>> {
        self.db.all(TRACE, [number])
    }

    /// Runs a change and records the previous row. A change of no rows leaves no trace.
    pub(crate) fn change_memory(
        &self,
        number: i64,
        at: Timestamp,
        what: &str,
        why: &str,
        change: impl FnOnce() -> Result<usize>,
    ) -> Result<bool> {
        self.in_transaction(|| {
            let Some(before) = self.row_json(number)? else { return Ok(false) };
            if change()? == 0 {
                return Ok(false);
            }
            self.stamp_changes(number, &before)?;
            self.add_memory_history(number, at, what, why, Some(&before))?;
            self.note_change("memory", number, None)?;
            Ok(true)
        })
    }

    /// The row as JSON, as traces store it.
    pub(crate) fn row_json(&self, number: i64) -> Result<Option<String>> {
        self.db.first(ROW_JSON, [number])
    }

    pub(crate) fn add_memory_history(
        &self,
        number: i64,
        at: Timestamp,
        what: &str,
        why: &str,
        before: Option<&str>,
    ) -> Result<()> {
        self.db.run(LEAVE_TRACE, (number, at.0, what, why, before))
    }
}
