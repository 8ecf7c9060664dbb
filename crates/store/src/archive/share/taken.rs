//! Applies pulled lines, bodies, details and summaries of other machines' sessions, and their bookmarks and batons.
//!
//! A session of another machine gets a conversation row with its owner. Its rows may arrive in any order.

use super::carry::SyncRow;
use super::stamps::RegisterId;
use super::take::Pull;
use super::{LineContent, SharedPiece, piece_table};
use crate::archive::keep::{ExportedDetail, ExportedMessage, ExportedTurn};
use crate::archive::restore::ImportTarget;
use crate::archive::summaries::KeptSummary;
use crate::archive::{Archive, Conversation, PackedOpening, Packer};
use crate::columns::{from_row, lenient_key, values};
use crate::query::Query;
use crate::{Result, StoreError};
use towline_core::forget::{PieceSource, project_marks};
use towline_core::id::{IdHash, SessionKey, Uid};
use towline_core::piece::StopReason;
use towline_core::share::{Registers, RowKind, SharedRow, WriteStamp};
use towline_core::text::CleanText;
use towline_core::time::Timestamp;

const SET_ORIGIN: &str = "
    update conversations set machine = ?2, person = ?3, branch = ?4, first_at = ?5, last_at = ?5 where id = ?1";
const TURN: &str = "select ordinal, uid, revision, machine from turns where conversation = ?1 and mark = ?2";
const SETTLE_TURN: &str = "
    update turns set revision = revision + 1, until = ?3, tools = ?4, failures = ?5, stopped = ?6, line = ?7, reverted = ?8
    where conversation = ?1 and mark = ?2";
const SET_MACHINE: &str =
    "update turns set machine = ?3, revision = ?4 where conversation = ?1 and mark = ?2";
const SETTLE_BODY: &str = "
    update bodies set revision = revision + 1, cut = ?3, text = ?4 where conversation = ?1 and mark = ?2";
const DROP_DETAIL: &str = "delete from details where conversation = ?1 and mark = ?2";
const MACHINE_OF: &str = "select machine from conversations where id = ?1";
const SUMMARY_OF: &str = "select uid, revision, machine from summaries where conversation = ?1";
const PUT_SUMMARY: &str = "
    insert or replace into summaries (uid, machine, revision, conversation, turn, request, investigated, learned, completed,
        next_steps, notes, maker, trust, at)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
const NOTE_STAMP: &str = "select count, writer from others_notes where uid = ?1";
const PUT_NOTE: &str = "
    insert or replace into others_notes (uid, kind, project, person, machine, session, turn, made_at, words, count, writer)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
const DROP_TOMB: &str = "delete from tombs where uid = ?1";
const ELSEWHERE: &str = "
    select uid, kind, project, person, machine, session, turn, made_at, words, count from others_notes
    where kind = ?1 and (?2 is null or project = ?2) order by made_at desc, uid limit ?3";
const HAS_NOTE: &str = "select exists (select 1 from others_notes where uid = ?1)";
const ORIGIN: &str = "select machine, person from conversations where id = ?1";

/// A bookmark or a baton of another machine, or one of ours that another machine changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteNote {
    pub uid: Uid,
    pub kind: RowKind,
    /// The project's row here.
    pub project: i64,
    /// `None` for this user.
    pub person: Option<String>,
    pub machine: Uid,
    pub session: Option<SessionKey>,
    pub turn: Option<u32>,
    pub made_at: Timestamp,
    /// The JSON as received.
    pub words: String,
    /// Its write count.
    pub count: u64,
}

/// The values that decide whether a body or a detail is stored, and where.
struct PulledPiece {
    turn: u32,
    turn_mark: Option<IdHash>,
    mark: IdHash,
    at: Timestamp,
    source: PieceSource,
}

from_row! { RemoteNote {
    uid, kind, project, person, machine, session: lenient_key, turn, made_at, words, count
} }

impl Pull<'_> {
    pub(super) fn line(&mut self, row: &SharedRow, stamp: WriteStamp, line: &LineContent) -> Result<bool> {
        let (archive, turn) = (self.archive, &line.turn);
        let Some(session) = &row.from.session else { return Ok(false) };
        if self.is_gone(session, |gone| gone.is_turn_erased(turn.mark, turn.at)) {
            return Ok(false);
        }
        let id = self.session_row(session, row, Some(line))?;
        let known: Option<(u32, Uid, WriteStamp)> = archive.db.first(TURN, (id, turn.mark.0))?;
        let ordinal = match known {
            Some((ordinal, uid, written)) => {
                if archive.stamp(uid, RegisterId::Words)?.unwrap_or(written) >= stamp {
                    return Ok(false);
                }
                self.settle_turn(id, turn)?;
                ordinal
            }
            None => {
                let mut target = ImportTarget::new(id);
                archive.restore_turn(&mut target, turn)?;
                let of = (id, turn.mark.0, row.from.machine.0, stamp.count.cast_signed());
                archive.db.change(SET_MACHINE, of)?;
                target.ordinal(turn.ordinal)
            }
        };
        archive.set_stamp(row.uid, RegisterId::Words, stamp)?;
        self.mark_changed(id, ordinal);
        Ok(true)
    }

    fn settle_turn(&self, conversation: i64, turn: &ExportedTurn) -> Result<()> {
        let ExportedTurn { mark, until, tools, failures, stopped, line, reverted, .. } = turn;
        let row =
            (conversation, mark.0, until.0, tools, failures, stopped.map(StopReason::name), line, reverted);
        self.archive.db.run(SETTLE_TURN, row)
    }

    pub(super) fn body(
        &mut self,
        row: &SharedRow,
        stamp: WriteStamp,
        words: SharedPiece<ExportedMessage<CleanText<'static>>>,
    ) -> Result<bool> {
        let (body, source) = (words.piece, PieceSource::Session);
        let (turn, turn_mark, mark, at) = (body.turn, words.turn_mark, body.mark, body.at);
        self.piece(
            row,
            stamp,
            &PulledPiece { turn, turn_mark, mark, at, source },
            |archive, target, known| match known {
                Some(_) => {
                    let settled = (target.id, mark.0, body.cut.cast_signed(), body.text.as_str());
                    archive.db.run(SETTLE_BODY, settled)
                }
                None => archive.restore_body(target, &body).map(drop),
            },
        )
    }

    pub(super) fn detail(
        &mut self,
        row: &SharedRow,
        stamp: WriteStamp,
        words: SharedPiece<ExportedDetail<CleanText<'static>>>,
    ) -> Result<bool> {
        let detail = words.piece;
        let source = PieceSource::of(detail.subagent.as_ref());
        let (turn, turn_mark, mark, at) = (detail.turn, words.turn_mark, detail.mark, detail.at);
        self.piece(
            row,
            stamp,
            &PulledPiece { turn, turn_mark, mark, at, source },
            |archive, target, known| {
                if known.is_some() {
                    archive.db.change(DROP_DETAIL, (target.id, mark.0))?;
                }
                let mut packer = Packer::new().map_err(|source| StoreError::Unpack { source })?;
                archive.restore_detail(target, &detail, &mut packer).map(drop)
            },
        )
    }

    /// Stores a body or a detail by `put`, unless it was forgotten here or this version of it is known.
    fn piece(
        &mut self,
        row: &SharedRow,
        stamp: WriteStamp,
        piece: &PulledPiece,
        put: impl FnOnce(&Archive, &ImportTarget, Option<WriteStamp>) -> Result<()>,
    ) -> Result<bool> {
        let Some(session) = &row.from.session else { return Ok(false) };
        if self.is_piece_gone(session, piece) {
            return Ok(false);
        }
        let id = self.session_row(session, row, None)?;
        let turn = self.local_turn(id, piece.turn, piece.turn_mark)?;
        let known = self.last_write(row, id, piece.mark)?;
        if known.is_some_and(|known| known >= stamp) {
            return Ok(false);
        }
        put(self.archive, &ImportTarget::with_turn(id, piece.turn, turn), known)?;
        self.archive.set_stamp(row.uid, RegisterId::Words, stamp)?;
        self.mark_changed(id, turn);
        Ok(true)
    }

    /// A session captured here keeps its local summary.
    pub(super) fn summary(
        &mut self,
        row: &SharedRow,
        registers: &Registers,
        kept: &KeptSummary,
    ) -> Result<bool> {
        let archive = self.archive;
        let Some(session) = &row.from.session else { return Ok(false) };
        if self.is_gone(session, |_| true) || row.from.machine == archive.machine {
            return Ok(false);
        }
        let id = self.session_row(session, row, None)?;
        let stamp = registers.words.stamp;
        let known: Option<(Uid, WriteStamp)> = archive.db.first(SUMMARY_OF, [id])?;
        if let Some((uid, written)) = known
            && archive.stamp(uid, RegisterId::Words)?.unwrap_or(written) >= stamp
        {
            return Ok(false);
        }
        self.put_summary(row, id, stamp, kept)?;
        archive.set_stamp(row.uid, RegisterId::Words, stamp)?;
        archive.set_stamp(row.uid, RegisterId::Presence, registers.presence.stamp)?;
        archive.note_change("summary", id, None)?;
        Ok(true)
    }

    fn put_summary(
        &self,
        row: &SharedRow,
        conversation: i64,
        stamp: WriteStamp,
        kept: &KeptSummary,
    ) -> Result<()> {
        let words = &kept.summary;
        self.archive.db.run(
            PUT_SUMMARY,
            values! {
                row.uid, row.from.machine, stamp.count, conversation, kept.turn, words.request,
                words.investigated, words.learned, words.completed, words.next_steps, words.notes,
                kept.maker, kept.trust, kept.at
            },
        )
    }

    /// Our own notes are in the other database; stores them only if another machine changed them.
    pub(super) fn noted(&mut self, row: &SharedRow, stamp: WriteStamp, words: &str) -> Result<bool> {
        let (archive, from) = (self.archive, &row.from);
        let known: Option<WriteStamp> = archive.db.first(NOTE_STAMP, [row.uid.0])?;
        let is_ours = from.machine == archive.machine && stamp.machine == archive.machine;
        let is_gone = from.session.as_ref().is_some_and(|session| {
            self.is_gone(session, |gone| gone.is_time_erased(from.made_at, PieceSource::Session))
        });
        if is_ours || is_gone || known.is_some_and(|known| known >= stamp) {
            return Ok(false);
        }
        archive.db.change(
            PUT_NOTE,
            values! {
                row.uid, row.kind, self.project.row, self.person(row), from.machine, from.session,
                from.turn, from.made_at, words, stamp.count, stamp.machine
            },
        )?;
        Ok(true)
    }

    fn mark_changed(&mut self, conversation: i64, turn: u32) {
        let first = self.changed.entry(conversation).or_insert(turn);
        *first = (*first).min(turn);
    }

    fn is_piece_gone(&self, session: &SessionKey, piece: &PulledPiece) -> bool {
        self.is_gone(session, |gone| {
            let of_turn = piece.turn_mark.is_some_and(|turn| gone.is_turn_erased(turn, Timestamp(i64::MIN)));
            of_turn || gone.is_piece_erased(piece.mark, piece.at, piece.source)
        })
    }

    /// Whether it was forgotten here.
    fn is_gone(
        &self,
        session: &SessionKey,
        check: impl Fn(&towline_core::forget::ForgottenParts<'_>) -> bool,
    ) -> bool {
        let marks = project_marks(&self.project.root, self.project.remote.as_deref());
        self.archive.forgotten.of(session, &marks).is_some_and(|gone| check(&gone))
    }

    /// The row of a session, created with its owner if it is unknown.
    fn session_row(&self, session: &SessionKey, row: &SharedRow, line: Option<&LineContent>) -> Result<i64> {
        if let Some(known) = self.archive.conversation(session)? {
            return Ok(known.row());
        }
        let opening = PackedOpening {
            session: session.id.as_str().to_owned(),
            folder: None,
            branch: None,
            project: None,
            base: line.and_then(|line| line.base.clone()),
        };
        let id = self.archive.conversation_row(session.agent.as_str(), &opening, Some(self.project.row))?;
        let branch = line.and_then(|line| line.branch.as_ref());
        let origin = (id, row.from.machine.0, self.person(row), branch, row.from.made_at.0);
        self.archive.db.change(SET_ORIGIN, origin)?;
        Ok(id)
    }

    /// The local ordinal of a turn: the same, unless another turn has it.
    fn local_turn(&self, conversation: i64, ordinal: u32, mark: Option<IdHash>) -> Result<u32> {
        let known = mark.map(|mark| self.archive.find_turn(conversation, mark)).transpose()?.flatten();
        Ok(known.unwrap_or(ordinal))
    }

    /// The last write of a piece, if it is stored.
    fn last_write(&self, row: &SharedRow, conversation: i64, mark: IdHash) -> Result<Option<WriteStamp>> {
        let (archive, table) = (self.archive, piece_table(row.kind));
        let query = format!("select revision from {table} where conversation = ?1 and mark = ?2");
        let Some(count) = archive.db.first(&query, (conversation, mark.0))? else { return Ok(None) };
        let written = WriteStamp { count, machine: archive.db.value(MACHINE_OF, [conversation])? };
        Ok(Some(archive.stamp(row.uid, RegisterId::Words)?.unwrap_or(written)))
    }
}

impl Archive {
    /// Bookmarks or batons of other machines, newest first: of a project, or of all.
    pub fn remote_rows(&self, kind: RowKind, project: Option<i64>, most: u32) -> Result<Vec<RemoteNote>> {
        self.db.all(ELSEWHERE, (kind.name(), project, most))
    }

    /// Whether a bookmark or a baton of another machine is stored.
    pub fn has_remote_row(&self, uid: Uid) -> Result<bool> {
        self.db.value(HAS_NOTE, [uid.0])
    }

    /// The machine that captured a conversation, and its owner; `None` for this user.
    pub fn origin_of(&self, conversation: &Conversation) -> Result<(Uid, Option<String>)> {
        self.db.value(ORIGIN, [conversation.row()])
    }

    pub(super) fn remove_tombstone(&self, uid: Uid) -> Result<()> {
        self.db.run(DROP_TOMB, [uid.0])
    }
}

impl<Text> SyncRow<Text> {
    /// The row with its content serialised.
    pub fn with_content(mut self, words: String) -> SharedRow {
        if let towline_core::share::RowLife::Lives(registers) = &mut self.row.life {
            registers.words.value = words;
        }
        self.row
    }
}
