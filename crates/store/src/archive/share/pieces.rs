//! Outgoing lines, bodies, details and summaries.
//!
//! Only those captured on this machine: every machine sends its own sessions. Holds one row in memory at a time.

use super::carry::{SentSession, SyncRow};
use super::stamps::RegisterId;
use super::{LineContent, RowContent, ShareLevel, SharedPiece, piece_uid};
use crate::archive::Archive;
use crate::archive::keep::{ExportedMessage, ExportedTurn, exported_detail};
use crate::columns::{FromRow, both, from_row};
use crate::query::Query;
use crate::{Result, StoreError};
use rusqlite::Row;
use std::ops::ControlFlow;
use towline_core::id::{IdHash, SessionKey, Uid};
use towline_core::share::{Registers, RowKind, RowLife, RowProvenance, SharedRow, WriteStamp};

const HEAD: &str = "
    select c.agent || ':' || c.session, c.person, c.machine, c.branch, c.base, c.base_before from conversations c
    where c.id = ?1 and c.machine = ?2";
const TURNS: &str = "
    select uid, ordinal, mark, place, at, until, origin, agent_turn, stopped, tools, failures, line, reverted, revision
    from turns where conversation = ?1 and ordinal >= ?2 order by ordinal";
const BODIES: &str = "
    select b.turn, b.mark, b.message, b.place, b.at, b.speaker, b.cut, b.text, b.revision,
        (select t.mark from turns t where t.conversation = b.conversation and t.ordinal = b.turn)
    from bodies b where b.conversation = ?1 and b.turn >= ?2 order by b.turn, b.place, b.id";
const DETAILS: &str = "
    select d.turn, d.mark, d.place, d.at, d.kind, d.subagent, d.tool, d.call, d.outcome, d.cut, d.packed, d.content,
        d.revision, (select t.mark from turns t where t.conversation = d.conversation and t.ordinal = d.turn)
    from details d where d.conversation = ?1 and d.turn >= ?2 order by d.turn, d.place, d.id";
const SUMMARY: &str = "select uid, revision from summaries where conversation = ?1 and machine = ?2";
const AFTER: &str = "
    select c.id from conversations c join shared_projects s on s.project = c.project
    where c.id > ?1 and c.machine = ?2 order by c.id limit ?3";

/// Receives rows one by one, until it breaks.
type EachCarried<'a, E> = &'a mut dyn FnMut(SyncRow<String>) -> Result<ControlFlow<()>, E>;
type ReadCarried<'a> = &'a dyn Fn(&Row<'_>) -> Result<SyncRow<String>>;

impl Archive {
    /// Passes the rows of a conversation captured here from a turn on to `each`, as far as its project is shared, and
    /// then its summary.
    pub fn for_each_sync_row<E: From<StoreError>>(
        &self,
        conversation: i64,
        from_turn: u32,
        each: EachCarried<'_, E>,
    ) -> Result<ControlFlow<()>, E> {
        let Some(project) = self.shared_project_of(conversation)? else {
            return Ok(ControlFlow::Continue(()));
        };
        let Some((session, head)) = self.session_head(conversation, &project)? else {
            return Ok(ControlFlow::Continue(()));
        };
        let reads: [(&str, ShareLevel, ReadCarried<'_>); 3] = [
            (TURNS, ShareLevel::Lines, &|row| self.carried_line(&session, &head, row)),
            (BODIES, ShareLevel::Bodies, &|row| self.carried_body(&session, row)),
            (DETAILS, ShareLevel::Details, &|row| self.carried_detail(&session, row)),
        ];
        for (query, extent, read) in reads {
            let mut send = |row: &Row<'_>| each(read(row)?);
            if project.extent >= extent
                && self.db.each(query, (conversation, from_turn), &mut send)?.is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
        match self.sync_summary(conversation)? {
            Some(summary) => each(summary),
            None => Ok(ControlFlow::Continue(())),
        }
    }

    /// The summary of a conversation that was captured here.
    pub fn sync_summary(&self, conversation: i64) -> Result<Option<SyncRow<String>>> {
        let Some(project) = self.shared_project_of(conversation)? else { return Ok(None) };
        let Some((session, _)) = self.session_head(conversation, &project)? else { return Ok(None) };
        let found: Option<(Uid, i64)> = self.db.first(SUMMARY, (conversation, self.machine.0))?;
        let Some((uid, revision)) = found else { return Ok(None) };
        let row = self.conversation_by_row(conversation)?;
        let Some(summary) = self.summary(&row)? else { return Ok(None) };
        let from = self.provenance(&session, summary.turn, row.first_at)?;
        let carried = self.carried(&session, uid, RowKind::Summary, revision, from)?;
        Ok(Some(SyncRow { words: Some(RowContent::Summary(Box::new(summary))), ..carried }))
    }

    /// Conversations of shared projects captured here, after this row.
    pub fn shared_conversations_behind(&self, row: i64, most: u32) -> Result<Vec<i64>> {
        self.db.all(AFTER, (row, self.machine.0, most))
    }

    fn session_head<'p>(
        &self,
        conversation: i64,
        project: &'p super::SharedProject,
    ) -> Result<Option<(SentSession<'p>, SessionHead)>> {
        let found: Option<(String, _, _, SessionHead)> =
            self.db.first(HEAD, (conversation, self.machine.0))?;
        let Some((key, person, machine, head)) = found else { return Ok(None) };
        let Ok(key) = SessionKey::parse(&key) else { return Ok(None) };
        Ok(Some((SentSession { key, person, machine, project }, head)))
    }

    fn carried_line(
        &self,
        session: &SentSession<'_>,
        head: &SessionHead,
        row: &Row<'_>,
    ) -> Result<SyncRow<String>> {
        let turn = ExportedTurn::of(row)?;
        let from = self.provenance(session, turn.ordinal, turn.at)?;
        let carried = self.carried(session, turn.uid, RowKind::Line, row.get(13)?, from)?;
        let words = LineContent { turn, branch: head.branch.clone(), base: head.base.clone() };
        Ok(SyncRow { words: Some(RowContent::Line(Box::new(words))), ..carried })
    }

    fn carried_body(&self, session: &SentSession<'_>, row: &Row<'_>) -> Result<SyncRow<String>> {
        let body = ExportedMessage::of(row)?;
        let uid = piece_uid(RowKind::Body.name(), &session.key, body.mark, body.at);
        let from = self.provenance(session, body.turn, body.at)?;
        let carried = self.carried(session, uid, RowKind::Body, row.get(8)?, from)?;
        let turn_mark = row.get::<_, Option<i64>>(9)?.map(IdHash);
        Ok(SyncRow {
            words: Some(RowContent::Body(Box::new(SharedPiece { piece: body, turn_mark }))),
            ..carried
        })
    }

    fn carried_detail(&self, session: &SentSession<'_>, row: &Row<'_>) -> Result<SyncRow<String>> {
        let detail = exported_detail(row)?;
        let uid = piece_uid(RowKind::Detail.name(), &session.key, detail.mark, detail.at);
        let from = self.provenance(session, detail.turn, detail.at)?;
        let carried = self.carried(session, uid, RowKind::Detail, row.get(12)?, from)?;
        let turn_mark = row.get::<_, Option<i64>>(13)?.map(IdHash);
        Ok(SyncRow {
            words: Some(RowContent::Detail(Box::new(SharedPiece { piece: detail, turn_mark }))),
            ..carried
        })
    }

    /// A row whose only registers are its words and its presence.
    fn carried(
        &self,
        session: &SentSession<'_>,
        uid: Uid,
        kind: RowKind,
        revision: i64,
        from: RowProvenance,
    ) -> Result<SyncRow<String>> {
        let written = WriteStamp { count: revision.cast_unsigned(), machine: session.machine };
        let stamp = self.stamp(uid, RegisterId::Words)?.unwrap_or(written);
        let mut registers = Registers::of_words(String::new(), stamp);
        // Set if it was withdrawn once and shared again.
        registers.presence.stamp = self.stamp(uid, RegisterId::Presence)?.unwrap_or(WriteStamp::NEVER);
        let life = RowLife::Lives(Box::new(registers));
        Ok(SyncRow { row: SharedRow { uid, kind, project: session.project.id, from, life }, words: None })
    }
}

struct SessionHead {
    branch: Option<String>,
    base: Option<(String, u64)>,
}

from_row!(SessionHead { branch, base: both });
