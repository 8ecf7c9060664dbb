//! Turns, memories and bookmarks around a point in time.
//!
//! The engine chooses and orders the entries.

use crate::page::Page;
use crate::search::hit_json;
use serde_json::{Value, json};
use towline_core::escape::{escape_for_terminal, fit_to_width};
use towline_core::memory::TrustLevel;
use towline_core::time::Timestamp;
use towline_engine::query::{Timeline, TimelineEntry};
use towline_engine::runtime::calendar;

pub fn timeline_json(timeline: &Timeline) -> Value {
    let entry = |entry: &TimelineEntry| {
        json!({
            "id": entry.id, "kind": entry.kind, "at": entry.at.to_utc(), "title": entry.title,
            "level": entry.level.map(TrustLevel::name), "session": entry.session, "project": entry.project, "tokens": entry.tokens,
            "is_anchor": is_anchor(timeline, entry),
        })
    };
    let entries: Vec<Value> = timeline.entries.iter().map(entry).collect();
    let found = timeline.found.as_ref().map(|hit| hit_json(hit));
    json!({"anchor": timeline.anchor, "found": found, "entries": entries})
}

fn is_anchor(timeline: &Timeline, entry: &TimelineEntry) -> bool {
    timeline.anchor.as_ref() == Some(&entry.id)
}

/// The line of a search hit has at most `columns` columns.
pub fn timeline_text(timeline: &Timeline, now: Timestamp, columns: usize) -> String {
    let mut page = Page::default();
    if let Some(hit) = &timeline.found {
        let best = format!("around {}, the best hit: {}", hit.id, escape_for_terminal(&hit.title));
        page.line(&fit_to_width(&best, columns));
    }
    for entry in &timeline.entries {
        page.line(&format!(
            "{} {} {} {}{} {} ({} tokens)",
            if is_anchor(timeline, entry) { '>' } else { ' ' },
            calendar::clock(entry.at, now),
            entry.id,
            entry.kind,
            entry.level.map_or(String::new(), |level| format!(", {},", level.name())),
            escape_for_terminal(&entry.title),
            entry.tokens
        ));
    }
    if timeline.entries.is_empty() {
        let looked = &timeline.looked;
        page.line(&format!("nothing found; looked in: {looked}. --all-projects looks everywhere"));
    } else {
        page.line(
            "next: `tow show ID` shows one whole, `tow session detail ID` what was said and done in a turn",
        );
    }
    page.text
}
