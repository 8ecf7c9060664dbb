//! A turn as text and as JSON: its messages, then its details by kind, each output after its input.
//!
//! The engine selects and clips the texts, so both forms show the same.

use crate::page::{Page, distinct, spanned};
use serde_json::{Value, json};
use towline_core::capture::DetailKind;
use towline_core::escape::escape_for_terminal;
use towline_core::time::Timestamp;
use towline_engine::query::{Conversation, DetailRow, DetailView, MessageView, TurnRow, TurnView, id_of};
use towline_engine::runtime::calendar;
use towline_engine::runtime::text::size;

/// One turn: a heading, its messages, its details by kind.
pub fn turn_text(page: &mut Page, view: &TurnView, now: Timestamp) {
    let id = id_of(&view.of, &view.turn);
    page.gap();
    page.line(&format!("turn {id}, {}", facts(&view.turn, now)));
    messages_text(page, &view.of, &view.turn, &view.messages);
    let of = |kinds: &[DetailKind]| -> Vec<&DetailView> {
        let is_own = |detail: &&DetailView| detail.row.subagent.is_none() && kinds.contains(&detail.row.kind);
        view.details.iter().filter(is_own).collect()
    };
    section(page, view, "tools", &of(&[DetailKind::Input, DetailKind::Output]));
    section(page, view, "notes", &of(&[DetailKind::Note, DetailKind::Prompt, DetailKind::Answer]));
    section(page, view, "images", &of(&[DetailKind::Image]));
    section(page, view, "summaries", &of(&[DetailKind::Summary]));
    section(page, view, "thinking", &of(&[DetailKind::Thinking]));
    for subagent in distinct(view.details.iter().filter_map(|detail| detail.row.subagent.as_deref())) {
        let doings = view.details.iter().filter(|detail| detail.row.subagent.as_deref() == Some(subagent));
        section(
            page,
            view,
            &format!("helper {}", escape_for_terminal(subagent)),
            &doings.collect::<Vec<_>>(),
        );
    }
    missing(page, view);
}

pub fn messages_text(page: &mut Page, of: &Conversation, turn: &TurnRow, messages: &[MessageView]) {
    for message in messages {
        page.line(&format!("[{}] {}:", calendar::clock(message.at, turn.at), message.speaker.name()));
        page.quote(&message.text, &format!("`tow session detail {} --bytes 0`", id_of(of, turn)));
    }
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
    page.quote(&detail.text, &format!("`tow session detail {id}.{}`", detail.row.number));
}

fn named(row: &DetailRow) -> String {
    let is_call = matches!(row.kind, DetailKind::Input | DetailKind::Output);
    let tool = row.tool.as_deref().filter(|tool| is_call && !tool.is_empty()).map(escape_for_terminal);
    let tool = tool.map_or(String::new(), |tool| format!("{tool} "));
    let mut name = format!("{tool}{}", row.kind.name());
    if let Some(outcome) = row.outcome.as_deref().filter(|outcome| *outcome != "done") {
        name += &format!(", {}", escape_for_terminal(outcome));
    }
    if row.cut > 0 {
        name += &format!(", {} were not kept", size(row.cut));
    }
    name
}

fn missing(page: &mut Page, view: &TurnView) {
    let id = id_of(&view.of, &view.turn);
    if view.left_out > 0 {
        page.line(&format!("[{} more details: `tow session detail {id} --bytes 0`]", view.left_out));
    }
    if view.hidden_thinking > 0 {
        page.line(&format!("[{} thinking: `tow session detail {id} --thinking`]", view.hidden_thinking));
    }
}

pub fn turn_json(view: &TurnView) -> Value {
    let (of, turn) = (&view.of, &view.turn);
    json!({
        "id": id_of(of, turn), "uid": turn.uid, "session": of.session, "agent": of.session.agent.as_str(),
        "project": of.project, "branch": of.branch, "folder": of.folder, "ordinal": turn.ordinal,
        "at": turn.at.to_utc(), "until": turn.until.to_utc(), "origin": turn.origin.name(),
        "stopped": turn.stopped.map(|how| how.name()), "reverted": turn.reverted, "tools": turn.tools,
        "failures": turn.failures, "line": turn.line, "words": messages_json(&view.messages),
        "details": view.details.iter().map(|detail| detail_row(view, detail)).collect::<Vec<_>>(),
        "thinking_hidden": view.hidden_thinking, "left_out_details": view.left_out,
    })
}

pub fn messages_json(messages: &[MessageView]) -> Value {
    let rows = messages.iter().map(|message| {
        json!({
            "speaker": message.speaker.name(), "at": message.at.to_utc(), "message": message.message,
            "text": message.text.text, "left_out_bytes": message.text.left_out,
        })
    });
    rows.collect()
}

fn detail_row(view: &TurnView, detail: &DetailView) -> Value {
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

/// The text of the one detail, below a heading.
pub fn one_detail_text(page: &mut Page, view: &TurnView, now: Timestamp) {
    let Some(detail) = view.details.first() else { return };
    let row = &detail.row;
    let subagent =
        row.subagent.as_deref().map(|id| format!(", helper {}", escape_for_terminal(id))).unwrap_or_default();
    let id = format!("{}.{}", id_of(&view.of, &view.turn), row.number);
    let at = calendar::clock(row.at, now);
    page.line(&format!("detail {id}, {at}, {}{subagent}, {}", named(row), size(row.size)));
    page.quote(&detail.text, &format!("`tow session detail {id} --bytes 0`"));
}

pub fn one_detail_json(view: &TurnView) -> Value {
    view.details.first().map_or(Value::Null, |detail| detail_row(view, detail))
}
