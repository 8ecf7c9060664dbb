//! A titled list of items as a part of the context.
//!
//! Gives each item whole or not at all, in order, as far as the room goes. Decides nothing about their choice.

use super::budget::ContextBudget;
use super::cut::one_line;
use super::section::{ContextPartKind, ContextPartState, ContextSection};

pub struct ItemList<'a> {
    pub kind: ContextPartKind,
    /// The line above the items.
    pub title: &'a str,
    pub why: &'a str,
    pub items: &'a [String],
    /// A longer item is shortened to one line of so many characters.
    pub most_chars: usize,
}

impl ItemList<'_> {
    pub fn within(self, room: ContextBudget) -> ContextSection {
        let (mut text, mut given) = (format!("\n{}:\n", self.title), 0);
        let mut size = room.size_of(&text);
        for item in self.items {
            let line = format!("- {}\n", one_line(item, self.most_chars));
            let new_size = size + room.size_of(&line);
            if new_size > room.limit() {
                break;
            }
            (size, given) = (new_size, given + 1);
            text.push_str(&line);
        }
        if given == 0 {
            return ContextSection::left_out(self.kind, self.why);
        }
        let is_cut = given < self.items.len();
        let state = if is_cut { ContextPartState::Cut } else { ContextPartState::Whole };
        ContextSection::of(self.kind, self.why, text, size, state)
    }
}
