//! Taking in what an archive gave out: conversations with all that belongs to them.
//!
//! Adds what is not known and leaves what is: doing it again changes nothing. Takes only text that is `Clean`, and nothing
//! that was forgotten here.

use super::keep::{KeptBody, KeptConversation, KeptDetail, KeptRow, KeptTurn, KeptUsage};
use super::pack::{Content, Packer};
use super::summaries::KeptSummary;
use super::usage::add_usage;
use super::write::{FIND_TURN, project_uid};
use super::{Archive, PackedOpening};
use crate::StoreError;
use crate::tables::projects::Projects;
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};
use std::collections::{HashMap, HashSet};
use std::io;
use towline_core::capture::Touch;
use towline_core::deed::Commit;
use towline_core::forget::{Whose as Speaker, marks_of};
use towline_core::id::{Mark, SessionKey, Uid};
use towline_core::piece::Stop;
use towline_core::project::ProjectTraces;
use towline_core::text::Clean;
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

/// Whoever saw more of a turn knows it better.
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

/// Not `or ignore`: that would hold for what follows from it, too.
const ADD_USAGE: &str = add_usage!("do nothing");

const ADD_FILE: &str = "insert or ignore into files (conversation, turn, path, how) values (?1, ?2, ?3, ?4)";
const ADD_COMMIT: &str =
    "insert or ignore into commits (conversation, turn, hash, subject) values (?1, ?2, ?3, ?4)";
const ADD_REVERT: &str = "insert or ignore into reverts (conversation, from_place, at) values (?1, ?2, ?3)";

/// What was added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Conversations that were given, known or not.
    pub conversations: usize,
    pub turns: usize,
    pub bodies: usize,
    pub details: usize,
    pub memories: usize,
    pub summaries: usize,
}

/// What is remembered between two calls of `restore`.
pub struct Restoring {
    packer: Packer,
    whose: Option<Whose>,
    /// Whose rows come now, and the marks of its project: by them it is known what was forgotten.
    of: Option<(SessionKey, Vec<Mark>)>,
    /// A conversation of which something was forgotten: made with the first row that may be kept.
    pending: Option<KeptConversation>,
    forgotten_turns: HashSet<u32>,
    /// Memories that were replaced by one that has not come yet, by its id.
    replaced: HashMap<Uid, Vec<i64>>,
    pub done: Restored,
}

/// The conversation that rows are added to, and which of its turns are which here.
pub(super) struct Whose {
    pub(super) id: i64,
    ordinals: HashMap<u32, u32>,
}

impl Restoring {
    pub fn new() -> io::Result<Restoring> {
        Ok(Restoring {
            packer: Packer::new()?,
            whose: None,
            of: None,
            pending: None,
            forgotten_turns: HashSet::new(),
            replaced: HashMap::new(),
            done: Restored::default(),
        })
    }
}

impl Archive {
    /// Adds some rows in one transaction. Those of a conversation follow it, in this call or the next ones.
    pub fn restore(
        &self,
        restoring: &mut Restoring,
        rows: Vec<KeptRow<Clean<'_>>>,
    ) -> Result<(), StoreError> {
        let transaction = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        for row in rows {
            self.restore_row(restoring, row)?;
        }
        // The rest of its rows may follow in the next call: whoever looks meanwhile has to look again.
        if let Some(whose) = &restoring.whose {
            self.note_change("conversation", whose.id, Some(0))?;
        }
        transaction.commit()?;
        Ok(())
    }

    fn restore_row(&self, restoring: &mut Restoring, row: KeptRow<Clean<'_>>) -> Result<(), StoreError> {
        if let KeptRow::Conversation(conversation) = row {
            return self.begin_conversation(restoring, conversation);
        }
        if let KeptRow::Memory(memory) = row {
            return self.restore_memory(restoring, *memory);
        }
        if self.is_forgotten(restoring, &row) {
            return Ok(());
        }
        if let Some(conversation) = restoring.pending.take() {
            restoring.whose = Some(self.made(&conversation)?);
        }
        let Restoring { packer, whose: Some(whose), done, .. } = restoring else { return Ok(()) };
        match row {
            KeptRow::Conversation(_) | KeptRow::Memory(_) => {}
            KeptRow::Turn(turn) => done.turns += self.restore_turn(whose, &turn)?,
            KeptRow::Body(body) => done.bodies += self.restore_body(whose, &body)?,
            KeptRow::Detail(detail) => done.details += self.restore_detail(whose, &detail, packer)?,
            KeptRow::Usage(usage) => self.restore_usage(whose, &usage)?,
            KeptRow::File { turn, path, how } => self.restore_file(whose, turn, (&path, how))?,
            KeptRow::Commit { turn, commit } => self.restore_commit(whose, turn, &commit)?,
            KeptRow::Revert { from, at } => self.restore_revert(whose, from, at)?,
            KeptRow::Summary(summary) => done.summaries += self.restore_summary(whose, &summary)?,
        }
        Ok(())
    }

    fn begin_conversation(
        &self,
        restoring: &mut Restoring,
        mut conversation: KeptConversation,
    ) -> Result<(), StoreError> {
        let marks = conversation.project.as_ref().map(marks_of).unwrap_or_default();
        let session = conversation.session.clone();
        restoring.forgotten_turns.clear();
        restoring.done.conversations += 1;
        match self.forgotten.of(&session, &marks) {
            None => restoring.whose = Some(self.made(&conversation)?),
            Some(gone) => {
                if gone.is_place_gone() {
                    (conversation.folder, conversation.project) = (None, None);
                }
                restoring.whose = None;
                restoring.pending = Some(conversation);
            }
        }
        restoring.of = Some((session, marks));
        Ok(())
    }

    fn made(&self, conversation: &KeptConversation) -> Result<Whose, StoreError> {
        Ok(Whose::of(self.restore_conversation(conversation)?))
    }

    /// Whether the row is part of what was forgotten here.
    fn is_forgotten(&self, restoring: &mut Restoring, row: &KeptRow<Clean<'_>>) -> bool {
        let Restoring { of: Some((session, marks)), forgotten_turns, .. } = restoring else { return false };
        let Some(gone) = self.forgotten.of(session, marks) else { return false };
        let spoken = |helper: &Option<String>| match helper {
            Some(_) => Speaker::Helper,
            None => Speaker::Session,
        };
        let of_turn = |turn: &u32| forgotten_turns.contains(turn);
        match row {
            KeptRow::Conversation(_) | KeptRow::Revert { .. } | KeptRow::Memory(_) => false,
            // What it tells of the rest is told again from the rest.
            KeptRow::Summary(_) => true,
            KeptRow::Turn(turn) => {
                let is_gone = gone.is_turn_gone(turn.mark, turn.at);
                if is_gone {
                    forgotten_turns.insert(turn.ordinal);
                }
                is_gone
            }
            KeptRow::Body(body) => {
                of_turn(&body.turn) || gone.is_piece_gone(body.mark, body.at, Speaker::Session)
            }
            KeptRow::Detail(detail) => {
                let spoken = spoken(&detail.subagent);
                of_turn(&detail.turn) || gone.is_piece_gone(detail.mark, detail.at, spoken)
            }
            KeptRow::Usage(usage) => {
                of_turn(&usage.turn) || gone.is_time_gone(usage.at, spoken(&usage.subagent))
            }
            KeptRow::File { turn, .. } | KeptRow::Commit { turn, .. } => of_turn(turn),
        }
    }

    fn restore_conversation(&self, conversation: &KeptConversation) -> Result<i64, StoreError> {
        let opening = PackedOpening {
            session: conversation.session.id.as_str().to_owned(),
            folder: conversation.folder.clone(),
            project: conversation.project.clone(),
            base: conversation.base.clone(),
        };
        let project = conversation.project.as_ref().map(|traces| self.project_made(traces)).transpose()?;
        let id = self.conversation_row(conversation.session.agent.as_str(), &opening, project)?;
        let row = (id, conversation.turns, conversation.first_at.0, conversation.last_at.0);
        self.db.prepare_cached(GROW)?.execute(row)?;
        self.note_change("conversation", id, Some(0))?;
        Ok(id)
    }

    /// The row of a project, made if it is not known. One that is keeps the name and the place that it has here.
    pub fn project_made(&self, traces: &ProjectTraces) -> Result<i64, StoreError> {
        let projects = Projects { db: &self.db, machine: self.machine };
        match projects.find(traces)? {
            Some(known) => Ok(known),
            None => projects.row(traces, project_uid(traces), Timestamp(0)),
        }
    }

    pub(super) fn restore_turn(&self, whose: &mut Whose, turn: &KeptTurn) -> Result<usize, StoreError> {
        if let Some(ordinal) = self.known_turn(whose.id, turn.mark)? {
            whose.ordinals.insert(turn.ordinal, ordinal);
            self.restore_outcome(whose.id, turn)?;
            return Ok(0);
        }
        let ordinal = self.free_ordinal(whose.id, turn.ordinal)?;
        let added = self.db.prepare_cached(ADD_TURN)?.execute(params![
            turn.uid.0,
            self.machine.0,
            whose.id,
            ordinal,
            turn.mark.0,
            turn.place.cast_signed(),
            turn.at.0,
            turn.until.0,
            turn.origin.name(),
            turn.agent_turn,
            turn.stopped.map(Stop::name),
            turn.tools,
            turn.failures,
            turn.line,
            turn.reverted,
        ])?;
        if added > 0 {
            whose.ordinals.insert(turn.ordinal, ordinal);
            self.db.prepare_cached(GROW)?.execute((whose.id, ordinal, turn.at.0, turn.at.0))?;
        }
        Ok(added)
    }

    pub(super) fn known_turn(&self, conversation: i64, mark: Mark) -> Result<Option<u32>, StoreError> {
        let mut find = self.db.prepare_cached(FIND_TURN)?;
        Ok(find.query_row((conversation, mark.0), |row| row.get(0)).optional()?)
    }

    fn restore_outcome(&self, conversation: i64, turn: &KeptTurn) -> Result<(), StoreError> {
        let KeptTurn { mark, until, tools, failures, stopped, line, .. } = turn;
        let row = (conversation, mark.0, until.0, tools, failures, stopped.map(Stop::name), line);
        self.db.prepare_cached(SETTLE_TURN)?.execute(row)?;
        if turn.reverted {
            self.db.prepare_cached(TAKE_BACK)?.execute((conversation, mark.0))?;
        }
        Ok(())
    }

    /// The number it had, unless another turn has it here.
    fn free_ordinal(&self, conversation: i64, wanted: u32) -> Result<u32, StoreError> {
        let mut is_taken = self.db.prepare_cached(IS_TAKEN)?;
        if !is_taken.exists((conversation, wanted))? {
            return Ok(wanted);
        }
        let highest: u32 = self.db.prepare_cached(HIGHEST)?.query_row([conversation], |row| row.get(0))?;
        Ok(highest + 1)
    }

    pub(super) fn restore_body(
        &self,
        whose: &Whose,
        body: &KeptBody<Clean<'_>>,
    ) -> Result<usize, StoreError> {
        Ok(self.db.prepare_cached(ADD_BODY)?.execute(params![
            whose.id,
            whose.ordinal(body.turn),
            body.mark.0,
            body.message,
            body.place.cast_signed(),
            body.at.0,
            body.speaker.name(),
            body.cut.cast_signed(),
            body.text.as_str(),
        ])?)
    }

    pub(super) fn restore_detail(
        &self,
        whose: &Whose,
        detail: &KeptDetail<Clean<'_>>,
        packer: &mut Packer,
    ) -> Result<usize, StoreError> {
        let text = detail.text.as_str();
        let (is_packed, bytes) = match packer.content(text) {
            Content::Plain(bytes) => (false, bytes),
            Content::Packed(bytes) => (true, bytes),
        };
        Ok(self.db.prepare_cached(ADD_DETAIL)?.execute(params![
            whose.id,
            whose.ordinal(detail.turn),
            detail.mark.0,
            detail.place.cast_signed(),
            detail.at.0,
            detail.kind.name(),
            detail.subagent,
            detail.tool,
            detail.call.map(|call| call.0),
            detail.outcome,
            i64::try_from(text.len()).unwrap_or(i64::MAX),
            detail.cut.cast_signed(),
            is_packed,
            bytes,
        ])?)
    }

    fn restore_usage(&self, whose: &Whose, usage: &KeptUsage) -> Result<(), StoreError> {
        self.db.prepare_cached(ADD_USAGE)?.execute(params![
            whose.id,
            usage.message,
            whose.ordinal(usage.turn),
            usage.at.0,
            usage.subagent,
            usage.model,
            usage.tokens.input.cast_signed(),
            usage.tokens.cache_read.cast_signed(),
            usage.tokens.cache_write.cast_signed(),
            usage.tokens.cache_write_1h.cast_signed(),
            usage.tokens.output.cast_signed(),
        ])?;
        Ok(())
    }

    fn restore_file(&self, whose: &Whose, turn: u32, (path, how): (&str, Touch)) -> Result<(), StoreError> {
        let row = (whose.id, whose.ordinal(turn), path, how.name());
        self.db.prepare_cached(ADD_FILE)?.execute(row)?;
        Ok(())
    }

    fn restore_commit(&self, whose: &Whose, turn: u32, commit: &Commit) -> Result<(), StoreError> {
        let row = (whose.id, whose.ordinal(turn), &commit.hash, &commit.subject);
        self.db.prepare_cached(ADD_COMMIT)?.execute(row)?;
        Ok(())
    }

    fn restore_revert(&self, whose: &Whose, from: u64, at: Timestamp) -> Result<(), StoreError> {
        self.db.prepare_cached(ADD_REVERT)?.execute((whose.id, from.cast_signed(), at.0))?;
        Ok(())
    }
}

impl Whose {
    pub(super) fn of(id: i64) -> Whose {
        Whose { id, ordinals: HashMap::new() }
    }

    /// With a turn that is known by another number here.
    pub(super) fn with(id: i64, (exported, here): (u32, u32)) -> Whose {
        Whose { id, ordinals: HashMap::from([(exported, here)]) }
    }

    /// Where a turn of the export is found here; 0 is what stands before the first.
    pub(super) fn ordinal(&self, exported: u32) -> u32 {
        self.ordinals.get(&exported).copied().unwrap_or(0)
    }
}

mod memories;
#[cfg(test)]
mod tests;
