//! Open proposals, each whole: the user decides on a text, not on its title.
//!
//! Marks what is held back. Says how to accept and to reject.

use crate::memory::{memory_json, memory_text};
use crate::page::Page;
use serde_json::{Value, json};
use towline_core::memory::Memory;
use towline_core::time::Timestamp;
use towline_engine::query::MemoryList;

pub fn proposals_json(list: &MemoryList) -> Value {
    json!({"proposals": list.memories.iter().map(memory_json).collect::<Vec<_>>()})
}

pub fn proposals_text(list: &MemoryList, now: Timestamp) -> String {
    let mut page = Page::default();
    for memory in &list.memories {
        memory_text(&mut page, memory, now);
        page.gap();
    }
    page.line(&match list.memories.as_slice() {
        [] => format!("nothing is proposed; looked in: {}", list.looked),
        [first, ..] => next(first),
    });
    page.text
}

fn next(memory: &Memory) -> String {
    let id = memory.name();
    let release = memory.quarantine.as_ref().map(|_| format!("`tow release {id}` first, then "));
    format!(
        "next: {}`tow proposals accept {id}` pins it and makes it your own words, `tow proposals reject {id}` leaves it a note",
        release.unwrap_or_default()
    )
}
