//! The earlier session's own account: its handoff, or its summary if its messages are not on this machine.
//!
//! Quoted as written, with each field cut by itself; empty fields are left out.

use super::budget::ContextBudget;
use super::cut::fitted;
use super::material::PastSession;
use super::section::{ContextPartKind, ContextPartState, ContextSection};

/// Allowance for the characters between a title and its text.
const SLACK: usize = 4;

/// Returns the handoff within `room`; an empty section if there is none.
pub fn section(past: &PastSession, program: &str, room: ContextBudget) -> ContextSection {
    let Some(handoff) = &past.handoff else { return ContextSection::default() };
    let account = Account {
        what: ContextPartKind::Handoff,
        why: "the state that session passed on",
        title: "\nHandoff of that session:\n",
        how: format!("{program} session handoff show {}", past.session.short()),
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

/// Returns the summary within `room`; an empty section if there is none.
pub fn summary(past: &PastSession, program: &str, room: ContextBudget) -> ContextSection {
    let Some(summary) = &past.summary else { return ContextSection::default() };
    let account = Account {
        what: ContextPartKind::Summary,
        why: "what that session did, where its words are not here",
        title: "\nSummary of that session:\n",
        how: format!("{program} show {}", past.session.short()),
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

struct Account {
    what: ContextPartKind,
    why: &'static str,
    title: &'static str,
    /// The command that shows the whole text.
    how: String,
}

impl Account {
    fn section(&self, fields: &[(&str, &String)], room: ContextBudget) -> ContextSection {
        let mut text = self.title.to_owned();
        let mut state = ContextPartState::Whole;
        for (at, (title, words)) in fields.iter().filter(|(_, words)| !words.trim().is_empty()).enumerate() {
            let left = room.limit().saturating_sub(room.size_of(&text) + room.size_of(title) + SLACK);
            match fitted(words, &self.how, room.of(left / (fields.len() - at))) {
                Some(field) => {
                    text.push_str(&format!("{title}: {}\n", field.text));
                    state = if field.is_cut { ContextPartState::Cut } else { state };
                }
                None => state = ContextPartState::Cut,
            }
        }
        let size = room.size_of(&text);
        if size > room.limit() {
            return ContextSection::left_out(self.what, self.why);
        }
        ContextSection::of(self.what, self.why, text, size, state)
    }
}
