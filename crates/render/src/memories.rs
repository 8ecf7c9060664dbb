//! A list of memories, one line each.
//!
//! Says where it looked if nothing was found.

use crate::memory::{memory_json, memory_line};
use serde_json::{Value, json};
use towline_core::memory::Memory;
use towline_core::time::Timestamp;
use towline_engine::query::MemoryList;

pub fn memories_json(list: &MemoryList) -> Value {
    let memories: Vec<Value> = list.memories.iter().map(memory_json).collect();
    let next = list.memories.last().filter(|_| list.is_cut).map(Memory::name);
    json!({"memories": memories, "more": list.is_cut, "next": next})
}

pub fn memories_text(list: &MemoryList, now: Timestamp) -> String {
    let mut text: String = list.memories.iter().map(|memory| memory_line(memory, now) + "\n").collect();
    if list.is_cut {
        text += &format!("there are older ones: --limit {}\n", list.limit.saturating_mul(5));
    }
    text + &match list.memories.first() {
        Some(latest) => {
            let id = latest.name();
            format!("next: `tow show {id}` shows one whole, `tow memory timeline {id}` what was around it\n")
        }
        None => format!("no memories found; looked in: {}. `tow remember \"…\"` makes one\n", list.looked),
    }
}
