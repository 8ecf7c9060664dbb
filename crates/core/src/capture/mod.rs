//! From the pieces of a transcript to what is kept of it: turns, bodies, details.
//!
//! Every text that leaves here is `Clean`: redacted and bounded. Nothing but what a later piece needs is remembered, and
//! that is bounded too, however long a turn is. Which file the pieces come from, and where the rows go, is not known here.

mod calls;
mod row;

pub use row::{Body, Detail, DetailKind, Row, Settled, Speaker, Touch, TurnBegun, UsageRow};

use crate::compose::fence;
use crate::deed::{Deed, commits_of};
use crate::event::{Origin, ToolOutcome};
use crate::forget::{Gone, Whose};
use crate::id::{Mark, SubagentId};
use crate::line::Digest;
use crate::piece::{Content, Piece, Stop};
use crate::redact::{is_wholly_private, redact};
use crate::text::{Clean, Keeping, Secrets};
use crate::time::Timestamp;
use calls::{Call, Calls};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// How much of each kind is kept of one piece, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    pub body: usize,
    pub input: usize,
    pub output: usize,
    pub thinking: usize,
    pub note: usize,
}

/// What the user wants kept, and how the agent's calls are understood.
pub struct Rules<'r, 'f> {
    pub caps: Caps,
    pub secrets: Secrets,
    pub is_excluded_tool: &'r dyn Fn(&str) -> bool,
    pub is_excluded_path: &'r dyn Fn(&str) -> bool,
    /// What a call of this tool with this input does.
    pub deed: &'r dyn for<'t, 'i> Fn(&'t str, &'i str) -> Deed<'i>,
    /// What was forgotten of the session that is read: it is not kept again, nor remembered between two readings.
    pub gone: Option<Gone<'f>>,
}

impl Rules<'_, '_> {
    fn clean<'a>(&self, text: Cow<'a, str>, longest_bytes: usize) -> Clean<'a> {
        Clean::new(text, Keeping { longest_bytes, secrets: self.secrets })
    }

    fn has_forgotten_turn(&self, prompt: &Piece<'_>) -> bool {
        self.gone.as_ref().is_some_and(|gone| gone.is_turn_gone(Mark::of(&prompt.id), prompt.at))
    }

    fn has_forgotten(&self, piece: &Piece<'_>) -> bool {
        let whose = if piece.subagent.is_some() { Whose::Helper } else { Whose::Session };
        self.gone.as_ref().is_some_and(|gone| gone.is_piece_gone(Mark::of(&piece.id), piece.at, whose))
    }
}

/// What must be remembered of one file between two pieces; kept with the offset up to which it was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Gatherer {
    turn: Option<Running>,
    calls: Calls,
}

/// The turn that runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Running {
    mark: Mark,
    digest: Digest,
    until: Timestamp,
    tools: u32,
    failures: u32,
    stopped: Option<Stop>,
    /// Its prompt was wholly private: nothing that was said or done is kept.
    is_private: bool,
    /// It was forgotten: not even that there was such a turn is kept.
    #[serde(default)]
    is_forgotten: bool,
}

impl Gatherer {
    /// Adds what is to be kept of the next piece.
    pub fn take<'a>(&mut self, piece: Piece<'a>, rules: &Rules<'_, '_>, rows: &mut Vec<Row<'a>>) {
        if let (Content::Prompt { text, origin }, None) = (&piece.what, &piece.subagent) {
            let (text, origin) = (text.clone(), *origin);
            return self.begin(&piece, (text, origin), rules, rows);
        }
        let is_hidden = self.turn.as_ref().is_some_and(|turn| turn.is_private);
        let is_structure = matches!(piece.what, Content::Opened { .. } | Content::Reverted { .. });
        let tells_no_words = is_structure || matches!(piece.what, Content::Usage { .. });
        if piece.subagent.is_none()
            && let Some(turn) = &mut self.turn
        {
            turn.until = turn.until.max(piece.at);
        }
        let is_of_forgotten = self.turn.as_ref().is_some_and(|turn| turn.is_forgotten);
        if !is_structure && (is_of_forgotten || rules.has_forgotten(&piece)) {
            self.pass_over(&piece);
        } else if !is_hidden || tells_no_words {
            self.keep(piece, rules, rows);
        }
    }

    /// Of what was forgotten only that a call has, or had, its result: else another's would be taken for it.
    fn pass_over(&mut self, piece: &Piece<'_>) {
        let turn = self.turn.as_ref().map(|turn| turn.mark);
        if let Content::ToolCall { call, tool, .. } = &piece.what {
            let is_excluded = self.turn.as_ref().is_some_and(|turn| turn.is_forgotten);
            self.calls.open(Call { is_excluded, ..Call::nameless(Mark::of(call), turn, tool) });
        }
        if let Content::ToolResult { call, .. } = &piece.what {
            self.calls.close(Mark::of(call));
        }
    }

    /// The turn that runs, as it stands: for the end of a reading.
    pub fn settled<'a>(&self) -> Option<Row<'a>> {
        let turn = self.turn.as_ref().filter(|turn| !turn.is_forgotten)?;
        // Cutting and joining may have brought together what was apart when it was redacted.
        let line =
            if turn.is_private { "(private)".to_owned() } else { redact(&turn.digest.line()).into_owned() };
        Some(Row::Settled(Settled {
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
        piece: &Piece<'a>,
        (text, origin): (Cow<'a, str>, Origin),
        rules: &Rules<'_, '_>,
        rows: &mut Vec<Row<'a>>,
    ) {
        rows.extend(self.settled());
        let mark = Mark::of(&piece.id);
        let is_forgotten = rules.has_forgotten_turn(piece);
        let is_private = is_forgotten || is_wholly_private(&text);
        let is_wordless = is_private || rules.has_forgotten(piece);
        let text = if is_wordless { Cow::Borrowed("") } else { text };
        let words = rules.clean(without_ours(text), rules.caps.body);
        self.turn = Some(Running {
            mark,
            digest: Digest::begin(words.as_str(), origin),
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
        rows.push(Row::Turn(TurnBegun {
            mark,
            id: piece.id.clone(),
            place: piece.place,
            at: piece.at,
            origin,
            agent_turn: piece.turn.clone(),
        }));
        if !is_wordless {
            rows.push(Row::Body(Body::of(piece, Some(mark), Speaker::Person, words)));
        }
    }

    fn keep<'a>(&mut self, piece: Piece<'a>, rules: &Rules<'_, '_>, rows: &mut Vec<Row<'a>>) {
        let place = Place::of(&piece, self.turn.as_ref().map(|turn| turn.mark));
        let caps = rules.caps;
        match piece.what {
            Content::Opened { session, folder, base } => rows.push(Row::Opened { session, folder, base }),
            Content::Usage { message, model, tokens } => {
                let Place { turn, at, subagent, .. } = place;
                rows.push(Row::Usage(UsageRow { turn, message, model, tokens, at, subagent }));
            }
            Content::Reverted { from } => rows.push(Row::Reverted { from, at: piece.at }),
            Content::Answer { text } if place.subagent.is_none() => self.answer(&place, text, rules, rows),
            Content::ToolCall { call, tool, input } => self.call(place, (&call, tool, input), rules, rows),
            Content::ToolResult { call, output, outcome } => {
                self.result(place, (&call, outcome), output, rules, rows);
            }
            Content::Stopped { how, words } => self.stop(place, how, rules.clean(words, caps.note), rows),
            Content::Prompt { text, .. } => {
                rows.extend(place.detail(DetailKind::Prompt, rules.clean(without_ours(text), caps.body)));
            }
            Content::Answer { text } => {
                rows.extend(place.detail(DetailKind::Answer, rules.clean(text, caps.body)));
            }
            Content::Thinking { text } => {
                rows.extend(place.detail(DetailKind::Thinking, rules.clean(text, caps.thinking)));
            }
            Content::Note { text } if fence::is_memory_of_cut(&text) => {
                rows.push(Row::MadeRoom { at: piece.at })
            }
            Content::Note { text } => {
                rows.extend(place.detail(DetailKind::Note, rules.clean(without_ours(text), caps.note)));
            }
            Content::Compacted { summary } => {
                rows.extend(place.detail(DetailKind::Summary, rules.clean(summary, caps.body)));
            }
            Content::Image { media, bytes } => {
                let told = rules.clean(Cow::Owned(format!("{media}, {bytes} bytes")), caps.note);
                rows.extend(place.detail(DetailKind::Image, told));
            }
        }
    }

    fn answer<'a>(
        &mut self,
        place: &Place<'a>,
        text: Cow<'a, str>,
        rules: &Rules<'_, '_>,
        rows: &mut Vec<Row<'a>>,
    ) {
        let words = rules.clean(text, rules.caps.body);
        if let Some(turn) = &mut self.turn {
            turn.digest.answered(words.as_str());
            turn.stopped = None;
        }
        if !words.is_blank() {
            rows.push(Row::Body(place.body(Speaker::Agent, words)));
        }
    }

    fn call<'a>(
        &mut self,
        place: Place<'a>,
        (id, tool, input): (&str, Cow<'a, str>, Cow<'a, str>),
        rules: &Rules<'_, '_>,
        rows: &mut Vec<Row<'a>>,
    ) {
        let mark = Mark::of(id);
        let input = rules.clean(input, rules.caps.input);
        let deed = (rules.deed)(&tool, input.as_str());
        let is_excluded =
            (rules.is_excluded_tool)(&tool) || deed.paths().any(|path| (rules.is_excluded_path)(path));
        self.calls.open(Call { is_excluded, ..Call::new(mark, place.turn, &tool, &deed) });
        if let (None, Some(turn)) = (&place.subagent, &mut self.turn) {
            turn.tools += 1;
            if !is_excluded {
                turn.digest.did(mark.0.cast_unsigned(), &deed);
            }
        }
        if is_excluded {
            return;
        }
        rows.extend(place.turn.into_iter().flat_map(|turn| touched(turn, &deed)));
        drop(deed);
        rows.push(Row::Detail(Detail {
            tool: Some(tool),
            call: Some(mark),
            ..place.any(DetailKind::Input, input)
        }));
    }

    /// A result belongs to the turn of its call, whenever it comes.
    fn result<'a>(
        &mut self,
        place: Place<'a>,
        (id, outcome): (&str, ToolOutcome),
        output: Cow<'a, str>,
        rules: &Rules<'_, '_>,
        rows: &mut Vec<Row<'a>>,
    ) {
        let mark = Mark::of(id);
        let call = self.calls.close(mark);
        if call.as_ref().is_some_and(|call| call.is_excluded) {
            return;
        }
        let output = if fence::is_answer(&output) { without_ours(output) } else { output };
        let output = rules.clean(output, rules.caps.output);
        let turn = call.as_ref().map_or(place.turn, |call| call.turn);
        if let (None, Some(running)) = (&place.subagent, &mut self.turn)
            && Some(running.mark) == turn
        {
            running.failures += u32::from(outcome != ToolOutcome::Done);
            running.digest.came_of(mark.0.cast_unsigned(), outcome, output.as_str());
        }
        let command = call.as_ref().and_then(|call| call.commits.as_deref());
        let commits = command.map(|command| commits_of(command, output.as_str())).unwrap_or_default();
        rows.extend(
            turn.into_iter().flat_map(|turn| {
                commits.clone().into_iter().map(move |commit| Row::Committed { turn, commit })
            }),
        );
        let tool = call.map(|call| Cow::Owned(call.tool));
        let detail = place.any(DetailKind::Output, output);
        rows.push(Row::Detail(Detail { turn, tool, call: Some(mark), outcome: Some(outcome), ..detail }));
    }

    fn stop<'a>(&mut self, place: Place<'a>, how: Stop, words: Clean<'a>, rows: &mut Vec<Row<'a>>) {
        if let (None, Some(turn)) = (&place.subagent, &mut self.turn) {
            turn.stopped = Some(how);
            turn.digest.stopped(how);
        }
        rows.extend(place.detail(DetailKind::Note, words));
    }
}

/// Where a piece stands, without what it says.
struct Place<'a> {
    turn: Option<Mark>,
    mark: Mark,
    id: Cow<'a, str>,
    place: u64,
    at: Timestamp,
    subagent: Option<SubagentId>,
}

impl<'a> Place<'a> {
    fn of(piece: &Piece<'a>, turn: Option<Mark>) -> Self {
        let Piece { id, place, at, subagent, .. } = piece;
        Self { turn, mark: Mark::of(id), id: id.clone(), place: *place, at: *at, subagent: subagent.clone() }
    }

    fn body(&self, speaker: Speaker, text: Clean<'a>) -> Body<'a> {
        let Self { turn, mark, place, at, .. } = *self;
        Body { turn, mark, message: self.id.clone(), place, at, speaker, text }
    }

    /// A detail, unless it says nothing.
    fn detail(self, kind: DetailKind, text: Clean<'a>) -> Option<Row<'a>> {
        (!text.is_blank()).then(|| Row::Detail(self.any(kind, text)))
    }

    fn any(self, kind: DetailKind, text: Clean<'a>) -> Detail<'a> {
        let Self { turn, mark, place, at, subagent, .. } = self;
        Detail { turn, mark, place, at, subagent, kind, tool: None, call: None, outcome: None, text }
    }
}

impl<'a> Body<'a> {
    fn of(piece: &Piece<'a>, turn: Option<Mark>, speaker: Speaker, text: Clean<'a>) -> Self {
        Place::of(piece, turn).body(speaker, text)
    }
}

/// What we gave to a session ourselves is known already.
fn without_ours(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains(fence::OPEN) { Cow::Owned(fence::without_ours(&text).into_owned()) } else { text }
}

/// No sensible path is longer.
const LONGEST_PATH: usize = 1024;

fn touched<'a>(turn: Mark, deed: &Deed<'_>) -> Vec<Row<'a>> {
    let how = if matches!(deed, Deed::Changed { .. }) { Touch::Changed } else { Touch::Read };
    let sensible = deed.paths().filter(|path| !path.trim().is_empty() && path.len() <= LONGEST_PATH);
    sensible.map(|path| Row::Touched { turn, path: path.to_owned(), how }).collect()
}

#[cfg(test)]
mod tests;
