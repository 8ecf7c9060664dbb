//! Imports memories and summaries.
//!
//! A known memory stays as it is here. Each keeps its number unless another memory has it; supersession is resolved by
//! global ids, in either order of arrival.

use super::{ImportState, ImportTarget, KeptSummary};
use crate::StoreError;
use crate::archive::keep::ExportedMemory;
use crate::archive::memories::{NewMemory, fingerprint, list};
use crate::archive::{Archive, Conversation};
use crate::query::Query;
use rusqlite::params;
use towline_core::memory::Memory;

const ADD: &str = "
    insert into memories (id, uid, machine, revision, project, conversation, session, turn, branch, commit_hash, type,
        title, subtitle, facts, narrative, concepts, maker, trust, confidence, cost, made_at, changed_at, valid_from,
        superseded_at, superseded_why, pinned_at, quarantine, found, fingerprint, person)
    values ((select ?1 where not exists (select 1 from memories where id = ?1)), ?2, ?3, 1, ?4,
        (select id from conversations where short = ?5 and agent || ':' || session = ?6), ?6, ?7, ?8, ?9, ?10, ?11, ?12,
        ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29)";
const REPLACED: &str = "
    update memories set superseded_by = ?2, superseded_uid = (select b.uid from memories b where b.id = ?2)
    where id = ?1 and superseded_at is not null";

impl Archive {
    pub(super) fn restore_memory(
        &self,
        restoring: &mut ImportState,
        kept: ExportedMemory,
    ) -> Result<(), StoreError> {
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

    fn put_memory(&self, memory: &Memory, project: Option<i64>) -> Result<i64, StoreError> {
        let (content, source) = (&memory.content, memory.source.as_ref());
        self.db.prepare_cached(ADD)?.execute(params![
            memory.number,
            memory.uid.0,
            self.machine.0,
            project,
            source.map(|source| &source.short),
            source.map(|source| source.session.to_string()),
            source.and_then(|source| source.turn),
            source.and_then(|source| source.branch.as_ref()),
            source.and_then(|source| source.commit.as_ref()),
            content.kind.as_str(),
            content.title,
            content.subtitle,
            list(&content.facts),
            content.narrative,
            list(&content.concepts),
            memory.maker.name(),
            memory.trust.name(),
            memory.confidence.as_percent(),
            memory.cost.cast_signed(),
            memory.made_at.0,
            memory.changed_at.0,
            memory.valid_from.0,
            memory.superseded.as_ref().map(|superseded| superseded.at.0),
            memory.superseded.as_ref().map(|superseded| &superseded.why),
            memory.pinned_at.map(|at| at.0),
            memory.quarantine,
            memory.found,
            fingerprint(content).0,
            memory.person,
        ])?;
        let number = self.db.last_insert_rowid();
        self.set_files_and_concepts(number, content)?;
        self.add_memory_history(number, memory.changed_at, "made", "taken in from an export", None)?;
        self.note_change("memory", number, None)?;
        Ok(number)
    }

    /// The later summary of a session wins.
    pub(super) fn restore_summary(
        &self,
        target: &ImportTarget,
        kept: &KeptSummary,
    ) -> Result<usize, StoreError> {
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
    NewMemory {
        uid: memory.uid,
        content: memory.content.clone(),
        project,
        session: memory.source.as_ref().map(|source| source.session.clone()),
        turn: None,
        branch: None,
        commit: None,
        maker: memory.maker.clone(),
        trust: memory.trust,
        confidence: memory.confidence,
        cost: memory.cost,
        at: memory.made_at,
        valid_from: memory.valid_from,
        quarantine: None,
    }
}
