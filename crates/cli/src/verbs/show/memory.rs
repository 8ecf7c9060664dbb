//! The full view of a memory (text, source, replacements, history), and the summary of a session.
//!
//! Only reads. Follows a chain of replacements in both directions, guarded against cycles.

use serde_json::{Value, json};
use towline_core::escape::for_terminal;
use towline_core::id::Uid;
use towline_core::memory::{Memory, name};
use towline_core::time::Timestamp;
use towline_engine::memory::remember::no_memory;
use towline_engine::query::{Clipped, Page, Past, memory_json, memory_text, unreadable};
use towline_engine::runtime::calendar;
use towline_engine::runtime::failure::Failure;
use towline_store::archive::{Conversation, KeptSummary, MemoryTrace};

/// Longest chain that is shown.
const LONGEST_CHAIN: usize = 50;

/// Returns the text and the JSON form.
pub fn show(past: &Past, number: i64) -> Result<(String, Value), Failure> {
    let memory = past.archive.memory(number).map_err(unreadable)?.ok_or_else(|| no_memory(number))?;
    let trace = past.archive.memory_trace(number).map_err(unreadable)?;
    let chain = chain(past, &memory)?;
    let mut page = Page::default();
    memory_text(&mut page, &memory, past.now);
    if chain.len() > 1 {
        let names: Vec<String> = chain.iter().map(|number| name(*number)).collect();
        page.line(&format!("one after the other: {}", names.join(" → ")));
    }
    page.line("what became of it:");
    for step in &trace {
        page.line(&format!("  {}", step_text(step, past.now)));
    }
    page.gap();
    page.line(&next(&memory));
    let steps: Vec<Value> = trace.iter().map(step_json).collect();
    let names: Vec<String> = chain.iter().map(|number| name(*number)).collect();
    Ok((page.text, json!({"kind": "memory", "memory": memory_json(&memory), "chain": names, "trace": steps})))
}

/// Like `show`, but without the content of a memory that is held back from models.
pub fn show_to_model(past: &Past, number: i64) -> Result<(String, Value), Failure> {
    let memory = past.archive.memory(number).map_err(unreadable)?.ok_or_else(|| no_memory(number))?;
    let Some(reason) = &memory.quarantine else { return show(past, number) };
    let id = memory.name();
    let text = format!(
        "{id} is held back from models: {}. A person may look at it by `tow show {id}` and release it.\n",
        for_terminal(reason)
    );
    Ok((text, json!({"kind": "memory", "memory": {"id": id, "held_back": reason}})))
}

/// The memories it replaced, itself, and those that replaced it, oldest first.
fn chain(past: &Past, memory: &Memory) -> Result<Vec<i64>, Failure> {
    let mut chain = vec![memory.number];
    let mut earlier = past.archive.memories_replaced_by(memory.number).map_err(unreadable)?;
    while let Some(number) =
        earlier.pop().filter(|number| !chain.contains(number) && chain.len() < LONGEST_CHAIN)
    {
        chain.insert(0, number);
        earlier.extend(past.archive.memories_replaced_by(number).map_err(unreadable)?);
    }
    let mut later = memory.superseded.as_ref().and_then(|superseded| superseded.by);
    while let Some(number) = later.filter(|number| !chain.contains(number) && chain.len() < LONGEST_CHAIN) {
        chain.push(number);
        let next = past.archive.memory(number).map_err(unreadable)?;
        later = next.and_then(|next| next.superseded).and_then(|superseded| superseded.by);
    }
    Ok(chain)
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
    for_terminal(&format!("{at} {}{why}{}", step.what, undone.unwrap_or_default()))
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
        (Some(_), _) => format!("next: `tow release {id}` gives it to models, `tow forget {id}` erases it"),
        (None, Some(turn)) => {
            format!("next: `tow show {turn}` shows where it came from, `tow edit {id}` changes it")
        }
        (None, None) => {
            format!("next: `tow timeline {id}` shows what was around it, `tow edit {id}` changes it")
        }
    }
}

/// The session's summary, if there is one.
pub fn summary(past: &Past, of: &Conversation) -> Result<Option<KeptSummary>, Failure> {
    past.archive.summary(of).map_err(unreadable)
}

pub fn summary_text(page: &mut Page, kept: &KeptSummary) {
    page.line(&format!("summary, by {}:", for_terminal(kept.maker.name())));
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
