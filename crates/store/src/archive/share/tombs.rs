//! Tombs: records of rows deleted from shared projects, without their content.
//!
//! Written in the transaction that deletes the row. A forgotten row is never taken in again, from any machine.

use super::stamps::RegisterId;
use super::{ShareLevel, piece_table, piece_uid};
use crate::Result;
use crate::archive::Archive;
use crate::columns::{bound_names, values};
use crate::query::Query;
use towline_core::id::{IdHash, Uid};
use towline_core::share::{RowKind, WriteStamp};
use towline_core::time::Timestamp;

towline_core::named_enum! {
    /// Why a row is gone.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum TombFate as named {
        /// Deleted for good, everywhere.
        Forgotten = "forgotten",
        /// Deleted only here: it belongs to a teammate.
        Away = "away",
        /// Deleted until it is made again.
        Withdrawn = "withdrawn",
    }
}

bound_names! { TombFate }

/// How rows are deleted: the fates of own and of others' rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burial<'a> {
    pub at: Timestamp,
    pub by: &'a str,
    pub own_fate: TombFate,
    pub others_fate: TombFate,
}

const MEMORY: &str = "
    insert into tombs (uid, kind, project, person, machine, session, turn, made_at, at, by, fate, told)
    select m.uid, 'memory', s.id, m.person, m.machine, m.session, m.turn, m.made_at, ?2, ?3,
        iif(m.person is null, ?4, ?5), iif(m.person is null, ?4, ?5) = 'away'
    from memories m join shared_projects s on s.project = m.project where m.id = ?1
    on conflict (uid) do nothing returning uid, fate";
const LINE: &str = "
    insert into tombs (uid, kind, project, person, machine, session, turn, made_at, at, by, fate, told)
    select t.uid, 'line', s.id, c.person, t.machine, c.agent || ':' || c.session, t.ordinal, t.at, ?3, ?4,
        iif(c.person is null, ?5, ?6), iif(c.person is null, ?5, ?6) = 'away'
    from turns t join conversations c on c.id = t.conversation join shared_projects s on s.project = c.project
    where t.conversation = ?1 and t.ordinal = ?2 on conflict (uid) do nothing";
const OTHERS_LINES: &str = "
    select t.ordinal from turns t join conversations c on c.id = t.conversation
        join shared_projects s on s.project = c.project
    where t.conversation = ?1 and t.line = '' and c.person is not null";
/// A deleted summary is made again from the remaining turns, by the machine that captured the session.
const SUMMARY: &str = "
    insert into tombs (uid, kind, project, person, machine, session, turn, made_at, at, by, fate, told)
    select m.uid, 'summary', s.id, null, m.machine, c.agent || ':' || c.session, m.turn, c.first_at, ?2, '',
        'withdrawn', 0
    from summaries m join conversations c on c.id = m.conversation join shared_projects s on s.project = c.project
    where m.conversation = ?1 and m.machine = ?3 on conflict (uid) do nothing
    returning uid, (select revision from summaries where conversation = ?1)";
const PIECE: &str = "
    insert into tombs (uid, kind, project, person, machine, session, turn, made_at, at, by, fate, told)
    select ?2, ?3, s.id, c.person, c.machine, ?4, ?5, ?6, ?7, ?8,
        iif(c.person is null, ?9, ?10), iif(c.person is null, ?9, ?10) = 'away'
    from conversations c join shared_projects s on s.project = c.project
    where c.id = ?1 and (?11 or exists (select 1 from sent where uid = ?2)) on conflict (uid) do nothing";
const FATE: &str = "select fate from tombs where uid = ?1";
const DROP_WITHDRAWN: &str = "delete from tombs where uid = ?1 and fate = 'withdrawn'";

impl Archive {
    /// Records that a memory is deleted, if it is shared.
    pub(crate) fn add_memory_tombstone(&self, number: i64, burial: Burial<'_>) -> Result<()> {
        let row = (number, burial.at.0, burial.by, burial.own_fate.name(), burial.others_fate.name());
        let buried: Option<(Uid, String)> = self.db.first(MEMORY, row)?;
        match buried {
            Some((uid, fate)) if fate == TombFate::Withdrawn.name() => {
                self.stamp_withdrawal(uid, WriteStamp::NEVER)
            }
            _ => Ok(()),
        }
    }

    /// Stamps the withdrawn words, so that the hub drops them; a later version is newer.
    fn stamp_withdrawal(&self, uid: Uid, words: WriteStamp) -> Result<()> {
        let words = if words == WriteStamp::NEVER { words.next(self.machine) } else { words };
        self.stamp_cleared(uid, words)?;
        self.stamp_again(uid, RegisterId::Presence, WriteStamp::NEVER)?;
        Ok(())
    }

    pub(crate) fn add_turn_tombstone(
        &self,
        conversation: i64,
        ordinal: i64,
        burial: Burial<'_>,
    ) -> Result<()> {
        let (own, others) = (burial.own_fate.name(), burial.others_fate.name());
        let row = (conversation, ordinal, burial.at.0, burial.by, own, others);
        self.db.run(LINE, row)
    }

    /// Teammates' lines that lost their text here: they are not taken in again.
    pub(crate) fn add_foreign_line_tombstones(&self, conversation: i64, burial: Burial<'_>) -> Result<()> {
        let found = self.db.all(OTHERS_LINES, [conversation])?;
        let away = Burial { others_fate: TombFate::Away, ..burial };
        found.into_iter().try_for_each(|ordinal| self.add_turn_tombstone(conversation, ordinal, away))
    }

    /// Records that all rows of a session are deleted.
    pub(crate) fn add_session_tombstones(&self, id: i64, burial: Burial<'_>) -> Result<()> {
        const TURNS: &str = "select ordinal from turns where conversation = ?1";
        for ordinal in self.db.all(TURNS, [id])? {
            self.add_turn_tombstone(id, ordinal, burial)?;
        }
        self.add_piece_tombstones(id, RowKind::Body, "conversation = ?1", [id], burial)?;
        self.add_piece_tombstones(id, RowKind::Detail, "conversation = ?1", [id], burial)?;
        self.add_summary_tombstone(id, burial.at)
    }

    pub(crate) fn add_summary_tombstone(&self, conversation: i64, at: Timestamp) -> Result<()> {
        let row = (conversation, at.0, self.machine.0);
        let buried: Option<(Uid, u64)> = self.db.first(SUMMARY, row)?;
        let Some((uid, count)) = buried else { return Ok(()) };
        self.stamp_withdrawal(uid, WriteStamp { count, machine: self.machine })
    }

    /// Records that the bodies or details of a conversation that meet a condition are deleted.
    pub(crate) fn add_piece_tombstones(
        &self,
        conversation: i64,
        kind: RowKind,
        condition: &str,
        parameters: impl rusqlite::Params,
        burial: Burial<'_>,
    ) -> Result<()> {
        let Some(project) = self.shared_project_of(conversation)? else { return Ok(()) };
        let is_shared = project.extent >= extent_of(kind);
        let session = self.conversation_by_row(conversation)?.session;
        let query = format!("select turn, mark, at from {} where {condition}", piece_table(kind));
        let found: Vec<(i64, IdHash, Timestamp)> = self.db.all(&query, parameters)?;
        let mut bury = self.db.prepare_cached(PIECE)?;
        for (turn, mark, at) in found {
            bury.execute(values! {
                conversation, piece_uid(kind.name(), &session, mark, at), kind, session, turn, at,
                burial.at, burial.by, burial.own_fate, burial.others_fate, is_shared
            })?;
        }
        Ok(())
    }

    /// The fate of a deleted row; `None` if it has no tomb.
    pub(crate) fn tombstone_fate(&self, uid: Uid) -> Result<Option<TombFate>> {
        let found: Option<String> = self.db.first(FATE, [uid.0])?;
        Ok(found.and_then(|name| TombFate::named(&name)))
    }

    /// Makes a withdrawn row newer than its withdrawal. Returns the new write count of its words.
    pub(crate) fn restore_withdrawn(&self, uid: Uid) -> Result<Option<u64>> {
        if self.stamp(uid, RegisterId::Presence)?.is_none() {
            return Ok(None);
        }
        self.db.change(DROP_WITHDRAWN, [uid.0])?;
        self.stamp_again(uid, RegisterId::Presence, WriteStamp::NEVER)?;
        Ok(Some(self.stamp_again(uid, RegisterId::Words, WriteStamp::NEVER)?.count))
    }
}

/// The smallest extent at which rows of this kind are shared.
fn extent_of(kind: RowKind) -> ShareLevel {
    match kind {
        RowKind::Memory
        | RowKind::Summary
        | RowKind::Line
        | RowKind::Bookmark
        | RowKind::Baton
        | RowKind::Proposal
        | RowKind::Answer => ShareLevel::Lines,
        RowKind::Body => ShareLevel::Bodies,
        RowKind::Detail => ShareLevel::Details,
    }
}
