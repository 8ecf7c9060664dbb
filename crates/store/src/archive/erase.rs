//! Erases rows from the archive: records their marks first, then deletes them in one transaction.
//!
//! A rehearsal does the same and rolls back, so that the preview is exact. The offsets of affected files are dropped
//! too: a reader's state holds text of the running turn.

use super::share::{Burial, TombFate};
use super::{Archive, Conversation, ErasedTexts, gone};
use crate::Result;
use crate::columns::sums;
use crate::query::Query;
use crate::sql_text::{add_holds, add_unpacked};
use crate::tables::projects::ProjectLocation;
use rusqlite::{Transaction, TransactionBehavior};
use std::collections::BTreeSet;
use std::sync::Arc;
use towline_core::forget::{ForgetText, Forgotten, TimeRange, project_marks};
use towline_core::id::{IdHash, SessionKey};
use towline_core::share::RowKind;
use towline_core::time::Timestamp;

/// Selects what to erase.
pub enum EraseScope<'a> {
    /// Turns of one conversation by ordinal, both ends included, and their copies in forks.
    Turns { of: &'a Conversation, from: u32, to: u32 },
    /// The content of these sessions in a time range.
    Sessions { sessions: &'a [SessionKey], stretch: TimeRange },
    /// The content of a project in a time range.
    Project { project: &'a ProjectLocation, stretch: TimeRange },
    /// All content of a time range.
    Everyone { stretch: TimeRange },
    /// Memories, by their numbers.
    Memories(&'a [i64]),
    /// Every row that contains this text.
    Text(Arc<ForgetText>),
}

impl EraseScope<'_> {
    /// Others' rows go from here alone. Those that an administrator of the team selects by name go everywhere.
    fn others_fate(&self, is_admin: bool) -> TombFate {
        let is_named =
            matches!(self, EraseScope::Turns { .. } | EraseScope::Sessions { .. } | EraseScope::Memories(_));
        if is_named && is_admin { TombFate::Forgotten } else { TombFate::Away }
    }
}

/// Whether to commit, or only to preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EraseMode {
    ForGood,
    Rehearsal,
}

impl EraseMode {
    pub(crate) fn end(self, transaction: Transaction<'_>) -> Result<()> {
        Ok(match self {
            EraseMode::ForGood => transaction.commit(),
            EraseMode::Rehearsal => transaction.rollback(),
        }?)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErasedRows {
    pub conversations: usize,
    pub turns: usize,
    pub bodies: usize,
    pub details: usize,
    /// Includes summaries.
    pub memories: usize,
    /// Lines of remaining turns, folder names, bookmarks and batons of other machines.
    pub others: usize,
}

impl ErasedRows {
    pub fn is_nothing(&self) -> bool {
        *self == ErasedRows::default()
    }
}

sums!(ErasedRows { conversations, turns, bodies, details, memories, others });

const TURNS: &str = "
    select mark, at, until from turns where conversation = ?1 and ordinal between ?2 and ?3";
const COPIES: &str = "select conversation, ordinal from turns where mark = ?1 and at = ?2";
const SUBAGENT_MARKS: &str = "
    select mark, at from details where conversation = ?1 and turn = ?2 and subagent is not null";
const BODIES_OF_TURN: &str = "select id from bodies where conversation = ?1 and turn = ?2";
const BODIES: &str = "select id from bodies where conversation = ?1";
const DROP_SUMMARY: &str = "delete from summaries where conversation = ?1";
/// Jobs of remaining turns are not repeated.
const DROP_JOBS: &str = "
    delete from jobs where conversation = ?1 and turn not in (select ordinal from turns where conversation = ?1)";
const BEGUN: &str = "select ordinal from turns where conversation = ?1 and at between ?2 and ?3";

/// The rows of a turn; `drop_turn` relies on the order of the first three.
pub(super) const DROP_TURN: [&str; 6] = [
    "delete from turns where conversation = ?1 and ordinal = ?2",
    "delete from bodies where conversation = ?1 and turn = ?2",
    "delete from details where conversation = ?1 and turn = ?2",
    "delete from usage where conversation = ?1 and turn = ?2",
    "delete from files where conversation = ?1 and turn = ?2",
    "delete from commits where conversation = ?1 and turn = ?2",
];

/// Conditions on the pieces of a conversation.
const OF_TURN: &str = "conversation = ?1 and turn = ?2";
const IN_RANGE: &str = "conversation = ?1 and at between ?2 and ?3";
/// The line may describe erased content; rereading the file creates one from the rest.
const DROP_LINES_IN_RANGE: &str = "
    update turns set line = '', revision = revision + 1
    where conversation = ?1 and at < ?2 and until >= ?2 and line <> ''";
const DROP_TOUCHED_IN_RANGE: [&str; 2] = [
    "delete from files where conversation = ?1 and turn in
        (select ordinal from turns where conversation = ?1 and at < ?2 and until >= ?2)",
    "delete from commits where conversation = ?1 and turn in
        (select ordinal from turns where conversation = ?1 and at < ?2 and until >= ?2)",
];

pub(super) const IS_EMPTY: &str = "
    select not exists (select 1 from turns where conversation = ?1)
        and not exists (select 1 from bodies where conversation = ?1)
        and not exists (select 1 from details where conversation = ?1)";
const DROP_SOURCES: &str = "delete from sources where conversation = ?1";
/// Projects without any rows left.
pub(super) const DROP_UNUSED_PROJECTS: &str = "
    delete from projects where id not in (select project from conversations where project is not null)
        and id not in (select project from memories where project is not null)
        and id not in (select project from shared_projects)
        and id not in (select project from leaving_projects)
        and id not in (select project from others_notes)
        and id not in (select project from proposals)";

/// Bodies and details that one transaction erases, about.
const ROWS_PER_PART: usize = 10_000;

const OF_SESSION: &str = "select id from conversations where agent = ?1 and session = ?2";
const OF_PROJECT: &str = "
    select c.id from conversations c join projects p on p.id = c.project
    where p.root = ?1 or p.remote is not null and p.remote = ?2";
const OF_TIME: &str = "select id from conversations where first_at <= ?2 and last_at >= ?1";

impl Archive {
    /// Erases the selected rows, and prevents captures and other machines from bringing them back.
    pub fn erase(
        &mut self,
        extent: &EraseScope<'_>,
        erasing: EraseMode,
        at: Timestamp,
    ) -> Result<ErasedRows> {
        if let EraseScope::Text(needle) = extent {
            add_holds(&self.db, needle.clone())?;
            add_unpacked(&self.db)?;
        }
        let transaction = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        let by = self.own_person()?;
        let others_fate = extent.others_fate(self.is_admin()?);
        let burial = Burial { at, by: &by, own_fate: TombFate::Forgotten, others_fate };
        let mut eraser = ArchiveEraser::new(self, burial);
        eraser.is_in_parts = erasing == EraseMode::ForGood;
        eraser.erase(extent)?;
        let ArchiveEraser { erased, forgotten, texts, .. } = eraser;
        if erasing == EraseMode::Rehearsal {
            transaction.rollback()?;
            return Ok(erased);
        }
        let mut all = self.forgotten.clone();
        all.merge(forgotten);
        gone::save(&self.home, &all)?;
        self.log_memories()?;
        transaction.commit()?;
        self.forgotten = all;
        *self.erased.borrow_mut() = texts;
        Ok(erased)
    }
}

/// One erase in progress.
pub(super) struct ArchiveEraser<'a> {
    archive: &'a Archive,
    /// The tombs that other machines get.
    burial: Burial<'a>,
    erased: ErasedRows,
    texts: ErasedTexts,
    forgotten: Forgotten,
    /// Erased turns: memories of other turns may have taken facts from them.
    dropped: BTreeSet<(SessionKey, i64)>,
    /// Large erasures are committed in parts.
    is_in_parts: bool,
    /// The rows erased by the parts that are committed.
    committed: usize,
}

impl<'a> ArchiveEraser<'a> {
    pub(super) fn new(archive: &'a Archive, burial: Burial<'a>) -> ArchiveEraser<'a> {
        ArchiveEraser {
            archive,
            burial,
            erased: ErasedRows::default(),
            texts: ErasedTexts::default(),
            forgotten: Forgotten::default(),
            dropped: BTreeSet::new(),
            is_in_parts: false,
            committed: 0,
        }
    }

    /// Commits a large part, so that the WAL stays small. If the process is killed afterwards, nothing that is erased comes
    /// back, and the command has to be run again for the rest.
    fn commit_part(&mut self) -> Result<()> {
        let erased = self.erased.bodies + self.erased.details;
        if !self.is_in_parts || erased - self.committed < ROWS_PER_PART {
            return Ok(());
        }
        self.committed = erased;
        self.drop_taken_facts()?;
        let mut all = self.archive.forgotten.clone();
        all.merge(self.forgotten.clone());
        gone::save(&self.archive.home, &all)?;
        self.archive.log_memories()?;
        self.archive.db.execute_batch("commit")?;
        self.archive.tidy_at_times()?;
        Ok(self.archive.db.execute_batch("begin immediate")?)
    }

    fn erase(&mut self, extent: &EraseScope<'_>) -> Result<()> {
        self.link_memories()?;
        match extent {
            EraseScope::Turns { of, from, to } => self.erase_turns(of, *from, *to)?,
            EraseScope::Sessions { sessions, stretch } => {
                let (from, until) = (stretch.from.0, stretch.until.0);
                for session in *sessions {
                    self.forgotten.add_stretch(session, *stretch);
                    let named = (session.agent.as_str(), session.id.as_str());
                    self.erase_stretch(&self.archive.db.all(OF_SESSION, named)?, *stretch)?;
                    let key = session.to_string();
                    self.erase_memories(memories::OF_SESSION, (&key, from, until))?;
                    self.erase_notes(notes::OF_SESSION, &[&key, &from, &until])?;
                }
            }
            EraseScope::Project { project, stretch } => {
                let marks = project_marks(&project.root, project.remote.as_deref());
                self.forgotten.add_project(&marks, *stretch);
                let (root, remote) = (&project.root, &project.remote);
                self.erase_stretch(&self.archive.db.all(OF_PROJECT, (root, remote))?, *stretch)?;
                let (from, until) = (stretch.from.0, stretch.until.0);
                self.erase_memories(memories::OF_PROJECT, (root, remote, from, until))?;
                self.erase_notes(notes::OF_PROJECT, &[&from, &until, root, remote])?;
            }
            EraseScope::Everyone { stretch } => {
                self.forgotten.add_everyone(*stretch);
                let (from, until) = (stretch.from.0, stretch.until.0);
                self.erase_stretch(&self.archive.db.all(OF_TIME, (from, until))?, *stretch)?;
                self.erase_memories(memories::IN_RANGE, (from, until))?;
                self.erase_notes(notes::IN_RANGE, &[&from, &until])?;
            }
            EraseScope::Memories(numbers) => {
                for number in *numbers {
                    self.erase_memory(*number)?;
                }
            }
            EraseScope::Text(_) => {
                self.texts.is_everywhere = true;
                self.erase_text()?;
            }
        }
        self.drop_taken_facts()?;
        self.archive.db.run(DROP_UNUSED_PROJECTS, [])
    }

    fn erase_turns(&mut self, of: &Conversation, from: u32, to: u32) -> Result<()> {
        for (mark, from, until) in
            self.archive.db.all::<(IdHash, Timestamp, Timestamp)>(TURNS, (of.id, from, to))?
        {
            for (conversation, ordinal) in self.archive.db.all(COPIES, (mark.0, from.0))? {
                let session = self.archive.conversation_by_row(conversation)?.session;
                self.forgotten.add_turn(&session, mark, TimeRange { from, until });
                self.drop_turn(conversation, ordinal, None)?;
                self.finish_conversation(conversation)?;
            }
        }
        Ok(())
    }

    /// A subagent's file does not name its turn, so the marks of its pieces are recorded one by one, unless they are in the
    /// recorded range of time.
    fn drop_turn(&mut self, conversation: i64, ordinal: i64, recorded: Option<TimeRange>) -> Result<()> {
        let session = self.archive.conversation_by_row(conversation)?.session;
        let turn = (conversation, ordinal);
        for (mark, at) in self.archive.db.all::<(IdHash, Timestamp)>(SUBAGENT_MARKS, turn)? {
            if !recorded.is_some_and(|range| range.holds(at)) {
                self.forgotten.add_piece(&session, mark);
            }
        }
        self.bury_turn(conversation, ordinal)?;
        self.texts.details.extend(u32::try_from(ordinal).ok().map(|ordinal| (conversation, ordinal)));
        self.texts.bodies.extend(self.archive.db.all::<i64>(BODIES_OF_TURN, turn)?);
        let mut dropped = [0; DROP_TURN.len()];
        for (statement, dropped) in DROP_TURN.iter().zip(&mut dropped) {
            *dropped = self.archive.db.change(statement, turn)?;
        }
        self.drop_memories(memories::OF_TURN, turn)?;
        self.erase_notes(notes::OF_TURN, &[&session.to_string(), &ordinal])?;
        self.dropped.insert((session, ordinal));
        self.erased.turns += dropped[0];
        self.erased.bodies += dropped[1];
        self.erased.details += dropped[2];
        Ok(())
    }

    fn bury_turn(&self, conversation: i64, ordinal: i64) -> Result<()> {
        let turn = (conversation, ordinal);
        self.archive.add_turn_tombstone(conversation, ordinal, self.burial)?;
        self.archive.add_piece_tombstones(conversation, RowKind::Body, OF_TURN, turn, self.burial)?;
        self.archive.add_piece_tombstones(conversation, RowKind::Detail, OF_TURN, turn, self.burial)
    }

    /// Deletes turns that began in the range whole, and from other turns the rows within it.
    fn erase_stretch(&mut self, conversations: &[i64], stretch: TimeRange) -> Result<()> {
        for id in conversations {
            let range = (*id, stretch.from.0, stretch.until.0);
            let before = self.erased;
            for ordinal in self.archive.db.all(BEGUN, range)? {
                self.drop_turn(*id, ordinal, Some(stretch))?;
            }
            self.archive.add_piece_tombstones(*id, RowKind::Body, IN_RANGE, range, self.burial)?;
            self.archive.add_piece_tombstones(*id, RowKind::Detail, IN_RANGE, range, self.burial)?;
            let bodies = format!("select id from bodies where {IN_RANGE}");
            self.texts.bodies.extend(self.archive.db.all::<i64>(&bodies, range)?);
            let turns = format!("select distinct turn from details where {IN_RANGE}");
            let turns = self.archive.db.all::<u32>(&turns, range)?;
            self.texts.details.extend(turns.into_iter().map(|turn| (*id, turn)));
            let drop =
                |table| self.archive.db.change(&format!("delete from {table} where {IN_RANGE}"), range);
            self.erased.bodies += drop("bodies")?;
            self.erased.details += drop("details")?;
            drop("usage")?;
            if self.erased != before {
                for statement in DROP_TOUCHED_IN_RANGE {
                    self.archive.db.change(statement, (*id, stretch.from.0))?;
                }
                self.archive.db.change(DROP_LINES_IN_RANGE, (*id, stretch.from.0))?;
                self.archive.add_foreign_line_tombstones(*id, self.burial)?;
                // They are made again from the rest of their turns.
                self.drop_memories(memories::OF_CUT_TURNS, (*id, stretch.from.0))?;
            }
            self.finish_conversation(*id)?;
            self.commit_part()?;
        }
        Ok(())
    }

    /// An affected conversation is read again; an empty one is deleted.
    fn finish_conversation(&mut self, conversation: i64) -> Result<()> {
        self.archive.db.change(DROP_SOURCES, [conversation])?;
        // The others may be indexed with a line of an erased text.
        self.texts.bodies.extend(self.archive.db.all::<i64>(BODIES, [conversation])?);
        self.texts.summaries.push(conversation);
        // A summary of the remaining turns is made again from them.
        self.archive.add_summary_tombstone(conversation, self.burial.at)?;
        self.erased.memories += self.archive.db.change(DROP_SUMMARY, [conversation])?;
        self.archive.db.change(DROP_JOBS, [conversation])?;
        self.archive.note_change("conversation", conversation, Some(0))?;
        if self.archive.db.value(IS_EMPTY, [conversation])? {
            self.archive.drop_conversation(conversation)?;
            self.erased.conversations += 1;
        }
        Ok(())
    }
}

mod memories;
mod notes;
mod row;
mod text;
