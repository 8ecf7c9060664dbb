//! The handoff: the state that the earlier session passed on by itself.
//!
//! It is given as it was written, each field cut by itself; an empty field is not mentioned.

use super::cut::fitted;
use super::frame::{Section, short};
use super::{Budget, Part, PartKind, PartState, Past};

/// For what stands between a title and its words.
const SLACK: usize = 4;

/// Returns the handoff within `room`; nothing if there is none.
pub fn section(past: &Past, program: &str, room: Budget) -> Section {
    let Some(handoff) = &past.handoff else { return Section::default() };
    let fields = [
        ("Task", &handoff.task),
        ("Completed", &handoff.completed),
        ("Remaining", &handoff.remaining),
        ("Key context", &handoff.key_context),
    ];
    let how = format!("{program} handoff show {}", short(&past.session));
    let mut text = "\nHandoff of that session:\n".to_owned();
    let mut state = PartState::Whole;
    for (at, (title, words)) in fields.iter().filter(|(_, words)| !words.trim().is_empty()).enumerate() {
        let left = room.limit().saturating_sub(room.size_of(&text) + room.size_of(title) + SLACK);
        match fitted(words, &how, room.of(left / (fields.len() - at))) {
            Some(field) => {
                text.push_str(&format!("{title}: {}\n", field.text));
                state = if field.is_cut { PartState::Cut } else { state };
            }
            None => state = PartState::Cut,
        }
    }
    let part = |size, state| Part {
        what: PartKind::Handoff,
        why: "the state that session passed on".into(),
        size,
        state,
    };
    let size = room.size_of(&text);
    if size > room.limit() {
        return Section { parts: vec![part(0, PartState::LeftOut)], ..Section::default() };
    }
    Section { text, size, parts: vec![part(size, state)] }
}
