//! What the earlier session says of itself: the handoff that it passed on, or its summary where its words are not at hand.
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
    let account = Account {
        what: PartKind::Handoff,
        why: "the state that session passed on",
        title: "\nHandoff of that session:\n",
        how: format!("{program} handoff show {}", short(&past.session)),
    };
    account.section(
        &[
            ("Task", &handoff.task),
            ("Completed", &handoff.completed),
            ("Remaining", &handoff.remaining),
            ("Key context", &handoff.key_context),
        ],
        room,
    )
}

/// Returns the summary within `room`; nothing if there is none.
pub fn summary(past: &Past, program: &str, room: Budget) -> Section {
    let Some(summary) = &past.summary else { return Section::default() };
    let account = Account {
        what: PartKind::Summary,
        why: "what that session did, where its words are not here",
        title: "\nSummary of that session:\n",
        how: format!("{program} show {}", short(&past.session)),
    };
    account.section(
        &[
            ("Request", &summary.request),
            ("Completed", &summary.completed),
            ("Next steps", &summary.next_steps),
            ("Learned", &summary.learned),
            ("Notes", &summary.notes),
        ],
        room,
    )
}

/// Titled fields of one account.
struct Account {
    what: PartKind,
    why: &'static str,
    title: &'static str,
    /// How to get what was cut.
    how: String,
}

impl Account {
    fn section(&self, fields: &[(&str, &String)], room: Budget) -> Section {
        let mut text = self.title.to_owned();
        let mut state = PartState::Whole;
        for (at, (title, words)) in fields.iter().filter(|(_, words)| !words.trim().is_empty()).enumerate() {
            let left = room.limit().saturating_sub(room.size_of(&text) + room.size_of(title) + SLACK);
            match fitted(words, &self.how, room.of(left / (fields.len() - at))) {
                Some(field) => {
                    text.push_str(&format!("{title}: {}\n", field.text));
                    state = if field.is_cut { PartState::Cut } else { state };
                }
                None => state = PartState::Cut,
            }
        }
        let part = |size, state| Part { what: self.what, why: self.why.into(), size, state };
        let size = room.size_of(&text);
        if size > room.limit() {
            return Section { parts: vec![part(0, PartState::LeftOut)], ..Section::default() };
        }
        Section { text, size, parts: vec![part(size, state)] }
    }
}
