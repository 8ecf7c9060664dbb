//! Memories beside the inherited session: pinned ones, open next steps, relevant ones, and the index of the rest.
//!
//! The parts arrive finished and in order; this module only allots room. An item is given whole or not at all.

use super::budget::ContextBudget;
use super::cut::one_line;
use super::items::ItemList;
use super::material::MemorySection;
use super::section::{ContextPartKind, ContextSection};

const MAX_ITEM_CHARS: usize = 600;

/// Returns the parts in order, with as many items as `room` holds.
pub fn section(remembered: &[MemorySection], room: ContextBudget) -> ContextSection {
    let mut whole = ContextSection::default();
    for part in remembered {
        whole.append(part_section(part, room.of(room.limit() - whole.size)));
    }
    whole
}

fn part_section(remembered: &MemorySection, room: ContextBudget) -> ContextSection {
    let list = ItemList {
        kind: ContextPartKind::Remembered(remembered.kind),
        title: &one_line(&remembered.title, MAX_ITEM_CHARS),
        why: &remembered.why,
        items: &remembered.items,
        most_chars: MAX_ITEM_CHARS,
    };
    list.within(room)
}
