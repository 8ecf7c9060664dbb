//! A session, turn, detail or memory in full.
//!
//! The engine resolves ids and hides what the reader must not see.

use crate::figures::{figures_json, figures_text};
use crate::memory::{memory_json, memory_text};
use crate::page::{Page, head, spanned};
use crate::sessions::session_json;
use crate::turn::{one_detail_json, one_detail_text, turn_json, turn_text};
use crate::usage::spent_json;
use serde_json::{Value, json};
use towline_core::escape::escape_for_terminal;
use towline_core::id::Uid;
use towline_core::memory::{Memory, name};
use towline_core::time::Timestamp;
use towline_engine::query::{
    Clipped, KeptSummary, MemoryTrace, Shown, ShownMemory, ShownSession, TurnRow, id_of,
};
use towline_engine::runtime::calendar;

/// One object for one thing, a list for several.
pub fn show_json(shown: &[Shown]) -> Value {
    match shown {
        [one] => one_json(one),
        several => json!({"shown": several.iter().map(one_json).collect::<Vec<_>>()}),
    }
}

fn one_json(shown: &Shown) -> Value {
    match shown {
        Shown::Session(session) => shown_session_json(session),
        Shown::Turn(view, figures) => {
            json!({"kind": "turn", "turn": turn_json(view), "figures": figures_json(figures)})
        }
        Shown::Detail(view) => json!({"kind": "detail", "detail": one_detail_json(view)}),
        Shown::Memory(shown) => {
            let steps: Vec<Value> = shown.trace.iter().map(step_json).collect();
            let memory = memory_json(&shown.memory);
            json!({"kind": "memory", "memory": memory, "chain": chain_names(shown), "trace": steps})
        }
        Shown::HeldBack { id, reason } => {
            json!({"kind": "memory", "memory": {"id": id, "held_back": reason}})
        }
    }
}

fn shown_session_json(shown: &ShownSession) -> Value {
    let line = |turn: &TurnRow| {
        json!({
            "id": id_of(&shown.of, turn), "uid": turn.uid, "at": turn.at.to_utc(), "origin": turn.origin.name(),
            "line": turn.line,
        })
    };
    json!({
        "kind": "session", "session": session_json(&shown.of),
        "turns": shown.turns.iter().map(line).collect::<Vec<_>>(), "earlier_turns": earlier(shown),
        "hidden_turns": shown.all - shown.standing, "figures": figures_json(&shown.figures),
        "summary": shown.summary.as_ref().map(summary_json), "spent": spent_json(&shown.spent),
    })
}

/// Number of turns before the listed ones.
fn earlier(shown: &ShownSession) -> usize {
    (shown.standing as usize).saturating_sub(shown.turns.len())
}

pub fn show_text(shown: &[Shown], now: Timestamp) -> String {
    shown.iter().map(|shown| one_text(shown, now)).collect::<Vec<_>>().join("\n")
}

fn one_text(shown: &Shown, now: Timestamp) -> String {
    let mut page = Page::default();
    match shown {
        Shown::Session(shown) => session_text(&mut page, shown, now),
        Shown::Turn(view, figures) => {
            page.line(&head(&view.of));
            turn_text(&mut page, view, now);
            figures_text(&mut page, figures);
            page.gap();
            page.line(&format!("next: `tow session turns {}` lists the session's turns", view.of.short));
        }
        Shown::Detail(view) => {
            one_detail_text(&mut page, view, now);
            page.gap();
            page.line(&format!("next: `tow show {}` shows the whole turn", id_of(&view.of, &view.turn)));
        }
        Shown::Memory(shown) => shown_memory_text(&mut page, shown, now),
        Shown::HeldBack { id, reason } => page.line(&format!(
            "{id} is held back from models: {}. A person may look at it by `tow show {id}` and release it.",
            escape_for_terminal(reason)
        )),
    }
    page.text
}

fn session_text(page: &mut Page, shown: &ShownSession, now: Timestamp) {
    let ShownSession { of, all, standing, .. } = shown;
    page.line(&head(of));
    page.line(&format!("  {}, {all} turns, {standing} of them stand", spanned(of.first_at, of.last_at, now)));
    for (name, value) in [("folder", &of.folder), ("forked from", &of.base)] {
        if let Some(value) = value {
            page.line(&format!("  {name} {}", escape_for_terminal(value)));
        }
    }
    shown.summary.iter().for_each(|summary| summary_text(page, summary));
    page.line("turns:");
    if earlier(shown) > 0 {
        page.line(&format!("  [{} earlier: `tow show {} --limit {standing}`]", earlier(shown), of.short));
    }
    for turn in &shown.turns {
        let at = calendar::clock(turn.at, now);
        page.line(&format!("  {} {at} {}", id_of(of, turn), escape_for_terminal(&turn.line)));
    }
    figures_text(page, &shown.figures);
    if shown.spent.messages > 0 {
        page.line(&format!("cost: {} at list prices", shown.spent.bill().display()));
    }
    page.gap();
    page.line(&format!(
        "next: `tow session detail {}#N` prints what was said and done in a turn, `tow data export --session {}` prints all of it",
        of.short, of.session
    ));
}

fn shown_memory_text(page: &mut Page, shown: &ShownMemory, now: Timestamp) {
    memory_text(page, &shown.memory, now);
    if shown.chain.len() > 1 {
        page.line(&format!("one after the other: {}", chain_names(shown).join(" → ")));
    }
    page.line("what became of it:");
    for step in &shown.trace {
        page.line(&format!("  {}", step_text(step, now)));
    }
    page.gap();
    page.line(&next(&shown.memory));
}

fn chain_names(shown: &ShownMemory) -> Vec<String> {
    shown.chain.iter().map(|number| name(*number)).collect()
}

/// Drops a leading uid, which means nothing to the user, and keeps the location.
fn reason(step: &MemoryTrace) -> &str {
    let (first, rest) = step.why.split_once(' ').unwrap_or((&step.why, ""));
    if Uid::parse(first).is_ok() { rest } else { &step.why }
}

fn step_text(step: &MemoryTrace, now: Timestamp) -> String {
    let why = reason(step);
    let why = if why.is_empty() { String::new() } else { format!(": {why}") };
    let undone = step.undone_at.map(|at| format!(" (taken back {})", calendar::clock(at, now)));
    let at = calendar::clock(step.at, now);
    escape_for_terminal(&format!("{at} {}{why}{}", step.what, undone.unwrap_or_default()))
}

fn step_json(step: &MemoryTrace) -> Value {
    json!({
        "at": step.at.to_utc(), "what": step.what, "why": reason(step),
        "undone_at": step.undone_at.map(Timestamp::to_utc),
    })
}

fn next(memory: &Memory) -> String {
    let id = memory.name();
    let source = memory.source.as_ref().and_then(|source| Some(format!("{}#{}", source.short, source.turn?)));
    match (&memory.quarantine, source) {
        (Some(_), _) => {
            format!("next: `tow memory release {id}` gives it to models, `tow data forget {id}` erases it")
        }
        (None, Some(turn)) => {
            format!("next: `tow show {turn}` shows where it came from, `tow memory edit {id}` changes it")
        }
        (None, None) => {
            format!(
                "next: `tow memory timeline {id}` shows what was around it, `tow memory edit {id}` changes it"
            )
        }
    }
}

fn summary_text(page: &mut Page, kept: &KeptSummary) {
    page.line(&format!("summary, by {}:", escape_for_terminal(kept.maker.name())));
    for (heading, text) in kept.summary.parts().into_iter().filter(|(_, text)| !text.is_empty()) {
        page.quote(&Clipped { text: format!("{heading}: {text}"), left_out: 0 }, "");
    }
}

pub fn summary_json(kept: &KeptSummary) -> Value {
    let words = &kept.summary;
    json!({
        "request": words.request, "investigated": words.investigated, "learned": words.learned,
        "completed": words.completed, "next_steps": words.next_steps, "notes": words.notes,
        "until_turn": kept.turn, "maker": kept.maker.name(), "trust": kept.trust.name(), "at": kept.at.to_utc(),
    })
}
