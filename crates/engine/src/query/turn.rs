//! Renders a turn: its messages, then its details by kind, each output after its input.
//!
//! Selection and clipping happen once, for text and JSON alike. Details beyond the room are not decompressed.

use super::page::{Clipped, Page, Room, id_of, spanned};
use super::{Past, unreadable};
use crate::runtime::calendar;
use crate::runtime::failure::Failure;
use crate::runtime::text::size;
use serde_json::{Value, json};
use towline_core::capture::{DetailKind, Speaker};
use towline_core::escape::for_terminal;
use towline_core::time::Timestamp;
use towline_store::archive::{Conversation, DetailRow, TurnRow};

/// Limits for one text among several; a detail requested alone is bound only by the room.
const LONGEST_BODY: usize = 8_000;
const LONGEST_DETAIL: usize = 2_000;

/// Whether the agent's thinking is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    Shown,
    Hidden,
}

/// The selected and clipped content of a turn.
pub struct TurnView {
    pub of: Conversation,
    pub turn: TurnRow,
    words: Vec<WordsView>,
    details: Vec<DetailView>,
    /// Number of thinking details hidden.
    thoughts: usize,
    /// Number of details beyond the room.
    left_out: usize,
}

impl TurnView {
    /// The id of a detail worth opening: the first clipped one, else the first.
    pub fn worth_a_look(&self) -> Option<String> {
        let is_cut = |detail: &&DetailView| detail.text.left_out > 0;
        let detail = self.details.iter().find(is_cut).or(self.details.first())?;
        Some(format!("{}.{}", id_of(&self.of, &self.turn), detail.row.number))
    }
}

struct WordsView {
    message: String,
    speaker: Speaker,
    at: Timestamp,
    text: Clipped,
}

struct DetailView {
    row: DetailRow,
    text: Clipped,
}

/// Reads as much as fits: messages first, then details in order.
pub fn view(
    past: &Past,
    of: Conversation,
    turn: TurnRow,
    mut room: Room,
    thinking: Thinking,
) -> Result<TurnView, Failure> {
    let words = read_words(past, &turn, &mut room)?;
    let all = past.archive.details(&turn).map_err(unreadable)?;
    let is_hidden = |row: &DetailRow| thinking == Thinking::Hidden && row.kind == DetailKind::Thinking;
    let (hidden, wanted): (Vec<_>, Vec<_>) = all.into_iter().partition(is_hidden);
    let (mut details, number) = (vec![], wanted.len());
    for row in wanted {
        if room.is_used_up() {
            break;
        }
        let text = past.archive.content(&row).map_err(unreadable)?;
        details.push(DetailView { row, text: room.take(text, LONGEST_DETAIL) });
    }
    let left_out = number - details.len();
    Ok(TurnView { of, turn, words, details, thoughts: hidden.len(), left_out })
}

fn read_words(past: &Past, turn: &TurnRow, room: &mut Room) -> Result<Vec<WordsView>, Failure> {
    let bodies = past.archive.bodies(turn).map_err(unreadable)?;
    let words = bodies.into_iter().map(|body| WordsView {
        message: body.message,
        speaker: body.speaker,
        at: body.at,
        text: room.take(body.text, LONGEST_BODY),
    });
    Ok(words.collect())
}

/// One turn: a heading, its messages, its details by kind.
pub fn turn_text(page: &mut Page, view: &TurnView, now: Timestamp) {
    let id = id_of(&view.of, &view.turn);
    page.gap();
    page.line(&format!("turn {id}, {}", facts(&view.turn, now)));
    for words in &view.words {
        words_text(page, view, words);
    }
    let of = |kinds: &[DetailKind]| -> Vec<&DetailView> {
        let is_own = |detail: &&DetailView| detail.row.subagent.is_none() && kinds.contains(&detail.row.kind);
        view.details.iter().filter(is_own).collect()
    };
    section(page, view, "tools", &of(&[DetailKind::Input, DetailKind::Output]));
    section(page, view, "notes", &of(&[DetailKind::Note, DetailKind::Prompt, DetailKind::Answer]));
    section(page, view, "images", &of(&[DetailKind::Image]));
    section(page, view, "summaries", &of(&[DetailKind::Summary]));
    section(page, view, "thinking", &of(&[DetailKind::Thinking]));
    for helper in helpers(view) {
        let doings = view.details.iter().filter(|detail| detail.row.subagent.as_deref() == Some(helper));
        section(page, view, &format!("helper {}", for_terminal(helper)), &doings.collect::<Vec<_>>());
    }
    missing(page, view);
}

/// Only the messages.
pub fn words(
    past: &Past,
    page: &mut Page,
    of: Conversation,
    turn: TurnRow,
    room: &mut Room,
) -> Result<(), Failure> {
    let words = read_words(past, &turn, room)?;
    let view = TurnView { of, turn, words, details: vec![], thoughts: 0, left_out: 0 };
    view.words.iter().for_each(|words| words_text(page, &view, words));
    Ok(())
}

fn words_text(page: &mut Page, view: &TurnView, words: &WordsView) {
    page.line(&format!("[{}] {}:", calendar::clock(words.at, view.turn.at), words.speaker.name()));
    page.quote(&words.text, &format!("`tow detail {} --bytes 0`", id_of(&view.of, &view.turn)));
}

fn facts(turn: &TurnRow, now: Timestamp) -> String {
    let mut facts = vec![spanned(turn.at, turn.until, now), turn.origin.name().to_owned()];
    if turn.tools > 0 {
        let calls = if turn.tools == 1 { "call" } else { "calls" };
        facts.push(format!("{} tool {calls}, {} failed", turn.tools, turn.failures));
    }
    facts.extend(turn.stopped.map(|how| how.name().to_owned()));
    if turn.reverted {
        facts.push("taken back".to_owned());
    }
    facts.join(", ")
}

fn helpers(view: &TurnView) -> Vec<&str> {
    let mut found: Vec<&str> = vec![];
    for helper in view.details.iter().filter_map(|detail| detail.row.subagent.as_deref()) {
        if !found.contains(&helper) {
            found.push(helper);
        }
    }
    found
}

/// Details under a heading; the output of a call follows its input.
fn section(page: &mut Page, view: &TurnView, name: &str, details: &[&DetailView]) {
    if details.is_empty() {
        return;
    }
    page.line(&format!("{name}:"));
    for detail in details {
        let answers = |input: &DetailView| is_pair(&input.row, &detail.row);
        if details.iter().any(|input| answers(input)) {
            continue;
        }
        detail_quote(page, view, detail);
        if let Some(output) = details.iter().find(|output| is_pair(&detail.row, &output.row)) {
            detail_quote(page, view, output);
        }
    }
}

fn is_pair(input: &DetailRow, output: &DetailRow) -> bool {
    let kinds = (input.kind, output.kind) == (DetailKind::Input, DetailKind::Output);
    kinds && input.call.is_some() && input.call == output.call && input.subagent == output.subagent
}

fn detail_quote(page: &mut Page, view: &TurnView, detail: &DetailView) {
    let at = calendar::clock(detail.row.at, view.turn.at);
    page.line(&format!(".{} [{at}] {}", detail.row.number, named(&detail.row)));
    let id = id_of(&view.of, &view.turn);
    page.quote(&detail.text, &format!("`tow detail {id}.{}`", detail.row.number));
}

/// Label of a detail.
fn named(row: &DetailRow) -> String {
    let tool = row.tool.as_deref().map(for_terminal).unwrap_or_default();
    let mut name = match row.kind {
        DetailKind::Input | DetailKind::Output if !tool.is_empty() => format!("{tool} {}", row.kind.name()),
        kind @ (DetailKind::Input
        | DetailKind::Output
        | DetailKind::Thinking
        | DetailKind::Image
        | DetailKind::Note
        | DetailKind::Summary
        | DetailKind::Prompt
        | DetailKind::Answer) => kind.name().to_owned(),
    };
    if let Some(outcome) = row.outcome.as_deref().filter(|outcome| *outcome != "done") {
        name += &format!(", {}", for_terminal(outcome));
    }
    if row.cut > 0 {
        name += &format!(", {} were not kept", size(row.cut));
    }
    name
}

fn missing(page: &mut Page, view: &TurnView) {
    let id = id_of(&view.of, &view.turn);
    if view.left_out > 0 {
        page.line(&format!("[{} more details: `tow detail {id} --bytes 0`]", view.left_out));
    }
    if view.thoughts > 0 {
        page.line(&format!("[{} thinking: `tow detail {id} --thinking`]", view.thoughts));
    }
}

pub fn turn_json(view: &TurnView) -> Value {
    let (of, turn) = (&view.of, &view.turn);
    let words = view.words.iter().map(|words| {
        json!({
            "speaker": words.speaker.name(), "at": words.at.to_utc(), "message": words.message,
            "text": words.text.text, "left_out_bytes": words.text.left_out,
        })
    });
    json!({
        "id": id_of(of, turn), "uid": turn.uid, "session": of.session, "agent": of.session.agent.as_str(),
        "project": of.project, "branch": of.branch, "folder": of.folder, "ordinal": turn.ordinal,
        "at": turn.at.to_utc(), "until": turn.until.to_utc(), "origin": turn.origin.name(),
        "stopped": turn.stopped.map(|how| how.name()), "reverted": turn.reverted, "tools": turn.tools,
        "failures": turn.failures, "line": turn.line, "words": words.collect::<Vec<_>>(),
        "details": view.details.iter().map(|detail| one_json(view, detail)).collect::<Vec<_>>(),
        "thinking_hidden": view.thoughts, "left_out_details": view.left_out,
    })
}

fn one_json(view: &TurnView, detail: &DetailView) -> Value {
    let row = &detail.row;
    let answered = |other: &&DetailView| is_pair(&other.row, row) || is_pair(row, &other.row);
    let pair = view.details.iter().find(answered).map(|other| other.row.number);
    json!({
        "id": format!("{}.{}", id_of(&view.of, &view.turn), row.number), "number": row.number,
        "at": row.at.to_utc(), "kind": row.kind.name(), "tool": row.tool, "pair": pair, "outcome": row.outcome,
        "helper": row.subagent, "bytes": row.size, "cut_bytes": row.cut, "text": detail.text.text,
        "left_out_bytes": detail.text.left_out,
    })
}

/// A detail without its text.
pub fn heading_json(of: &Conversation, turn: &TurnRow, row: &DetailRow) -> Value {
    json!({
        "id": format!("{}.{}", id_of(of, turn), row.number), "number": row.number, "at": row.at.to_utc(),
        "kind": row.kind.name(), "tool": row.tool, "call": row.call, "outcome": row.outcome, "helper": row.subagent,
        "bytes": row.size, "cut_bytes": row.cut,
    })
}

/// One detail of a turn, clipped to the room; `Err` with the number of details if it does not exist.
pub fn view_detail(
    past: &Past,
    of: Conversation,
    turn: TurnRow,
    number: u32,
    mut room: Room,
) -> Result<Result<TurnView, usize>, Failure> {
    let mut rows = past.archive.details(&turn).map_err(unreadable)?;
    let Some(at) = rows.iter().position(|row| row.number == number) else { return Ok(Err(rows.len())) };
    let row = rows.swap_remove(at);
    let text = past.archive.content(&row).map_err(unreadable)?;
    let details = vec![DetailView { row, text: room.take(text, usize::MAX) }];
    Ok(Ok(TurnView { of, turn, words: vec![], details, thoughts: 0, left_out: 0 }))
}

/// The text of the one detail, below a heading.
pub fn detail_text(page: &mut Page, view: &TurnView, now: Timestamp) {
    let Some(detail) = view.details.first() else { return };
    let row = &detail.row;
    let helper =
        row.subagent.as_deref().map(|id| format!(", helper {}", for_terminal(id))).unwrap_or_default();
    let id = format!("{}.{}", id_of(&view.of, &view.turn), row.number);
    let at = calendar::clock(row.at, now);
    page.line(&format!("detail {id}, {at}, {}{helper}, {}", named(row), size(row.size)));
    page.quote(&detail.text, &format!("`tow detail {id} --bytes 0`"));
}

pub fn detail_json(view: &TurnView) -> Value {
    view.details.first().map_or(Value::Null, |detail| one_json(view, detail))
}
