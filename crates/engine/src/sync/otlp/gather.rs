//! Gathers spans from the archive: of finished turns, what came late to sent ones, and of runs of sessions that ended.
//!
//! Works in batches, so that memory does not grow with what waits. Reads only; what a batch was made of is recorded once the
//! receiver has it. Nothing of private turns and excluded folders enters a batch.

use super::progress::{Progress, READER, SentTurns};
use super::spans::{SpanSession, ToolCall, TurnText, tool_calls};
use super::sums::is_excluded;
use crate::capture::Wishes;
use opentelemetry_proto::tonic::trace::v1::Span;
use std::fs;
use towline_core::capture::Speaker;
use towline_core::redact::HIDDEN;
use towline_core::session::{Session, SessionState};
use towline_core::text::clip;
use towline_core::time::Timestamp;
use towline_store::archive::{Conversation, TurnRow};
use towline_store::{Archive, Store, StoreError, WaitRow};

/// A session that was silent for so long has ended, although nobody said so.
const SILENT_MS: i64 = 24 * 3_600_000;
/// Without hooks, a turn has ended after so long a silence.
const QUIET_MS: i64 = 30 * 60_000;
/// So long a turn that has ended waits for the capture of its last lines.
const CAPTURE_MS: i64 = 10 * 60_000;
/// The most bytes of a prompt or an answer.
const TEXT_BYTES: usize = 16 << 10;

/// Spans for one request, and the progress once they are sent.
pub(super) struct SpanBatch {
    pub spans: Vec<Span>,
    /// Nothing is left after it.
    pub is_all: bool,
    /// It has no span and changes no progress.
    pub is_nothing: bool,
    sent: Vec<(i64, SentTurns)>,
    gone: Vec<i64>,
    place: i64,
    progress: Progress,
}

impl SpanBatch {
    /// Records in one transaction that the receiver has the batch.
    pub fn record(&self, archive: &Archive) -> Result<(), StoreError> {
        self.sent.iter().try_for_each(|(row, sent)| sent.save(archive, *row))?;
        self.gone.iter().try_for_each(|row| SentTurns::forget(archive, *row))?;
        archive.note_read_up_to(READER, self.place)?;
        self.progress.save(archive)
    }
}

/// A span's id as a number.
fn number_of(span: &Span) -> u64 {
    span.span_id.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Where spans come from, and which the user wants.
#[derive(Clone, Copy)]
pub(super) struct SpanSource<'a> {
    pub archive: &'a Archive,
    pub store: Option<&'a Store>,
    pub wishes: &'a Wishes,
    pub words: WordsWanted,
    /// The most spans of a batch.
    pub most: usize,
    pub now: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordsWanted {
    None,
    All,
}

/// What is left of a session after it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Nothing,
    /// Something that has not ended yet.
    Later,
    /// The batch is full.
    Full,
}

impl SpanSource<'_> {
    /// The next batch, after `progress`.
    pub fn batch(&self, mut progress: Progress) -> Result<SpanBatch, StoreError> {
        let (before, was_at) = (progress.clone(), self.archive.read_up_to(READER)?);
        let (place, is_last) = progress.take_changes(self.archive)?;
        let open: Vec<(i64, u32)> = progress.open.iter().map(|(row, from)| (*row, *from)).collect();
        let (sent, gone, is_nothing) = (vec![], vec![], false);
        let mut batch = SpanBatch { spans: vec![], is_all: is_last, is_nothing, sent, gone, place, progress };
        for (row, from) in open {
            let Some(of) = self.archive.conversation_at(row)? else {
                batch.gone.push(row);
                batch.progress.open.remove(&row);
                continue;
            };
            if !self.is_wanted(&of, batch.progress.since())? {
                batch.progress.open.remove(&row);
                continue;
            }
            let sent = SentTurns::load(self.archive, row, of.uid)?;
            let mut visit = Visit::new(self, &of, sent, batch.progress.since())?;
            visit.spans = std::mem::take(&mut batch.spans);
            let rest = visit.visit(from)?;
            let Visit { spans, sent, .. } = visit;
            batch.spans = spans;
            match rest {
                Rest::Nothing => drop(batch.progress.open.remove(&row)),
                Rest::Later => drop(batch.progress.open.insert(row, sent.turns + 1)),
                Rest::Full => {}
            }
            batch.sent.push((row, sent));
            if rest == Rest::Full {
                batch.is_all = false;
                break;
            }
        }
        batch.is_nothing = batch.spans.is_empty() && was_at == Some(place) && batch.progress == before;
        Ok(batch)
    }

    fn is_wanted(&self, of: &Conversation, since: Timestamp) -> Result<bool, StoreError> {
        let is_excluded = is_excluded(self.wishes, &self.archive.usage_series_of(of)?);
        Ok(!is_excluded && of.last_at >= since && self.archive.is_captured_here(of)?)
    }
}

/// One look at one session.
struct Visit<'a> {
    source: &'a SpanSource<'a>,
    of: &'a Conversation,
    session: Option<Session>,
    waits: Vec<WaitRow>,
    since: Timestamp,
    sent: SentTurns,
    spans: Vec<Span>,
}

impl<'a> Visit<'a> {
    fn new(
        source: &'a SpanSource<'a>,
        of: &'a Conversation,
        sent: SentTurns,
        since: Timestamp,
    ) -> Result<Visit<'a>, StoreError> {
        let (session, waits) = match source.store {
            Some(store) => (store.session(&of.session)?, store.waits_of(&of.session)?),
            None => (None, vec![]),
        };
        Ok(Visit { source, of, session, waits, since, sent, spans: vec![] })
    }

    fn visit(&mut self, from: u32) -> Result<Rest, StoreError> {
        // What is captured from now on comes late to the turns that are sent now.
        let mark = self.source.archive.last_detail_row()?;
        if self.late_calls(from)? == Rest::Full {
            return Ok(Rest::Full);
        }
        self.sent.detail = mark;
        let rest = self.new_turns()?;
        if rest == Rest::Nothing { self.end_run() } else { Ok(rest) }
    }

    /// Calls of sent turns that were captured since, the oldest rows first.
    fn late_calls(&mut self, from: u32) -> Result<Rest, StoreError> {
        let mut late = vec![];
        for turn in self.turns(from, self.sent.turns)?.iter().filter(|turn| self.is_told(turn)) {
            late.extend(self.calls(turn)?.into_iter().filter(|call| self.is_late(call)));
        }
        late.sort_by_key(ToolCall::due_row);
        for call in late {
            if self.is_full() {
                return Ok(Rest::Full);
            }
            self.spans.push(self.scope().call(&call));
            self.sent.detail = call.due_row().unwrap_or(self.sent.detail);
        }
        Ok(Rest::Nothing)
    }

    fn is_late(&self, call: &ToolCall) -> bool {
        call.due_row().is_some_and(|row| row > self.sent.detail)
    }

    fn new_turns(&mut self) -> Result<Rest, StoreError> {
        let turns = self.turns(self.sent.turns + 1, u32::MAX)?;
        for (at, turn) in turns.iter().enumerate() {
            let next = turns.get(at + 1);
            if next.is_none() && !self.is_over(turn)? {
                return Ok(Rest::Later);
            }
            if self.is_told(turn) {
                for span in self.spans_of(turn, next)? {
                    // Calls may have been captured between two batches, so what was sent is known by its id.
                    let id = number_of(&span);
                    if self.sent.part.contains(&id) {
                        continue;
                    }
                    if self.is_full() {
                        return Ok(Rest::Full);
                    }
                    self.spans.push(span);
                    self.sent.part.insert(id);
                }
                self.note_sent(turn);
            }
            self.sent.turns = turn.ordinal;
            self.sent.part.clear();
        }
        Ok(Rest::Nothing)
    }

    fn note_sent(&mut self, turn: &TurnRow) {
        if self.sent.first.is_none() {
            (self.sent.first, self.sent.began_ms, self.sent.until_ms) = (Some(turn.ordinal), turn.at.0, 0);
        }
        self.sent.until_ms = self.sent.until_ms.max(turn.until.0);
    }

    /// Sends the span of a run that has ended, and the calls of subagents that never got an output.
    fn end_run(&mut self) -> Result<Rest, StoreError> {
        let Some(first) = self.sent.first else { return Ok(Rest::Nothing) };
        if !self.has_ended() {
            return Ok(Rest::Later);
        }
        let mut left = vec![];
        for turn in self.turns(first, self.sent.turns)?.iter().filter(|turn| self.is_told(turn)) {
            let unfinished = |call: &ToolCall| call.subagent.is_some() && call.end_row.is_none();
            left.extend(self.calls(turn)?.into_iter().filter(unfinished));
        }
        if !self.spans.is_empty() && self.spans.len() + left.len() >= self.source.most {
            return Ok(Rest::Full);
        }
        let mut spans: Vec<Span> = left.iter().map(|call| self.scope().call(call)).collect();
        spans.push(self.scope().run(Timestamp(self.sent.began_ms), self.ended_at()));
        self.spans.extend(spans);
        (self.sent.run, self.sent.first) = (self.sent.turns + 1, None);
        Ok(Rest::Nothing)
    }

    fn spans_of(&self, turn: &TurnRow, next: Option<&TurnRow>) -> Result<Vec<Span>, StoreError> {
        let usage = self.source.archive.usage(self.of, turn.ordinal..=turn.ordinal)?;
        let words = match self.source.words {
            WordsWanted::None => None,
            WordsWanted::All => Some(self.words(turn)?),
        };
        let scope = self.scope();
        let mut spans = vec![scope.turn(turn, &usage, words.as_ref())];
        let calls = self.calls(turn)?;
        spans.extend(calls.iter().filter(|call| call.due_row().is_some()).map(|call| scope.call(call)));
        let began_here =
            |wait: &&WaitRow| wait.began_at >= turn.at && next.is_none_or(|next| wait.began_at < next.at);
        spans.extend(self.waits.iter().filter(began_here).map(|wait| scope.wait(turn.ordinal, wait)));
        Ok(spans)
    }

    fn words(&self, turn: &TurnRow) -> Result<TurnText, StoreError> {
        let bodies = self.source.archive.bodies(turn)?;
        let of = |speaker: Speaker| {
            let texts: Vec<&str> =
                bodies.iter().filter(|body| body.speaker == speaker).map(|body| body.text.as_str()).collect();
            clip(&texts.join("\n\n"), TEXT_BYTES).to_owned()
        };
        Ok(TurnText { prompt: of(Speaker::Person), answer: of(Speaker::Agent) })
    }

    fn calls(&self, turn: &TurnRow) -> Result<Vec<ToolCall>, StoreError> {
        let mut calls = tool_calls(turn, self.source.archive.details(turn)?);
        calls.retain(|call| !self.source.wishes.excludes_tool(&call.tool));
        Ok(calls)
    }

    fn turns(&self, from: u32, to: u32) -> Result<Vec<TurnRow>, StoreError> {
        self.source.archive.turns(self.of, from, to)
    }

    /// Private turns are not told, nor those that began before the export was enabled.
    fn is_told(&self, turn: &TurnRow) -> bool {
        turn.line != HIDDEN && turn.at >= self.since
    }

    fn is_full(&self) -> bool {
        self.spans.len() >= self.source.most
    }

    fn scope(&self) -> SpanSession<'a> {
        SpanSession { conversation: self.of, run: self.sent.run }
    }

    fn is_silent(&self) -> bool {
        self.source.now.since_ms(self.of.last_at) > SILENT_MS
    }

    /// Whether the last turn has ended, and was captured to its end.
    fn is_over(&self, turn: &TurnRow) -> Result<bool, StoreError> {
        if turn.stopped.is_some() || self.is_silent() {
            return Ok(true);
        }
        let Some(session) = &self.session else { return self.fell_quiet(turn) };
        match session.state {
            SessionState::Working | SessionState::Blocked(_) => Ok(false),
            SessionState::Idle
            | SessionState::Completed
            | SessionState::Interrupted
            | SessionState::Limited
            | SessionState::Ended => self.is_captured(session),
        }
    }

    /// Without hooks, nobody tells the end of a turn. A long command is silent, too, but has no output yet.
    fn fell_quiet(&self, turn: &TurnRow) -> Result<bool, StoreError> {
        let last = turn.until.max(self.of.last_at);
        let is_quiet = self.source.now.since_ms(last) > QUIET_MS;
        let calls = tool_calls(turn, self.source.archive.details(turn)?);
        Ok(is_quiet && calls.iter().all(|call| call.end_row.is_some()))
    }

    /// The hook that tells the end of a turn may be faster than the capture of its last lines.
    fn is_captured(&self, session: &Session) -> Result<bool, StoreError> {
        if self.source.now.since_ms(session.since) > CAPTURE_MS {
            return Ok(true);
        }
        let Some(path) = &session.transcript else { return Ok(true) };
        match self.source.archive.source(path)? {
            Some(source) => Ok(fs::metadata(path).map_or(true, |found| found.len() <= source.reading.offset)),
            None => Ok(true),
        }
    }

    fn has_ended(&self) -> bool {
        self.is_silent() || self.session.as_ref().is_some_and(|session| session.state == SessionState::Ended)
    }

    fn ended_at(&self) -> Timestamp {
        let last = Timestamp(self.sent.until_ms);
        let ended = self.session.as_ref().filter(|session| session.state == SessionState::Ended);
        ended.and_then(|session| session.ended).map_or(last, |(at, _)| at.max(last))
    }
}
