//! Writes the rows read from a transcript and the offset they were read up to, in one transaction.
//!
//! Exactly once by construction: the offset moves with the rows. Rereading a file from its start adds nothing either,
//! because every row is keyed by the agent's own id for it.

mod wanted;

use super::name::SHORT;
use super::pack::{PackedDetail, PackedOpening, PackedRow};
use super::source::session_of;
use super::usage::add_usage;
use super::{Archive, TranscriptSource};
use crate::Result;
use crate::columns::{FromRow, from_row, sums, values};
use crate::query::Query;
use crate::tables::projects::ProjectTable;
use rusqlite::types::ToSqlOutput;
use rusqlite::{Transaction, TransactionBehavior, params_from_iter};
use std::collections::HashMap;
use towline_core::capture::{CapturedMessage, FileAccess, TurnStart, TurnState, UsageRow};
use towline_core::deed::Commit;
use towline_core::forget::ForgottenParts;
use towline_core::id::{IdHash, Uid};
use towline_core::project::ProjectIdentity;
use towline_core::text::clip_start;
use towline_core::time::Timestamp;
use wanted::{creates_conversation, is_forgotten};

const FIND_CONVERSATION: &str = "select id from conversations where agent = ?1 and session = ?2";

const ADD_CONVERSATION: &str = "
    insert into conversations (uid, machine, revision, agent, session, short, folder, project, branch, base, base_before,
        first_at, last_at, turns)
    values (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11, 0)";

/// A session keeps the values it began with; only missing ones are filled in.
const COMPLETE_CONVERSATION: &str = "
    update conversations set revision = revision + 1, folder = ifnull(folder, ?2), project = ifnull(project, ?3),
        branch = ifnull(branch, ?4), base = ifnull(base, ?5), base_before = ifnull(base_before, ?6)
    where id = ?1 and (folder is null and ?2 is not null or project is null and ?3 is not null
        or base is null and ?5 is not null)";

const LOAD_CONVERSATION: &str =
    "select id, agent, session, turns, first_at, last_at from conversations where id = ?1";

const GROW_CONVERSATION: &str = "
    update conversations set revision = revision + 1, turns = ?2, first_at = ?3, last_at = ?4
    where id = ?1 and (turns <> ?2 or first_at <> ?3 or last_at <> ?4)";

const FIND_TURN: &str = "select ordinal from turns where conversation = ?1 and mark = ?2";

const ADD_TURN: &str = "
    insert into turns (uid, machine, revision, conversation, ordinal, mark, place, at, origin, agent_turn, until, tools,
        failures, stopped, line, reverted)
    values (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,
        exists (select 1 from reverts where conversation = ?3 and from_place <= ?6 and at > ?7))";

const SETTLE_TURN: &str = "
    update turns set revision = revision + 1, until = ?3, tools = ?4, failures = ?5, stopped = ?6, line = ?7
    where conversation = ?1 and mark = ?2 and (until <> ?3 or tools <> ?4 or line <> ?7 or stopped is not ?6)";

/// The details of a subagent belong to the turn in which it began.
const TURN_AT: &str = "
    select ordinal from turns where conversation = ?1 and at <= ?2 order by ordinal desc limit 1";

/// Insert and update are separate statements: for an upsert, SQLite first copies every page that it touches.
const ADD_BODY: [&str; 2] = [
    "insert into bodies (conversation, turn, mark, message, place, at, speaker, cut, text)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) on conflict (conversation, mark) do nothing",
    "update bodies set revision = revision + (text <> ?9), turn = ?2, place = ?5, cut = ?8, text = ?9
    where conversation = ?1 and mark = ?3",
];

const ADD_DETAIL: [&str; 2] = [
    "insert into details (conversation, turn, mark, place, at, kind, subagent, tool, call, outcome, size, cut, packed,
        content)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) on conflict (conversation, mark) do nothing",
    "update details set revision = revision + (content <> ?14 or outcome is not ?10), turn = ?2, place = ?4,
        tool = ifnull(?8, tool), outcome = ?10, size = ?11, cut = ?12, packed = ?13, content = ?14
    where conversation = ?1 and mark = ?3",
];

/// A message that corrects its usage replaces the earlier figures. Counts only grow while a message is written, so the
/// largest is the last, in whatever order its lines are read.
const ADD_USAGE: &str = add_usage!(
    "do update set input = excluded.input, cache_read = excluded.cache_read,
        cache_write = excluded.cache_write, cache_write_1h = excluded.cache_write_1h, output = excluded.output
    where (excluded.output, excluded.input, excluded.cache_read, excluded.cache_write, excluded.cache_write_1h)
        > (output, input, cache_read, cache_write, cache_write_1h)"
);

pub(super) const ADD_FILE: &str =
    "insert or ignore into files (conversation, turn, path, how) values (?1, ?2, ?3, ?4)";
pub(super) const ADD_COMMIT: &str =
    "insert or ignore into commits (conversation, turn, hash, subject) values (?1, ?2, ?3, ?4)";

/// Row counts of one `take_in`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TakenRows {
    pub turns: u32,
    pub bodies: u32,
    pub details: u32,
    /// Rows without a session.
    pub homeless: u32,
}

sums!(TakenRows { turns, bodies, details, homeless });

/// Several reads that are written in one transaction.
pub struct WriteBatch<'a> {
    archive: &'a Archive,
    transaction: Transaction<'a>,
}

impl Archive {
    /// Writes the rows of one file and the offset they were read up to.
    pub fn write_rows(
        &self,
        source: &mut TranscriptSource,
        rows: Vec<PackedRow>,
        now: Timestamp,
    ) -> Result<TakenRows> {
        let together = self.begin_batch()?;
        let taken = together.write_rows(source, rows, now)?;
        together.commit()?;
        Ok(taken)
    }

    /// Starts a transaction for several reads.
    pub fn begin_batch(&self) -> Result<WriteBatch<'_>> {
        let transaction = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        Ok(WriteBatch { archive: self, transaction })
    }
}

impl WriteBatch<'_> {
    pub fn write_rows(
        &self,
        source: &mut TranscriptSource,
        rows: Vec<PackedRow>,
        now: Timestamp,
    ) -> Result<TakenRows> {
        let mut writer = RowWriter::new(self.archive, source)?;
        for row in rows {
            writer.row(row)?;
        }
        let taken = writer.finish()?;
        // If everything was forgotten, not even the file name is stored: the file is reread until a row may be kept.
        if source.opening.is_none() {
            self.archive.save_source(source, now)?;
        }
        Ok(taken)
    }

    pub fn commit(self) -> Result<()> {
        Ok(self.transaction.commit()?)
    }
}

/// The conversation that rows are added to.
struct OpenConversation {
    id: i64,
    agent: String,
    session: String,
    turns: u32,
    first_at: i64,
    last_at: i64,
}

from_row!(OpenConversation { id, agent, session, turns, first_at, last_at });

struct RowWriter<'a> {
    archive: &'a Archive,
    source: &'a mut TranscriptSource,
    current: Option<OpenConversation>,
    /// The conversation was created by this read: it has no earlier rows to look up.
    is_new: bool,
    /// The parts of the conversation that were forgotten.
    gone: Option<ForgottenParts<'a>>,
    ordinals: HashMap<IdHash, i64>,
    /// A turn that has begun. Its outcome usually follows in the same read, so that it is written once.
    pending: Option<PendingTurn>,
    /// The first turn of the conversation with a change.
    changed_from: Option<i64>,
    taken: TakenRows,
}

struct PendingTurn {
    turn: TurnStart<'static>,
    ordinal: u32,
}

impl<'a> RowWriter<'a> {
    fn new(archive: &'a Archive, source: &'a mut TranscriptSource) -> Result<Self> {
        let current = source.conversation.map(|id| archive.load_conversation(id)).transpose()?;
        let gone = source.forgotten_parts(&archive.forgotten);
        let ordinals = HashMap::new();
        let (is_new, pending, changed_from, taken) = (false, None, None, TakenRows::default());
        Ok(RowWriter { archive, source, current, is_new, gone, ordinals, pending, changed_from, taken })
    }

    fn row(&mut self, row: PackedRow) -> Result<()> {
        if let PackedRow::Opened(opening) = row {
            return self.open(opening);
        }
        if self.gone.as_ref().is_some_and(|gone| is_forgotten(gone, &row)) {
            return Ok(());
        }
        if let Some(opening) = self.source.opening.take_if(|_| creates_conversation(&row)) {
            self.begin(&opening)?;
        }
        let Some(current) = &mut self.current else {
            self.taken.homeless += 1;
            return Ok(());
        };
        let id = current.id;
        match row {
            PackedRow::Opened(_) => Ok(()),
            PackedRow::Turn(turn) => {
                current.extend_to(turn.at);
                self.turn(turn)
            }
            PackedRow::Body(body) => {
                current.extend_to(body.at);
                self.body(id, &body)
            }
            PackedRow::Detail(detail) => {
                current.extend_to(detail.at);
                self.detail(id, &detail)
            }
            PackedRow::Usage(usage) => self.usage(id, &usage),
            PackedRow::Touched { turn, path, how } => self.file(id, turn, &path, how),
            PackedRow::Committed { turn, commit } => self.commit(id, turn, &commit),
            PackedRow::Settled(settled) => self.settle(id, settled),
            PackedRow::Reverted { from, at } => {
                self.write_pending()?;
                if self.archive.revert(id, from, at)? > 0 {
                    self.changed(0);
                }
                Ok(())
            }
            PackedRow::MadeRoom { at } => {
                self.write_pending()?;
                self.archive.make_room(id, at)
            }
            PackedRow::ReadAgain => {
                self.write_pending()?;
                self.changed(0);
                self.archive.drop_reverts(id)
            }
        }
    }

    fn finish(mut self) -> Result<TakenRows> {
        self.write_pending()?;
        if let Some(current) = &self.current {
            if let Some(0 | 1) = self.changed_from {
                self.archive.adopt_early_rows(current.id)?;
            }
            let row = (current.id, current.turns, current.first_at, current.last_at);
            self.archive.db.change(GROW_CONVERSATION, row)?;
        }
        self.note_changes()?;
        Ok(self.taken)
    }

    /// Called once per conversation and read.
    fn note_changes(&mut self) -> Result<()> {
        let (Some(from), Some(current)) = (self.changed_from.take(), &self.current) else { return Ok(()) };
        self.archive.note_change("conversation", current.id, Some(from))
    }

    fn changed(&mut self, turn: i64) {
        self.changed_from = Some(self.changed_from.map_or(turn, |from| from.min(turn)));
    }

    /// Rows of a file whose session id is invalid are dropped: we do not invent one.
    fn open(&mut self, mut opening: PackedOpening) -> Result<()> {
        let Some(session) = session_of(&self.source.agent, &opening.session) else { return Ok(()) };
        self.write_pending()?;
        self.note_changes()?;
        self.source.opened(session, &opening);
        self.gone = self.source.forgotten_parts(&self.archive.forgotten);
        self.ordinals.clear();
        let Some(gone) = &self.gone else { return self.begin(&opening) };
        if gone.is_folder_erased() {
            (opening.folder, opening.project) = (None, None);
        }
        // The conversation is created with its first row that may be kept.
        self.current = None;
        self.source.opening = Some(opening);
        Ok(())
    }

    fn begin(&mut self, opening: &PackedOpening) -> Result<()> {
        let id = self.archive.conversation_of(&self.source.agent, opening)?;
        let current = self.archive.load_conversation(id)?;
        self.is_new = current.turns == 0 && self.source.conversation.is_none();
        self.source.conversation = Some(id);
        self.current = Some(current);
        Ok(())
    }

    fn turn(&mut self, turn: TurnStart<'static>) -> Result<()> {
        self.write_pending()?;
        let Some(current) = &mut self.current else { return Ok(()) };
        let existing = match (self.ordinals.get(&turn.mark).filter(|ordinal| **ordinal > 0), self.is_new) {
            (Some(ordinal), _) => Some(*ordinal),
            (None, true) => None,
            (None, false) => self.archive.find_turn(current.id, turn.mark)?,
        };
        if let Some(ordinal) = existing {
            self.ordinals.insert(turn.mark, ordinal);
            return Ok(());
        }
        current.turns += 1;
        self.ordinals.insert(turn.mark, current.turns.into());
        let ordinal = current.turns;
        self.pending = Some(PendingTurn { turn, ordinal });
        self.changed(ordinal.into());
        self.taken.turns += 1;
        Ok(())
    }

    fn settle(&mut self, conversation: i64, settled: TurnState) -> Result<()> {
        match self.pending.take() {
            Some(pending) if pending.turn.mark == settled.turn => self.add_turn(&pending, &settled),
            pending => {
                self.pending = pending;
                let turn = self.ordinal(conversation, Some(settled.turn))?;
                self.changed(turn);
                self.archive.settle(conversation, &settled)
            }
        }
    }

    /// Writes a turn whose outcome has not been read.
    fn write_pending(&mut self) -> Result<()> {
        let Some(pending) = self.pending.take() else { return Ok(()) };
        let turn = &pending.turn;
        let (tools, failures, line) = (0, 0, String::new());
        let open = TurnState { turn: turn.mark, until: turn.at, tools, failures, stopped: None, line };
        self.add_turn(&pending, &open)
    }

    fn add_turn(&self, pending: &PendingTurn, settled: &TurnState) -> Result<()> {
        let PendingTurn { turn, ordinal } = pending;
        let Some(current) = &self.current else { return Ok(()) };
        let uid = Uid::derived(turn.at, &[&current.agent, &current.session, &turn.id]);
        self.archive.db.run(
            ADD_TURN,
            values! {
                uid, self.archive.machine, current.id, ordinal, turn.mark, turn.place, turn.at, turn.origin,
                turn.agent_turn, settled.until, settled.tools, settled.failures, settled.stopped,
                settled.line
            },
        )
    }

    /// The ordinal of the turn; 0 means before the first.
    fn ordinal(&mut self, conversation: i64, turn: Option<IdHash>) -> Result<i64> {
        let Some(mark) = turn else { return Ok(0) };
        if let Some(ordinal) = self.ordinals.get(&mark) {
            return Ok(*ordinal);
        }
        let ordinal = self.archive.find_turn(conversation, mark)?.unwrap_or(0);
        self.ordinals.insert(mark, ordinal);
        Ok(ordinal)
    }

    /// A subagent's file does not name its turn: the time of its first row decides.
    fn subagent_turn(&mut self, conversation: i64, at: Timestamp) -> Result<i64> {
        if let Some(turn) = self.source.turn {
            return Ok(turn);
        }
        self.write_pending()?;
        let turn = self.archive.db.first(TURN_AT, (conversation, at.0))?;
        self.source.turn = turn;
        Ok(turn.unwrap_or(0))
    }

    /// Inserts a row, or updates the existing one.
    fn put(&self, [insert, update]: [&str; 2], row: &[ToSqlOutput<'_>]) -> Result<()> {
        let db = &self.archive.db;
        if db.change(insert, params_from_iter(row))? == 0 {
            db.change(update, params_from_iter(row))?;
        }
        Ok(())
    }

    fn body(&mut self, conversation: i64, body: &CapturedMessage<'static>) -> Result<()> {
        let turn = self.ordinal(conversation, body.turn)?;
        self.changed(turn);
        self.put(
            ADD_BODY,
            &values! {
                conversation, turn, body.mark, &*body.message, body.place, body.at, body.speaker,
                body.text.cut_bytes(), body.text
            },
        )?;
        self.taken.bodies += 1;
        Ok(())
    }

    fn detail(&mut self, conversation: i64, detail: &PackedDetail) -> Result<()> {
        let turn = match (&detail.subagent, detail.turn) {
            (Some(_), None) => self.subagent_turn(conversation, detail.at)?,
            (Some(_) | None, turn) => self.ordinal(conversation, turn)?,
        };
        self.changed(turn);
        let (is_packed, bytes) = detail.content.columns();
        self.put(
            ADD_DETAIL,
            &values! {
                conversation, turn, detail.mark, detail.place, detail.at, detail.kind, detail.subagent,
                detail.tool, detail.call, detail.outcome, detail.size, detail.cut, is_packed, bytes
            },
        )?;
        self.taken.details += 1;
        Ok(())
    }

    fn usage(&mut self, conversation: i64, usage: &UsageRow<'static>) -> Result<()> {
        let turn = match (&usage.subagent, usage.turn) {
            (Some(_), None) => self.subagent_turn(conversation, usage.at)?,
            (Some(_) | None, turn) => self.ordinal(conversation, turn)?,
        };
        let written = self.archive.db.change(
            ADD_USAGE,
            values! {
                conversation, &*usage.message, turn, usage.at, usage.subagent, usage.model.as_deref(),
                usage.tokens.input, usage.tokens.cache_read, usage.tokens.cache_write,
                usage.tokens.cache_write_1h, usage.tokens.output
            },
        )?;
        if written > 0 {
            self.changed(turn);
        }
        Ok(())
    }

    fn file(&mut self, conversation: i64, turn: IdHash, path: &str, how: FileAccess) -> Result<()> {
        let turn = self.ordinal(conversation, Some(turn))?;
        self.archive.db.run(ADD_FILE, (conversation, turn, path, how.name()))
    }

    fn commit(&mut self, conversation: i64, turn: IdHash, commit: &Commit) -> Result<()> {
        let turn = self.ordinal(conversation, Some(turn))?;
        let row = (conversation, turn, &commit.hash, &commit.subject);
        self.archive.db.run(ADD_COMMIT, row)
    }
}

impl OpenConversation {
    fn extend_to(&mut self, at: Timestamp) {
        // A conversation's row is created before any of its rows has a time.
        self.first_at = if self.first_at == 0 { at.0 } else { self.first_at.min(at.0) };
        self.last_at = self.last_at.max(at.0);
    }
}

impl Archive {
    /// The ordinal of a turn, if it is stored.
    pub(super) fn find_turn<T: FromRow>(&self, conversation: i64, mark: IdHash) -> Result<Option<T>> {
        self.db.first(FIND_TURN, (conversation, mark.0))
    }

    fn load_conversation(&self, id: i64) -> Result<OpenConversation> {
        self.db.value(LOAD_CONVERSATION, [id])
    }

    fn conversation_of(&self, agent: &str, opening: &PackedOpening) -> Result<i64> {
        let projects = ProjectTable { db: &self.db, machine: self.machine };
        let project = opening.project.as_ref();
        let project = project.map(|traces| projects.row(traces, project_uid(traces), Timestamp(0)));
        self.conversation_row(agent, opening, project.transpose()?)
    }

    /// The row of a conversation, created or completed.
    pub(super) fn conversation_row(
        &self,
        agent: &str,
        opening: &PackedOpening,
        project: Option<i64>,
    ) -> Result<i64> {
        let uid = Uid::derived(Timestamp(0), &[agent, &opening.session]);
        let branch = opening.branch.as_deref();
        let base = opening.base.as_ref().map(|(session, _)| session);
        let before = opening.base.as_ref().map(|(_, before)| before.cast_signed());
        let existing = self.db.first(FIND_CONVERSATION, (agent, &opening.session))?;
        if let Some(id) = existing {
            let row = (id, &opening.folder, project, branch, base, before);
            self.db.change(COMPLETE_CONVERSATION, row)?;
            return Ok(id);
        }
        self.db.change(
            ADD_CONVERSATION,
            values! {
                uid, self.machine, agent, opening.session, clip_start(&opening.session, SHORT),
                opening.folder, project, branch, base, before, 0
            },
        )?;
        Ok(self.db.last_insert_rowid())
    }

    fn settle(&self, conversation: i64, settled: &TurnState) -> Result<()> {
        self.db.run(
            SETTLE_TURN,
            values! {
                conversation, settled.turn, settled.until, settled.tools, settled.failures, settled.stopped,
                settled.line
            },
        )
    }
}

/// Derived from the project alone: the same on every machine.
pub(super) fn project_uid(traces: &ProjectIdentity) -> Uid {
    Uid::derived(Timestamp(0), &[traces.remote.as_deref().unwrap_or(&traces.root)])
}
