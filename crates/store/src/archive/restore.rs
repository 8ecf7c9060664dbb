//! Imports exported conversations with all their rows.
//!
//! Adds missing rows and leaves existing ones alone: importing twice changes nothing. Accepts only `CleanText` text, and no
//! row that was forgotten here.

use super::keep::{
    ExportedConversation, ExportedDetail, ExportedMessage, ExportedRow, ExportedTurn, ExportedUsage,
};
use super::pack::Packer;
use super::reverts::ADD_REVERT;
use super::summaries::KeptSummary;
use super::usage::add_usage;
use super::write::{ADD_COMMIT, ADD_FILE, project_uid};
use super::{Archive, PackedOpening};
use crate::Result;
use crate::columns::values;
use crate::query::Query;
use crate::tables::projects::ProjectTable;
use rusqlite::{Transaction, TransactionBehavior};
use std::collections::{HashMap, HashSet};
use std::io;
use towline_core::forget::{PieceSource, marks_of};
use towline_core::id::{IdHash, SessionKey, Uid};
use towline_core::piece::StopReason;
use towline_core::project::ProjectIdentity;
use towline_core::text::CleanText;
use towline_core::time::Timestamp;

const GROW: &str = "
    update conversations set revision = revision + 1, turns = max(turns, ?2), last_at = max(last_at, ?4),
        first_at = case when first_at = 0 then ?3 else min(first_at, ?3) end
    where id = ?1 and (turns < ?2 or last_at < ?4 or first_at > ?3 or first_at = 0 and ?3 > 0)";

const IS_TAKEN: &str = "select 1 from turns where conversation = ?1 and ordinal = ?2";
const HIGHEST: &str = "select ifnull(max(ordinal), 0) from turns where conversation = ?1";

const ADD_TURN: &str = "
    insert or ignore into turns (uid, machine, revision, conversation, ordinal, mark, place, at, until, origin, agent_turn,
        stopped, tools, failures, line, reverted)
    values (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";

/// The version that covers more of a turn wins.
const SETTLE_TURN: &str = "
    update turns set revision = revision + 1, until = ?3, tools = ?4, failures = ?5, stopped = ?6, line = ?7
    where conversation = ?1 and mark = ?2 and until < ?3";

const TAKE_BACK: &str = "
    update turns set revision = revision + 1, reverted = 1 where conversation = ?1 and mark = ?2 and reverted = 0";

const ADD_BODY: &str = "
    insert or ignore into bodies (conversation, turn, mark, message, place, at, speaker, cut, text)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

const ADD_DETAIL: &str = "
    insert or ignore into details (conversation, turn, mark, place, at, kind, subagent, tool, call, outcome, size, cut,
        packed, content)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";

/// Not `or ignore`: that would also apply to the triggers it fires.
const ADD_USAGE: &str = add_usage!("do nothing");

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportCounts {
    /// Conversations in the export, known or not.
    pub conversations: usize,
    pub turns: usize,
    pub bodies: usize,
    pub details: usize,
    pub memories: usize,
    pub summaries: usize,
}

/// State between two calls of `restore`.
pub struct ImportState {
    packer: Packer,
    target: Option<ImportTarget>,
    /// The session of the current rows and the marks of its project, to find what was forgotten.
    session: Option<(SessionKey, Vec<IdHash>)>,
    /// A conversation with forgotten parts: created with the first row that may be kept.
    pending: Option<ExportedConversation>,
    forgotten_turns: HashSet<u32>,
    /// Memories superseded by one that has not been imported yet, by its id.
    replaced: HashMap<Uid, Vec<i64>>,
    pub done: ImportCounts,
}

/// The conversation that rows are added to, and its mapping of exported to local turn numbers.
pub(super) struct ImportTarget {
    pub(super) id: i64,
    ordinals: HashMap<u32, u32>,
}

impl ImportState {
    pub fn new() -> io::Result<ImportState> {
        Ok(ImportState {
            packer: Packer::new()?,
            target: None,
            session: None,
            pending: None,
            forgotten_turns: HashSet::new(),
            replaced: HashMap::new(),
            done: ImportCounts::default(),
        })
    }
}

impl Archive {
    /// Adds rows in one transaction. The rows of a conversation follow it, in this call or the next ones.
    pub fn restore(&self, restoring: &mut ImportState, rows: Vec<ExportedRow<CleanText<'_>>>) -> Result<()> {
        let transaction = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        for row in rows {
            self.restore_row(restoring, row)?;
        }
        // More rows may follow in the next call: a consumer that reads in between has to read again.
        if let Some(target) = &restoring.target {
            self.note_change("conversation", target.id, Some(0))?;
        }
        self.log_memories()?;
        transaction.commit()?;
        Ok(())
    }

    fn restore_row(&self, restoring: &mut ImportState, row: ExportedRow<CleanText<'_>>) -> Result<()> {
        if let ExportedRow::Conversation(conversation) = row {
            return self.begin_conversation(restoring, conversation);
        }
        if let ExportedRow::Memory(memory) = row {
            return self.restore_memory(restoring, *memory);
        }
        if self.is_forgotten(restoring, &row) {
            return Ok(());
        }
        if let Some(conversation) = restoring.pending.take() {
            restoring.target = Some(self.restore_conversation(&conversation)?);
        }
        let ImportState { packer, target: Some(target), done, .. } = restoring else { return Ok(()) };
        match row {
            ExportedRow::Conversation(_) | ExportedRow::Memory(_) => {}
            ExportedRow::Turn(turn) => done.turns += self.restore_turn(target, &turn)?,
            ExportedRow::Body(body) => done.bodies += self.restore_body(target, &body)?,
            ExportedRow::Detail(detail) => done.details += self.restore_detail(target, &detail, packer)?,
            ExportedRow::Usage(usage) => self.restore_usage(target, &usage)?,
            ExportedRow::File { turn, path, how } => {
                self.db.run(ADD_FILE, (target.id, target.ordinal(turn), path, how.name()))?;
            }
            ExportedRow::Commit { turn, commit } => {
                self.db.run(ADD_COMMIT, (target.id, target.ordinal(turn), commit.hash, commit.subject))?;
            }
            ExportedRow::Revert { from, at } => {
                self.db.run(ADD_REVERT, (target.id, from.cast_signed(), at.0))?;
            }
            ExportedRow::Summary(summary) => done.summaries += self.restore_summary(target, &summary)?,
        }
        Ok(())
    }

    fn begin_conversation(
        &self,
        restoring: &mut ImportState,
        mut conversation: ExportedConversation,
    ) -> Result<()> {
        let marks = conversation.project.as_ref().map(marks_of).unwrap_or_default();
        let session = conversation.session.clone();
        restoring.forgotten_turns.clear();
        restoring.done.conversations += 1;
        match self.forgotten.of(&session, &marks) {
            None => restoring.target = Some(self.restore_conversation(&conversation)?),
            Some(gone) => {
                if gone.is_folder_erased() {
                    (conversation.folder, conversation.project) = (None, None);
                }
                restoring.target = None;
                restoring.pending = Some(conversation);
            }
        }
        restoring.session = Some((session, marks));
        Ok(())
    }

    /// Whether the row was forgotten here.
    fn is_forgotten(&self, restoring: &mut ImportState, row: &ExportedRow<CleanText<'_>>) -> bool {
        let ImportState { session: Some((session, marks)), forgotten_turns, .. } = restoring else {
            return false;
        };
        let Some(gone) = self.forgotten.of(session, marks) else { return false };
        let in_gone_turn = |turn: &u32| forgotten_turns.contains(turn);
        match row {
            ExportedRow::Conversation(_) | ExportedRow::Revert { .. } | ExportedRow::Memory(_) => false,
            // A summary of the remaining turns is made again from them.
            ExportedRow::Summary(_) => true,
            ExportedRow::Turn(turn) => {
                let is_gone = gone.is_turn_erased(turn.mark, turn.at);
                if is_gone {
                    forgotten_turns.insert(turn.ordinal);
                }
                is_gone
            }
            ExportedRow::Body(body) => {
                in_gone_turn(&body.turn) || gone.is_piece_erased(body.mark, body.at, PieceSource::Session)
            }
            ExportedRow::Detail(detail) => {
                let source = PieceSource::of(detail.subagent.as_ref());
                in_gone_turn(&detail.turn) || gone.is_piece_erased(detail.mark, detail.at, source)
            }
            ExportedRow::Usage(usage) => {
                in_gone_turn(&usage.turn)
                    || gone.is_time_erased(usage.at, PieceSource::of(usage.subagent.as_ref()))
            }
            ExportedRow::File { turn, .. } | ExportedRow::Commit { turn, .. } => in_gone_turn(turn),
        }
    }

    fn restore_conversation(&self, conversation: &ExportedConversation) -> Result<ImportTarget> {
        let opening = PackedOpening {
            session: conversation.session.id.as_str().to_owned(),
            folder: conversation.folder.clone(),
            branch: conversation.project.as_ref().and_then(|traces| traces.branch.clone()),
            project: conversation.project.clone(),
            base: conversation.base.clone(),
        };
        let project = conversation.project.as_ref().map(|traces| self.project_made(traces)).transpose()?;
        let id = self.conversation_row(conversation.session.agent.as_str(), &opening, project)?;
        let row = (id, conversation.turns, conversation.first_at.0, conversation.last_at.0);
        self.db.change(GROW, row)?;
        self.note_change("conversation", id, Some(0))?;
        Ok(ImportTarget::new(id))
    }

    /// The row of a project, created if it is unknown. A known project keeps its local name and path.
    pub fn project_made(&self, traces: &ProjectIdentity) -> Result<i64> {
        let projects = ProjectTable { db: &self.db, machine: self.machine };
        match projects.find(traces)? {
            Some(known) => Ok(known),
            None => projects.row(traces, project_uid(traces), Timestamp(0)),
        }
    }

    pub(super) fn restore_turn(&self, target: &mut ImportTarget, turn: &ExportedTurn) -> Result<usize> {
        if let Some(ordinal) = self.find_turn(target.id, turn.mark)? {
            target.ordinals.insert(turn.ordinal, ordinal);
            self.restore_outcome(target.id, turn)?;
            return Ok(0);
        }
        let ordinal = self.local_ordinal(target.id, turn.ordinal)?;
        let added = self.db.change(
            ADD_TURN,
            values! {
                turn.uid, self.machine, target.id, ordinal, turn.mark, turn.place, turn.at, turn.until,
                turn.origin, turn.agent_turn, turn.stopped, turn.tools, turn.failures, turn.line,
                turn.reverted
            },
        )?;
        if added > 0 {
            target.ordinals.insert(turn.ordinal, ordinal);
            self.db.change(GROW, (target.id, ordinal, turn.at.0, turn.at.0))?;
        }
        Ok(added)
    }

    fn restore_outcome(&self, conversation: i64, turn: &ExportedTurn) -> Result<()> {
        let ExportedTurn { mark, until, tools, failures, stopped, line, .. } = turn;
        let row = (conversation, mark.0, until.0, tools, failures, stopped.map(StopReason::name), line);
        self.db.change(SETTLE_TURN, row)?;
        if turn.reverted {
            self.db.change(TAKE_BACK, (conversation, mark.0))?;
        }
        Ok(())
    }

    /// The exported ordinal, unless another turn has it here.
    fn local_ordinal(&self, conversation: i64, exported: u32) -> Result<u32> {
        if !self.db.exists(IS_TAKEN, (conversation, exported))? {
            return Ok(exported);
        }
        let highest: u32 = self.db.value(HIGHEST, [conversation])?;
        Ok(highest + 1)
    }

    pub(super) fn restore_body(
        &self,
        target: &ImportTarget,
        body: &ExportedMessage<CleanText<'_>>,
    ) -> Result<usize> {
        self.db.change(
            ADD_BODY,
            values! {
                target.id, target.ordinal(body.turn), body.mark, body.message, body.place, body.at,
                body.speaker, body.cut, body.text
            },
        )
    }

    pub(super) fn restore_detail(
        &self,
        target: &ImportTarget,
        detail: &ExportedDetail<CleanText<'_>>,
        packer: &mut Packer,
    ) -> Result<usize> {
        let text = detail.text.as_str();
        let content = packer.content(text);
        let (is_packed, bytes) = content.columns();
        self.db.change(
            ADD_DETAIL,
            values! {
                target.id, target.ordinal(detail.turn), detail.mark, detail.place, detail.at, detail.kind,
                detail.subagent, detail.tool, detail.call, detail.outcome, text.len(), detail.cut, is_packed,
                bytes
            },
        )
    }

    fn restore_usage(&self, target: &ImportTarget, usage: &ExportedUsage) -> Result<()> {
        self.db.run(
            ADD_USAGE,
            values! {
                target.id, usage.message, target.ordinal(usage.turn), usage.at, usage.subagent, usage.model,
                usage.tokens.input, usage.tokens.cache_read, usage.tokens.cache_write,
                usage.tokens.cache_write_1h, usage.tokens.output
            },
        )
    }
}

impl ImportTarget {
    pub(super) fn new(id: i64) -> ImportTarget {
        ImportTarget { id, ordinals: HashMap::new() }
    }

    /// With one turn that may have another number here.
    pub(super) fn with_turn(id: i64, exported: u32, local: u32) -> ImportTarget {
        ImportTarget { id, ordinals: HashMap::from([(exported, local)]) }
    }

    /// The local ordinal of an exported turn; 0 means before the first.
    pub(super) fn ordinal(&self, exported: u32) -> u32 {
        self.ordinals.get(&exported).copied().unwrap_or(0)
    }
}

mod memories;
#[cfg(test)]
mod tests;
