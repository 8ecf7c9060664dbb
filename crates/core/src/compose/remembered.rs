//! What is remembered beside the inherited session: pinned, open next steps, memories, the index of the rest.
//!
//! The parts come finished and in order; here they only get their room. An item is given whole or not at all.

use super::cut::one_line;
use super::frame::Section;
use super::{Budget, Part, PartKind, PartState};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RememberedKind {
    Pinned,
    NextSteps,
    Memories,
    Index,
}

/// One part: a title and items, best first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    pub kind: RememberedKind,
    pub title: String,
    pub items: Vec<String>,
    /// Why it is given.
    pub why: String,
}

const LONGEST_ITEM: usize = 600;

/// The room that all of it would take, as far as `room` reaches.
pub fn wanted(remembered: &[Remembered], room: Budget) -> usize {
    section(remembered, room).size
}

/// Returns the parts in order, as many of their items as `room` holds.
pub fn section(remembered: &[Remembered], room: Budget) -> Section {
    let mut whole = Section::default();
    for part in remembered {
        let one = of_one(part, room.of(room.limit() - whole.size));
        whole.text.push_str(&one.text);
        whole.size += one.size;
        whole.parts.extend(one.parts);
    }
    whole
}

fn of_one(remembered: &Remembered, room: Budget) -> Section {
    let mut text = format!("\n{}:\n", one_line(&remembered.title, LONGEST_ITEM));
    let mut size = room.size_of(&text);
    let mut given = 0;
    for item in &remembered.items {
        let line = format!("- {}\n", one_line(item, LONGEST_ITEM));
        let with = size + room.size_of(&line);
        if with > room.limit() {
            break;
        }
        (size, given) = (with, given + 1);
        text.push_str(&line);
    }
    let part = |size, state| Part {
        what: PartKind::Remembered(remembered.kind),
        why: remembered.why.clone(),
        size,
        state,
    };
    if given == 0 {
        return Section { parts: vec![part(0, PartState::LeftOut)], ..Section::default() };
    }
    let state = if given < remembered.items.len() { PartState::Cut } else { PartState::Whole };
    Section { text, size, parts: vec![part(size, state)] }
}
