//! Erasing from the archive: what goes is noted by its marks first, then deleted in one transaction.
//!
//! A rehearsal does the same and takes it back, so that what is shown before is what happens after. How far files were
//! read is forgotten with what was read: a reader remembers words of the turn that runs.

use super::share::{Burial, Fate};
use super::{Archive, Conversation, gone};
use crate::StoreError;
use crate::sql_text::{add_holds, add_unpacked};
use crate::tables::projects::KnownProject;
use rusqlite::{Params, Row, Transaction, TransactionBehavior};
use std::collections::BTreeSet;
use std::sync::Arc;
use towline_core::forget::{Forgotten, Needle, Stretch, project_marks};
use towline_core::id::{Mark, SessionKey};
use towline_core::share::RowKind;
use towline_core::time::Timestamp;

/// What is to be erased.
pub enum Extent<'a> {
    /// Turns of one conversation by number, both ends included, wherever a fork has copied them to.
    Turns { of: &'a Conversation, from: u32, to: u32 },
    /// What these sessions said and did in a stretch of time.
    Sessions { sessions: &'a [SessionKey], stretch: Stretch },
    /// What was said and done in a project in a stretch of time.
    Project { project: &'a KnownProject, stretch: Stretch },
    /// What anybody said and did in a stretch of time.
    Everyone { stretch: Stretch },
    /// Memories, by their numbers.
    Memories(&'a [i64]),
    /// Everything that holds this text.
    Text(Arc<Needle>),
}

impl Extent<'_> {
    /// What is named goes everywhere. What somebody wants gone by time or text is for them to say of their own.
    fn of_others(&self) -> Fate {
        match self {
            Extent::Turns { .. } | Extent::Sessions { .. } | Extent::Memories(_) => Fate::Forgotten,
            Extent::Project { .. } | Extent::Everyone { .. } | Extent::Text(_) => Fate::Away,
        }
    }
}

/// Whether it is done, or only shown what would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erasing {
    ForGood,
    Rehearsal,
}

/// How many rows went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErasedRows {
    pub conversations: usize,
    pub turns: usize,
    pub bodies: usize,
    pub details: usize,
    /// Summaries are counted with them.
    pub memories: usize,
    /// Lines of turns that stay, names of places, bookmarks and batons of other machines.
    pub others: usize,
}

impl ErasedRows {
    pub fn is_nothing(&self) -> bool {
        *self == ErasedRows::default()
    }

    pub fn plus(self, other: ErasedRows) -> ErasedRows {
        ErasedRows {
            conversations: self.conversations + other.conversations,
            turns: self.turns + other.turns,
            bodies: self.bodies + other.bodies,
            details: self.details + other.details,
            memories: self.memories + other.memories,
            others: self.others + other.others,
        }
    }
}

const TURNS: &str = "
    select ordinal, mark, at, until from turns where conversation = ?1 and ordinal between ?2 and ?3";
const COPIES: &str = "select conversation, ordinal from turns where mark = ?1 and at = ?2";
const HELPERS: &str = "
    select mark from details where conversation = ?1 and turn = ?2 and subagent is not null";
const DROP_SUMMARY: &str = "delete from summaries where conversation = ?1";
/// What was done for turns that stay is not done again.
const DROP_JOBS: &str = "
    delete from jobs where conversation = ?1 and turn not in (select ordinal from turns where conversation = ?1)";
const BEGUN: &str = "select ordinal from turns where conversation = ?1 and at between ?2 and ?3";

/// The rows of a turn; how often each statement changed a row is told by its place.
pub(super) const DROP_TURN: [&str; 6] = [
    "delete from turns where conversation = ?1 and ordinal = ?2",
    "delete from bodies where conversation = ?1 and turn = ?2",
    "delete from details where conversation = ?1 and turn = ?2",
    "delete from usage where conversation = ?1 and turn = ?2",
    "delete from files where conversation = ?1 and turn = ?2",
    "delete from commits where conversation = ?1 and turn = ?2",
];

const BODIES_OF: &str = "select turn, mark, at from bodies where conversation = ?1 and turn = ?2";
const DETAILS_OF: &str = "select turn, mark, at from details where conversation = ?1 and turn = ?2";
const BODIES_THEN: &str =
    "select turn, mark, at from bodies where conversation = ?1 and at between ?2 and ?3";
const DETAILS_THEN: &str =
    "select turn, mark, at from details where conversation = ?1 and at between ?2 and ?3";
const DROP_BODIES_THEN: &str = "delete from bodies where conversation = ?1 and at between ?2 and ?3";
const DROP_DETAILS_THEN: &str = "delete from details where conversation = ?1 and at between ?2 and ?3";
const DROP_USAGE_THEN: &str = "delete from usage where conversation = ?1 and at between ?2 and ?3";
/// What a turn came to may be of then; read again, it gets a line of what is left.
const DROP_LINES_THEN: &str = "
    update turns set line = '', revision = revision + 1
    where conversation = ?1 and at < ?2 and until >= ?2 and line <> ''";
const DROP_TOUCHED_THEN: [&str; 2] = [
    "delete from files where conversation = ?1 and turn in
        (select ordinal from turns where conversation = ?1 and at < ?2 and until >= ?2)",
    "delete from commits where conversation = ?1 and turn in
        (select ordinal from turns where conversation = ?1 and at < ?2 and until >= ?2)",
];

pub(super) const IS_EMPTY: &str = "
    select not exists (select 1 from turns where conversation = ?1)
        and not exists (select 1 from bodies where conversation = ?1)
        and not exists (select 1 from details where conversation = ?1)";
const UNREAD: &str = "delete from sources where conversation = ?1";
/// A project of which nothing is left.
pub(super) const LONE_PROJECTS: &str = "
    delete from projects where id not in (select project from conversations where project is not null)
        and id not in (select project from memories where project is not null)
        and id not in (select project from shared_projects)
        and id not in (select project from leaving_projects)
        and id not in (select project from others_notes)";

const OF_SESSION: &str = "select id from conversations where agent = ?1 and session = ?2";
const OF_PROJECT: &str = "
    select c.id from conversations c join projects p on p.id = c.project
    where p.root = ?1 or p.remote is not null and p.remote = ?2";
const OF_TIME: &str = "select id from conversations where first_at <= ?2 and last_at >= ?1";

impl Archive {
    /// Erases what is meant, and sees to it that no capture and no other machine brings it back.
    pub fn erase(
        &mut self,
        extent: &Extent<'_>,
        erasing: Erasing,
        at: Timestamp,
    ) -> Result<ErasedRows, StoreError> {
        if let Extent::Text(needle) = extent {
            add_holds(&self.db, needle.clone())?;
            add_unpacked(&self.db)?;
        }
        let transaction = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        let by = self.own_person()?;
        let mut work =
            Work::new(self, Burial { at, by: &by, of_own: Fate::Forgotten, of_others: extent.of_others() });
        work.erase(extent)?;
        let Work { erased, forgotten, .. } = work;
        if erasing == Erasing::Rehearsal {
            transaction.rollback()?;
            return Ok(erased);
        }
        let mut all = self.forgotten.clone();
        all.merge(forgotten);
        gone::save(&self.home, &all)?;
        transaction.commit()?;
        self.forgotten = all;
        Ok(erased)
    }

    fn list<T>(
        &self,
        query: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        Ok(self.db.prepare_cached(query)?.query_map(params, read)?.collect::<Result<_, _>>()?)
    }

    fn change(&self, statement: &str, params: impl Params) -> Result<usize, StoreError> {
        Ok(self.db.prepare_cached(statement)?.execute(params)?)
    }
}

/// One erasing, as far as it has come.
pub(super) struct Work<'a> {
    archive: &'a Archive,
    /// What is noted of it for other machines.
    burial: Burial<'a>,
    erased: ErasedRows,
    forgotten: Forgotten,
    /// The turns that went: what was learnt from them went into memories of other turns, too.
    dropped: BTreeSet<(SessionKey, i64)>,
}

impl<'a> Work<'a> {
    pub(super) fn new(archive: &'a Archive, burial: Burial<'a>) -> Work<'a> {
        let (erased, forgotten) = (ErasedRows::default(), Forgotten::default());
        Work { archive, burial, erased, forgotten, dropped: BTreeSet::new() }
    }

    fn erase(&mut self, extent: &Extent<'_>) -> Result<(), StoreError> {
        self.seat_memories()?;
        match extent {
            Extent::Turns { of, from, to } => self.turns(of, *from, *to)?,
            Extent::Sessions { sessions, stretch } => {
                for session in *sessions {
                    self.forgotten.add_stretch(session, *stretch);
                    let named = (session.agent.as_str(), session.id.as_str());
                    self.stretch_of(&self.archive.list(OF_SESSION, named, |row| row.get(0))?, *stretch)?;
                    self.memories_of_session(session, *stretch)?;
                    self.notes_of_session(session, *stretch)?;
                }
            }
            Extent::Project { project, stretch } => {
                let marks = project_marks(&project.root, project.remote.as_deref());
                self.forgotten.add_project(&marks, *stretch);
                let named = (&project.root, &project.remote);
                self.stretch_of(&self.archive.list(OF_PROJECT, named, |row| row.get(0))?, *stretch)?;
                self.memories_of_project(project, *stretch)?;
                self.notes_of_project(project, *stretch)?;
            }
            Extent::Everyone { stretch } => {
                self.forgotten.add_everyone(*stretch);
                let ends = (stretch.from.0, stretch.until.0);
                self.stretch_of(&self.archive.list(OF_TIME, ends, |row| row.get(0))?, *stretch)?;
                self.memories_of_then(*stretch)?;
                self.notes_of_then(*stretch)?;
            }
            Extent::Memories(numbers) => {
                for number in *numbers {
                    self.memory(*number)?;
                }
            }
            Extent::Text(_) => self.text()?,
        }
        self.shed_findings()?;
        self.archive.change(LONE_PROJECTS, [])?;
        Ok(())
    }

    fn turns(&mut self, of: &Conversation, from: u32, to: u32) -> Result<(), StoreError> {
        let known = |row: &Row<'_>| Ok((Mark(row.get(1)?), Timestamp(row.get(2)?), Timestamp(row.get(3)?)));
        for (mark, from, until) in self.archive.list(TURNS, (of.id, from, to), known)? {
            let pair = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
            for (conversation, ordinal) in self.archive.list(COPIES, (mark.0, from.0), pair)? {
                let session = self.archive.conversation_by_row(conversation)?.session;
                self.forgotten.add_turn(&session, mark, Stretch { from, until });
                self.drop_turn(conversation, ordinal)?;
                self.leave(conversation)?;
            }
        }
        Ok(())
    }

    /// A helper's file does not say which turn it belongs to: its pieces are noted one by one.
    fn drop_turn(&mut self, conversation: i64, ordinal: i64) -> Result<(), StoreError> {
        let session = self.archive.conversation_by_row(conversation)?.session;
        let turn = (conversation, ordinal);
        for mark in self.archive.list(HELPERS, turn, |row| row.get(0).map(Mark))? {
            self.forgotten.add_piece(&session, mark);
        }
        self.bury_turn(turn)?;
        let mut dropped = [0; DROP_TURN.len()];
        for (statement, dropped) in DROP_TURN.iter().zip(&mut dropped) {
            *dropped = self.archive.change(statement, turn)?;
        }
        self.memories_of_turn(turn)?;
        self.notes_of_turn(&session, ordinal)?;
        self.dropped.insert((session, ordinal));
        self.erased.turns += dropped[0];
        self.erased.bodies += dropped[1];
        self.erased.details += dropped[2];
        Ok(())
    }

    fn bury_turn(&self, turn: (i64, i64)) -> Result<(), StoreError> {
        self.archive.bury_turn(turn, self.burial)?;
        self.archive.bury_pieces(turn.0, RowKind::Body, (BODIES_OF, turn), self.burial)?;
        self.archive.bury_pieces(turn.0, RowKind::Detail, (DETAILS_OF, turn), self.burial)
    }

    /// Turns that began then go whole, of the others what was said and done then.
    fn stretch_of(&mut self, conversations: &[i64], stretch: Stretch) -> Result<(), StoreError> {
        for id in conversations {
            let then = (*id, stretch.from.0, stretch.until.0);
            let before = self.erased;
            for ordinal in self.archive.list(BEGUN, then, |row| row.get(0))? {
                self.drop_turn(*id, ordinal)?;
            }
            self.archive.bury_pieces(*id, RowKind::Body, (BODIES_THEN, then), self.burial)?;
            self.archive.bury_pieces(*id, RowKind::Detail, (DETAILS_THEN, then), self.burial)?;
            self.erased.bodies += self.archive.change(DROP_BODIES_THEN, then)?;
            self.erased.details += self.archive.change(DROP_DETAILS_THEN, then)?;
            self.archive.change(DROP_USAGE_THEN, then)?;
            if self.erased != before {
                for statement in DROP_TOUCHED_THEN {
                    self.archive.change(statement, (*id, stretch.from.0))?;
                }
                self.archive.change(DROP_LINES_THEN, (*id, stretch.from.0))?;
                self.archive.bury_others_lines(*id, self.burial)?;
                self.memories_that_ran_into(*id, stretch.from)?;
            }
            self.leave(*id)?;
        }
        Ok(())
    }

    /// A conversation of which something went is read again; one of which nothing is left goes too.
    fn leave(&mut self, conversation: i64) -> Result<(), StoreError> {
        self.archive.change(UNREAD, [conversation])?;
        // What a summary tells of the rest is told again from the rest.
        self.archive.bury_summary(conversation, self.burial.at)?;
        self.erased.memories += self.archive.change(DROP_SUMMARY, [conversation])?;
        self.archive.change(DROP_JOBS, [conversation])?;
        self.archive.note_change("conversation", conversation, Some(0))?;
        if self.archive.db.prepare_cached(IS_EMPTY)?.query_row([conversation], |row| row.get(0))? {
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
