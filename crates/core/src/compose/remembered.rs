//! Memories beside the inherited session: pinned ones, open next steps, relevant ones, and the index of the rest.
//!
//! The parts arrive finished and in order; this module only allots room. An item is given whole or not at all.

use super::budget::ContextBudget;
use super::cut::one_line;
use super::material::MemorySection;
use super::section::{ContextPartKind, ContextPartState, ContextSection};

const MAX_ITEM_CHARS: usize = 600;

/// Returns the parts in order, with as many items as `room` holds.
pub fn section(remembered: &[MemorySection], room: ContextBudget) -> ContextSection {
    let mut whole = ContextSection::default();
    for part in remembered {
        let added = part_section(part, room.of(room.limit() - whole.size));
        whole.text.push_str(&added.text);
        whole.size += added.size;
        whole.parts.extend(added.parts);
    }
    whole
}

fn part_section(remembered: &MemorySection, room: ContextBudget) -> ContextSection {
    let mut text = format!("\n{}:\n", one_line(&remembered.title, MAX_ITEM_CHARS));
    let mut size = room.size_of(&text);
    let mut given = 0;
    for item in &remembered.items {
        let line = format!("- {}\n", one_line(item, MAX_ITEM_CHARS));
        let new_size = size + room.size_of(&line);
        if new_size > room.limit() {
            break;
        }
        (size, given) = (new_size, given + 1);
        text.push_str(&line);
    }
    let kind = ContextPartKind::Remembered(remembered.kind);
    if given == 0 {
        return ContextSection::left_out(kind, &remembered.why);
    }
    let state = if given < remembered.items.len() { ContextPartState::Cut } else { ContextPartState::Whole };
    ContextSection::of(kind, &remembered.why, text, size, state)
}
