//! Imports memories and summaries.
//!
//! A known memory stays as it is here. Each keeps its number unless another memory has it; supersession is resolved by
//! global ids, in either order of arrival.

use super::{ImportState, ImportTarget, KeptSummary};
use crate::Result;
use crate::archive::keep::ExportedMemory;
use crate::archive::memories::NewMemory;
use crate::archive::{Archive, Conversation};
use crate::query::Query;
use towline_core::memory::Memory;

/// The changes of a memory since it was made.
const SET_STATE: &str = "
    update memories set changed_at = ?2, superseded_at = ?3, superseded_why = ?4, pinned_at = ?5, found = ?6,
        proposed_at = ?7 where id = ?1";
const REPLACED: &str = "
    update memories set superseded_by = ?2, superseded_uid = (select b.uid from memories b where b.id = ?2)
    where id = ?1 and superseded_at is not null";

impl Archive {
    pub(super) fn restore_memory(&self, restoring: &mut ImportState, kept: ExportedMemory) -> Result<()> {
        let project = kept.traces.as_ref().map(|traces| self.project_made(traces)).transpose()?;
        let memory = kept.memory;
        let number = match self.memory_by_uid(memory.uid)? {
            Some(known) => known,
            None if self.is_memory_forgotten(&as_new(&memory, project))? => return Ok(()),
            None => {
                restoring.done.memories += 1;
                self.put_memory(&memory, project)?
            }
        };
        for waiting in restoring.replaced.remove(&memory.uid).unwrap_or_default() {
            self.db.change(REPLACED, (waiting, number))?;
        }
        if let Some(by) = kept.replaced_by {
            match self.memory_by_uid(by)? {
                Some(by) => {
                    self.db.change(REPLACED, (number, by))?;
                }
                None => restoring.replaced.entry(by).or_default().push(number),
            }
        }
        Ok(())
    }

    fn put_memory(&self, memory: &Memory, project: Option<i64>) -> Result<i64> {
        self.insert_memory(
            &as_new(memory, project),
            Some(memory.number),
            self.machine,
            memory.person.as_deref(),
        )?;
        let number = self.db.last_insert_rowid();
        let superseded = memory.superseded.as_ref();
        let (superseded_at, why) = (superseded.map(|it| it.at.0), superseded.map(|it| &it.why));
        let [pinned_at, proposed_at] = [memory.pinned_at, memory.proposed_at].map(|at| at.map(|at| at.0));
        let state = (number, memory.changed_at.0, superseded_at, why, pinned_at, memory.found, proposed_at);
        self.db.change(SET_STATE, state)?;
        self.set_files_and_concepts(number, &memory.content)?;
        self.add_memory_history(number, memory.changed_at, "made", "taken in from an export", None)?;
        self.note_change("memory", number, None)?;
        Ok(number)
    }

    /// The later summary of a session wins.
    pub(super) fn restore_summary(&self, target: &ImportTarget, kept: &KeptSummary) -> Result<usize> {
        let conversation: Conversation = self.conversation_by_row(target.id)?;
        if self.summary(&conversation)?.is_some_and(|known| known.at >= kept.at) {
            return Ok(0);
        }
        let turn = target.ordinal(kept.turn).max(1);
        self.put_summary(&conversation, &KeptSummary { turn, ..kept.clone() })?;
        Ok(1)
    }
}

fn as_new(memory: &Memory, project: Option<i64>) -> NewMemory {
    let source = memory.source.as_ref();
    NewMemory {
        uid: memory.uid,
        content: memory.content.clone(),
        project,
        session: source.map(|source| source.session.clone()),
        turn: source.and_then(|source| source.turn),
        branch: source.and_then(|source| source.branch.clone()),
        commit: source.and_then(|source| source.commit.clone()),
        maker: memory.maker.clone(),
        trust: memory.trust,
        confidence: memory.confidence,
        cost: memory.cost,
        at: memory.made_at,
        valid_from: memory.valid_from,
        quarantine: memory.quarantine.clone(),
    }
}
