//! Renders a memory: as a line, in full, or as JSON.
//!
//! Escapes untrusted text for the terminal; `memory` bounds a memory's length when it is stored.

use crate::page::Page;
use serde_json::{Value, json};
use towline_core::escape::escape_for_terminal;
use towline_core::memory::{Memory, name};
use towline_core::time::Timestamp;
use towline_engine::query::{Clipped, memory_tokens};
use towline_engine::runtime::calendar;

/// `*` pinned, `?` proposed, `!` held back, `x` replaced.
fn mark(memory: &Memory) -> char {
    match memory {
        _ if memory.superseded.is_some() => 'x',
        _ if memory.quarantine.is_some() => '!',
        _ if memory.pinned_at.is_some() => '*',
        _ if memory.proposed_at.is_some() => '?',
        _ => ' ',
    }
}

pub fn memory_line(memory: &Memory, now: Timestamp) -> String {
    let content = &memory.content;
    let at = calendar::clock(memory.made_at, now);
    let place = memory.source.as_ref().and_then(|source| Some(format!("{}#{}", source.short, source.turn?)));
    let place = place.map_or(String::new(), |place| format!(", {place}"));
    let whose = memory.owner().map(|whose| format!(", from {}", escape_for_terminal(&whose)));
    let place = place + &whose.unwrap_or_default();
    format!(
        "{} {at} {} {} {} ({} tokens{place})",
        memory.name(),
        mark(memory),
        escape_for_terminal(content.kind.as_str()),
        escape_for_terminal(&content.title),
        memory_tokens(memory)
    )
}

pub(crate) fn memory_text(page: &mut Page, memory: &Memory, now: Timestamp) {
    let content = &memory.content;
    let project = memory.project.as_deref().map(|name| format!(", project {}", escape_for_terminal(name)));
    let at = calendar::clock(memory.made_at, now);
    let (kind, by) = (escape_for_terminal(content.kind.as_str()), escape_for_terminal(memory.maker.name()));
    let level = memory.trust.level().name();
    page.line(&format!("{} {kind}, {level}, {at}, by {by}{}", memory.name(), project.unwrap_or_default()));
    page.line(&format!("  {}", escape_for_terminal(&content.title)));
    if !content.subtitle.is_empty() {
        page.line(&format!("  {}", escape_for_terminal(&content.subtitle)));
    }
    listed(page, "facts", &content.facts);
    if !content.narrative.is_empty() {
        page.line("in full:");
        page.quote(&Clipped { text: content.narrative.clone(), left_out: 0 }, "");
    }
    let files: Vec<String> =
        content.files.iter().map(|(path, how)| format!("{} {path}", how.name())).collect();
    listed(page, "files", &files);
    if !content.concepts.is_empty() {
        page.line(&format!("concepts: {}", escape_for_terminal(&content.concepts.join(", "))));
    }
    origin_text(page, memory);
    state_text(page, memory, now);
}

fn listed(page: &mut Page, heading: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    page.line(&format!("{heading}:"));
    for item in items {
        page.line(&format!("  {}", escape_for_terminal(item)));
    }
}

fn origin_text(page: &mut Page, memory: &Memory) {
    let mut from = vec![];
    from.extend(memory.owner().as_deref().map(escape_for_terminal));
    if let Some(source) = &memory.source {
        let turn = source.turn.map(|turn| format!(", turn {}#{turn}", source.short));
        from.push(format!("session {}{}", source.session, turn.unwrap_or_default()));
        from.extend(source.branch.as_deref().map(|branch| format!("branch {}", escape_for_terminal(branch))));
        from.extend(source.commit.as_deref().map(|commit| format!("commit {}", escape_for_terminal(commit))));
    }
    from.push(format!("trust {}", memory.trust.name()));
    from.push(format!("{} % sure", memory.confidence.as_percent()));
    if memory.cost > 0 {
        from.push(format!("the work cost {} tokens", memory.cost));
    }
    if memory.found > 1 {
        from.push(format!("found {} times", memory.found));
    }
    page.line(&format!("from: {}", from.join(", ")));
}

fn state_text(page: &mut Page, memory: &Memory, now: Timestamp) {
    if let Some(at) = memory.pinned_at {
        page.line(&format!("pinned since {}", calendar::clock(at, now)));
    }
    if let Some(at) = memory.proposed_at {
        let since = calendar::clock(at, now);
        page.line(&format!(
            "an agent proposes to pin it, since {since}; the user decides: `tow memory proposals`"
        ));
    }
    if let Some(superseded) = &memory.superseded {
        let by = superseded.by.map_or("no longer holds".to_owned(), |by| format!("replaced by {}", name(by)));
        let why = if superseded.why.is_empty() { String::new() } else { format!(": {}", superseded.why) };
        let at = calendar::clock(superseded.at, now);
        page.line(&escape_for_terminal(&format!("{by} since {at}{why}")));
    }
    if memory.is_private {
        page.line("kept private");
    }
    if let Some(reason) = &memory.quarantine {
        page.line(&escape_for_terminal(&format!("held back from every model: {reason}")));
    }
}

pub fn memory_json(memory: &Memory) -> Value {
    let content = &memory.content;
    let files: Vec<Value> =
        content.files.iter().map(|(path, how)| json!({"path": path, "how": how.name()})).collect();
    let source = memory.source.as_ref();
    let superseded = memory.superseded.as_ref().map(|superseded| {
        json!({"by": superseded.by.map(name), "at": superseded.at.to_utc(), "why": superseded.why})
    });
    let mut shown = json!({
        "id": memory.name(), "uid": memory.uid, "type": content.kind, "title": content.title,
        "subtitle": content.subtitle, "facts": content.facts, "narrative": content.narrative,
        "concepts": content.concepts, "files": files, "project": memory.project,
        "session": source.map(|source| &source.session),
        "turn": source.and_then(|source| Some(format!("{}#{}", source.short, source.turn?))),
        "branch": source.and_then(|source| source.branch.as_ref()),
        "commit": source.and_then(|source| source.commit.as_ref()),
        "maker": memory.maker.name(), "trust": memory.trust.name(), "level": memory.trust.level().name(), "confidence": memory.confidence.as_percent(),
        "cost": memory.cost, "tokens": memory_tokens(memory), "made_at": memory.made_at.to_utc(),
        "changed_at": memory.changed_at.to_utc(), "valid_from": memory.valid_from.to_utc(),
        "superseded": superseded, "pinned_at": memory.pinned_at.map(Timestamp::to_utc),
        "proposed_at": memory.proposed_at.map(Timestamp::to_utc), "held_back": memory.quarantine, "found": memory.found,
    });
    // Omitted unless set: most users share nothing.
    let named = [("person", &memory.person), ("machine", &memory.machine)];
    for (key, name) in named.into_iter().filter_map(|(key, name)| Some((key, name.as_ref()?))) {
        shown[key] = json!(name);
    }
    if memory.is_private {
        shown["private"] = json!(true);
    }
    shown
}
