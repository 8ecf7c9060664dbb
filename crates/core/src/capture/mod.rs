//! Turns the pieces of a transcript into rows to store: turns, messages, details.
//!
//! Every text in a row is `CleanText`: redacted and bounded. The state between two pieces is bounded as well, however long
//! a turn is. This module knows neither the file that the pieces come from nor the store that takes the rows.

mod calls;
mod row;

pub use row::{
    CapturedDetail, CapturedMessage, CapturedRow, DetailKind, FileAccess, Speaker, TurnStart, TurnState,
    UsageRow,
};

use crate::compose::fence;
use crate::deed::{ToolAction, commits_of};
use crate::event::{PromptOrigin, ToolOutcome};
use crate::forget::{ForgottenParts, PieceSource};
use crate::id::{IdHash, SubagentId};
use crate::line::TurnDigest;
use crate::line::command::RunPurpose;
use crate::line::runs::{CommandRun, RunOutcome};
use crate::memory::distil::error_line;
use crate::piece::{PieceContent, StopReason, TranscriptPiece};
use crate::redact::{HIDDEN, is_wholly_private, redact};
use crate::text::{CleanText, SecretPolicy, TextPolicy};
use crate::time::Timestamp;
use crate::work::{FailingRun, WorkState};
use calls::{PendingCall, PendingCalls};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Maximum bytes kept of one piece, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureLimits {
    pub body: usize,
    pub input: usize,
    pub output: usize,
    pub thinking: usize,
    pub note: usize,
}

/// The user's settings for capture, and how the agent's tool calls are interpreted.
pub struct CaptureRules<'r, 'f> {
    pub caps: CaptureLimits,
    pub secrets: SecretPolicy,
    pub is_excluded_tool: &'r dyn Fn(&str) -> bool,
    pub is_excluded_path: &'r dyn Fn(&str) -> bool,
    /// The action that a call of this tool with this input performs.
    pub deed: &'r dyn for<'t, 'i> Fn(&'t str, &'i str) -> ToolAction<'i>,
    /// Forgotten parts of the session: they are neither stored again nor kept in the state between two reads.
    pub gone: Option<ForgottenParts<'f>>,
}

impl CaptureRules<'_, '_> {
    fn clean<'a>(&self, text: Cow<'a, str>, longest_bytes: usize) -> CleanText<'a> {
        CleanText::new(text, TextPolicy { longest_bytes, secrets: self.secrets })
    }

    fn has_forgotten_turn(&self, prompt: &TranscriptPiece<'_>) -> bool {
        self.gone.as_ref().is_some_and(|gone| gone.is_turn_erased(IdHash::of(&prompt.id), prompt.at))
    }

    fn has_forgotten(&self, piece: &TranscriptPiece<'_>) -> bool {
        let whose = PieceSource::of(piece.subagent.as_ref());
        self.gone.as_ref().is_some_and(|gone| gone.is_piece_erased(IdHash::of(&piece.id), piece.at, whose))
    }
}

/// The state between two pieces of one file; stored with the offset up to which the file was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CaptureState {
    turn: Option<TurnInProgress>,
    calls: PendingCalls,
    privacy: FilePrivacy,
    #[serde(skip_serializing_if = "WorkState::is_empty")]
    work: WorkState,
}

/// The known private turns when a piece is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilePrivacy {
    #[default]
    Open,
    /// A turn was private: reports of its background work and summaries of the conversation may repeat it.
    HadPrivateTurn,
    /// The file is of a subagent that a private turn started: no text of it is stored.
    Hidden,
}

impl FilePrivacy {
    /// Whether the turn that this prompt begins is private.
    pub fn hides_turn(self, text: &str, origin: PromptOrigin) -> bool {
        is_wholly_private(text) || (self != FilePrivacy::Open && origin == PromptOrigin::Notification)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct TurnInProgress {
    mark: IdHash,
    digest: TurnDigest,
    until: Timestamp,
    tools: u32,
    failures: u32,
    stopped: Option<StopReason>,
    /// The prompt was wholly private, or reports what a private turn began: no text of the turn is stored.
    is_private: bool,
    /// The turn was forgotten: not even its existence is stored.
    #[serde(default)]
    is_forgotten: bool,
}

impl CaptureState {
    /// Appends the rows for the next piece.
    pub fn take<'a>(
        &mut self,
        piece: TranscriptPiece<'a>,
        rules: &CaptureRules<'_, '_>,
        rows: &mut Vec<CapturedRow<'a>>,
    ) {
        if let (PieceContent::Prompt { text, origin }, None) = (&piece.what, &piece.subagent) {
            return self.begin(&piece, text.clone(), *origin, rules, rows);
        }
        let is_hidden =
            self.privacy == FilePrivacy::Hidden || self.turn.as_ref().is_some_and(|turn| turn.is_private);
        let is_structure = matches!(
            piece.what,
            PieceContent::Opened { .. } | PieceContent::Reverted { .. } | PieceContent::ReadAgain
        );
        if piece.subagent.is_none()
            && let Some(turn) = &mut self.turn
        {
            turn.until = turn.until.max(piece.at);
        }
        let in_forgotten_turn = self.turn.as_ref().is_some_and(|turn| turn.is_forgotten);
        if !is_structure && (in_forgotten_turn || rules.has_forgotten(&piece)) {
            self.track_hidden(&piece);
        } else if is_hidden && piece.what.has_text() {
            self.count_hidden(&piece);
            self.track_hidden(&piece);
        } else {
            self.keep(piece, rules, rows);
        }
    }

    /// The state of the session's work as of the last piece.
    pub fn work(&self) -> &WorkState {
        &self.work
    }

    pub fn has_turn(&self) -> bool {
        self.turn.is_some()
    }

    /// Hides everything that follows: the file is of a subagent that a private turn started.
    pub fn hide_all(&mut self) {
        self.privacy = FilePrivacy::Hidden;
    }

    /// Of a private turn only numbers are kept.
    fn count_hidden(&mut self, piece: &TranscriptPiece<'_>) {
        let (Some(turn), None) = (&mut self.turn, &piece.subagent) else { return };
        if let PieceContent::ToolCall { .. } = &piece.what {
            turn.tools += 1;
        } else if let PieceContent::ToolResult { outcome, .. } = &piece.what {
            turn.failures += u32::from(*outcome != ToolOutcome::Done);
        } else if let PieceContent::Stopped { how, .. } = &piece.what {
            turn.stopped = Some(*how);
        } else if let PieceContent::Answer { .. } = &piece.what {
            turn.stopped = None;
        }
    }

    /// Tracks calls and results of hidden pieces, so that a result that comes late is hidden as well, and none is matched
    /// to the wrong call.
    fn track_hidden(&mut self, piece: &TranscriptPiece<'_>) {
        let turn = self.turn.as_ref().map(|turn| turn.mark);
        if let PieceContent::ToolCall { call, tool, .. } = &piece.what {
            let is_excluded = self.turn.as_ref().is_some_and(|turn| turn.is_forgotten || turn.is_private);
            self.calls
                .open(PendingCall { is_excluded, ..PendingCall::tool_only(IdHash::of(call), turn, tool) });
        }
        if let PieceContent::ToolResult { call, .. } = &piece.what {
            self.calls.close(IdHash::of(call));
        }
    }

    /// The current turn's state, for the end of a read.
    pub fn current_turn<'a>(&self) -> Option<CapturedRow<'a>> {
        let turn = self.turn.as_ref().filter(|turn| !turn.is_forgotten)?;
        // Clipping and joining may have formed a secret out of parts that were harmless when redacted.
        let line = if turn.is_private { HIDDEN.to_owned() } else { redact(&turn.digest.line()).into_owned() };
        Some(CapturedRow::Settled(TurnState {
            turn: turn.mark,
            until: turn.until,
            tools: turn.tools,
            failures: turn.failures,
            stopped: turn.stopped,
            line,
        }))
    }

    fn begin<'a>(
        &mut self,
        piece: &TranscriptPiece<'a>,
        text: Cow<'a, str>,
        origin: PromptOrigin,
        rules: &CaptureRules<'_, '_>,
        rows: &mut Vec<CapturedRow<'a>>,
    ) {
        rows.extend(self.current_turn());
        let mark = IdHash::of(&piece.id);
        let is_forgotten = rules.has_forgotten_turn(piece);
        let is_private = is_forgotten || self.privacy.hides_turn(&text, origin);
        if is_private && !is_forgotten {
            self.privacy = FilePrivacy::HadPrivateTurn;
        }
        let hides_text = is_private || rules.has_forgotten(piece);
        let text = if hides_text { Cow::Borrowed("") } else { text };
        let words = rules.clean(strip_fenced(text), rules.caps.body);
        self.turn = Some(TurnInProgress {
            mark,
            digest: TurnDigest::begin(words.as_str(), origin),
            until: piece.at,
            tools: 0,
            failures: 0,
            stopped: None,
            is_private,
            is_forgotten,
        });
        if is_forgotten {
            return;
        }
        rows.push(CapturedRow::Turn(TurnStart {
            mark,
            id: piece.id.clone(),
            place: piece.place,
            at: piece.at,
            origin,
            agent_turn: piece.turn.clone(),
        }));
        if !hides_text {
            let position = CapturedPosition::of(piece, Some(mark));
            rows.push(CapturedRow::Body(position.message(Speaker::Person, words)));
        }
    }

    fn keep<'a>(
        &mut self,
        piece: TranscriptPiece<'a>,
        rules: &CaptureRules<'_, '_>,
        rows: &mut Vec<CapturedRow<'a>>,
    ) {
        let pos = CapturedPosition::of(&piece, self.turn.as_ref().map(|turn| turn.mark));
        let caps = rules.caps;
        match piece.what {
            PieceContent::Opened { session, folder, branch, base } => {
                let branch = branch.filter(|branch| is_branch(branch));
                rows.push(CapturedRow::Opened { session, folder, branch, base });
            }
            PieceContent::Usage { message, model, tokens } => {
                let CapturedPosition { turn, at, subagent, .. } = pos;
                rows.push(CapturedRow::Usage(UsageRow { turn, message, model, tokens, at, subagent }));
            }
            PieceContent::Reverted { from } => {
                self.work.revert(from);
                rows.push(CapturedRow::Reverted { from, at: piece.at });
            }
            PieceContent::ReadAgain => rows.push(CapturedRow::ReadAgain),
            PieceContent::Answer { text } if pos.subagent.is_none() => self.answer(&pos, text, rules, rows),
            PieceContent::ToolCall { call, tool, input } => self.call(pos, &call, tool, input, rules, rows),
            PieceContent::ToolResult { call, output, outcome } => {
                self.result(pos, &call, output, outcome, rules, rows);
            }
            PieceContent::Stopped { how, words } => self.stop(pos, how, rules.clean(words, caps.note), rows),
            PieceContent::Prompt { text, .. } => {
                rows.extend(pos.detail_row(DetailKind::Prompt, rules.clean(strip_fenced(text), caps.body)));
            }
            PieceContent::Answer { text } => {
                rows.extend(pos.detail_row(DetailKind::Answer, rules.clean(text, caps.body)));
            }
            PieceContent::Thinking { text } => {
                rows.extend(pos.detail_row(DetailKind::Thinking, rules.clean(text, caps.thinking)));
            }
            PieceContent::Note { text } if fence::is_memory_of_cut(&text) => {
                rows.push(CapturedRow::MadeRoom { at: piece.at })
            }
            PieceContent::Note { text } => {
                rows.extend(pos.detail_row(DetailKind::Note, rules.clean(strip_fenced(text), caps.note)));
            }
            PieceContent::Compacted { .. } if self.privacy == FilePrivacy::HadPrivateTurn => {}
            PieceContent::Compacted { summary } => {
                rows.extend(pos.detail_row(DetailKind::Summary, rules.clean(summary, caps.body)));
            }
            PieceContent::Image { media, bytes } => {
                let description = rules.clean(Cow::Owned(format!("{media}, {bytes} bytes")), caps.note);
                rows.extend(pos.detail_row(DetailKind::Image, description));
            }
        }
    }

    fn answer<'a>(
        &mut self,
        pos: &CapturedPosition<'a>,
        text: Cow<'a, str>,
        rules: &CaptureRules<'_, '_>,
        rows: &mut Vec<CapturedRow<'a>>,
    ) {
        let words = rules.clean(text, rules.caps.body);
        if let Some(turn) = &mut self.turn {
            turn.digest.answered(words.as_str());
            turn.stopped = None;
        }
        if !words.is_blank() {
            rows.push(CapturedRow::Body(pos.message(Speaker::Agent, words)));
        }
    }

    fn call<'a>(
        &mut self,
        pos: CapturedPosition<'a>,
        id: &str,
        tool: Cow<'a, str>,
        input: Cow<'a, str>,
        rules: &CaptureRules<'_, '_>,
        rows: &mut Vec<CapturedRow<'a>>,
    ) {
        let mark = IdHash::of(id);
        let input = rules.clean(input, rules.caps.input);
        let deed = (rules.deed)(&tool, input.as_str());
        let is_excluded =
            (rules.is_excluded_tool)(&tool) || deed.paths().any(|path| (rules.is_excluded_path)(path));
        self.calls.open(PendingCall { is_excluded, ..PendingCall::new(mark, pos.turn, &tool, &deed) });
        if let (None, Some(turn)) = (&pos.subagent, &mut self.turn) {
            turn.tools += 1;
            if !is_excluded {
                turn.digest.add_call(mark.0.cast_unsigned(), &deed);
            }
            if let (false, ToolAction::Planned(change)) = (is_excluded, &deed) {
                self.work.change_plan(change, pos.place);
            }
        }
        if is_excluded {
            return;
        }
        rows.extend(pos.turn.into_iter().flat_map(|turn| touched(turn, &deed)));
        drop(deed);
        rows.push(CapturedRow::Detail(CapturedDetail {
            tool: Some(tool),
            call: Some(mark),
            ..pos.detail(DetailKind::Input, input)
        }));
    }

    /// A result belongs to the turn of its call, whenever it arrives.
    fn result<'a>(
        &mut self,
        pos: CapturedPosition<'a>,
        id: &str,
        output: Cow<'a, str>,
        outcome: ToolOutcome,
        rules: &CaptureRules<'_, '_>,
        rows: &mut Vec<CapturedRow<'a>>,
    ) {
        let mark = IdHash::of(id);
        let call = self.calls.close(mark);
        if call.as_ref().is_some_and(|call| call.is_excluded) {
            return;
        }
        let output = if fence::is_answer(&output) { strip_fenced(output) } else { output };
        let output = rules.clean(output, rules.caps.output);
        let turn = call.as_ref().map_or(pos.turn, |call| call.turn);
        if let (None, Some(running)) = (&pos.subagent, &mut self.turn)
            && Some(running.mark) == turn
        {
            running.failures += u32::from(outcome != ToolOutcome::Done);
            let run = running.digest.record_result(mark.0.cast_unsigned(), outcome, output.as_str());
            if let Some(run) = run.filter(|run| run.purpose >= RunPurpose::Build) {
                record_trial(&mut self.work, run, output.as_str(), pos.place);
            }
            if let (ToolOutcome::Done, Some(text)) =
                (outcome, call.as_ref().and_then(|call| call.adds.as_ref()))
            {
                self.work.add_item(text, output.as_str(), pos.place);
            }
        }
        let command = call.as_ref().and_then(|call| call.commits.as_deref());
        let commits = command.map(|command| commits_of(command, output.as_str())).unwrap_or_default();
        rows.extend(turn.into_iter().flat_map(|turn| {
            commits.clone().into_iter().map(move |commit| CapturedRow::Committed { turn, commit })
        }));
        let tool = call.map(|call| Cow::Owned(call.tool));
        let detail = pos.detail(DetailKind::Output, output);
        rows.push(CapturedRow::Detail(CapturedDetail {
            turn,
            tool,
            call: Some(mark),
            outcome: Some(outcome),
            ..detail
        }));
    }

    fn stop<'a>(
        &mut self,
        pos: CapturedPosition<'a>,
        how: StopReason,
        words: CleanText<'a>,
        rows: &mut Vec<CapturedRow<'a>>,
    ) {
        if let (None, Some(turn)) = (&pos.subagent, &mut self.turn) {
            turn.stopped = Some(how);
            turn.digest.stopped(how);
        }
        rows.extend(pos.detail_row(DetailKind::Note, words));
    }
}

/// Records the outcome of a test or build in the state of the work.
fn record_trial(work: &mut WorkState, run: &CommandRun, output: &str, place: u64) {
    match run.came {
        Some(RunOutcome::Failed) => {
            // Clipping and joining may have formed a secret, as in the line.
            let error = error_line(output).map(|error| redact(&error).into_owned());
            work.failed(FailingRun { command: run.what.clone(), tests: run.tests, error }, place);
        }
        Some(RunOutcome::Passed) => work.passed(&run.what, place),
        Some(RunOutcome::Interrupted | RunOutcome::Running) | None => {}
    }
}

/// Position and ownership of a piece, without its content.
struct CapturedPosition<'a> {
    turn: Option<IdHash>,
    mark: IdHash,
    id: Cow<'a, str>,
    place: u64,
    at: Timestamp,
    subagent: Option<SubagentId>,
}

impl<'a> CapturedPosition<'a> {
    fn of(piece: &TranscriptPiece<'a>, turn: Option<IdHash>) -> Self {
        let TranscriptPiece { id, place, at, subagent, .. } = piece;
        Self {
            turn,
            mark: IdHash::of(id),
            id: id.clone(),
            place: *place,
            at: *at,
            subagent: subagent.clone(),
        }
    }

    fn message(&self, speaker: Speaker, text: CleanText<'a>) -> CapturedMessage<'a> {
        let Self { turn, mark, place, at, .. } = *self;
        CapturedMessage { turn, mark, message: self.id.clone(), place, at, speaker, text }
    }

    /// A detail row, unless the text is blank.
    fn detail_row(self, kind: DetailKind, text: CleanText<'a>) -> Option<CapturedRow<'a>> {
        (!text.is_blank()).then(|| CapturedRow::Detail(self.detail(kind, text)))
    }

    fn detail(self, kind: DetailKind, text: CleanText<'a>) -> CapturedDetail<'a> {
        let Self { turn, mark, place, at, subagent, .. } = self;
        CapturedDetail { turn, mark, place, at, subagent, kind, tool: None, call: None, outcome: None, text }
    }
}

/// Context that Towline itself gave to the session is stored already.
fn strip_fenced(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains(fence::OPEN) { Cow::Owned(fence::strip_fenced(&text).into_owned()) } else { text }
}

/// Whether a client's text names a branch; a detached head has none.
fn is_branch(text: &str) -> bool {
    const MAX_BRANCH_BYTES: usize = 250;
    !text.trim().is_empty() && text != "HEAD" && text.len() <= MAX_BRANCH_BYTES
}

/// Longer strings are not paths.
const MAX_PATH_BYTES: usize = 1024;

fn touched<'a>(turn: IdHash, deed: &ToolAction<'_>) -> Vec<CapturedRow<'a>> {
    let how = if matches!(deed, ToolAction::Changed { .. }) { FileAccess::Changed } else { FileAccess::Read };
    let sensible = deed.paths().filter(|path| !path.trim().is_empty() && path.len() <= MAX_PATH_BYTES);
    sensible.map(|path| CapturedRow::Touched { turn, path: path.to_owned(), how }).collect()
}

#[cfg(test)]
mod tests;
