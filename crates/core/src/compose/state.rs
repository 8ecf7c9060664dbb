//! The state of the work that is continued: the open items of its to-do list, and what fails.
//!
//! Gives each item whole or not at all, in the list's own order. What is done is only counted: the turns tell it.

use super::budget::ContextBudget;
use super::cut::one_line;
use super::material::PastSession;
use super::section::{ContextPartKind, ContextPartState, ContextSection};
use crate::work::{FailingRun, PlanItem, PlanStatus};

const MAX_ITEM_CHARS: usize = 300;

/// Returns the list and the failing runs within `room`; an empty section if there is neither.
pub fn section(past: &PastSession, room: ContextBudget) -> ContextSection {
    let mut whole = todo(past, room);
    let failing = past.work.failing().iter().map(FailingRun::describe).collect();
    let (title, why) = ("\nFailing when last run in that session:\n", "tests and builds that failed last");
    let added = listed(ContextPartKind::Failing, (title, why), failing, room.of(room.limit() - whole.size));
    whole.text.push_str(&added.text);
    whole.size += added.size;
    whole.parts.extend(added.parts);
    whole
}

fn todo(past: &PastSession, room: ContextBudget) -> ContextSection {
    let plan = past.work.plan();
    let done = plan.iter().filter(|item| item.status == PlanStatus::Done).count();
    let title = format!("\nThe to-do list of that session ({done} of {} done), open items:\n", plan.len());
    let line = |item: &PlanItem| match item.status {
        PlanStatus::InProgress => format!("{} (in progress)", item.text),
        PlanStatus::Open | PlanStatus::Done | PlanStatus::Dropped => item.text.clone(),
    };
    let items = past.work.open_items().map(line).collect();
    listed(ContextPartKind::ToDo, (&title, "the open items of its to-do list"), items, room)
}

fn listed(
    kind: ContextPartKind,
    (title, why): (&str, &str),
    items: Vec<String>,
    room: ContextBudget,
) -> ContextSection {
    if items.is_empty() {
        return ContextSection::default();
    }
    let (mut text, mut given) = (title.to_owned(), 0);
    let mut size = room.size_of(title);
    for item in &items {
        let line = format!("- {}\n", one_line(item, MAX_ITEM_CHARS));
        let new_size = size + room.size_of(&line);
        if new_size > room.limit() {
            break;
        }
        (size, given) = (new_size, given + 1);
        text.push_str(&line);
    }
    if given == 0 {
        return ContextSection::left_out(kind, why);
    }
    let state = if given < items.len() { ContextPartState::Cut } else { ContextPartState::Whole };
    ContextSection::of(kind, why, text, size, state)
}
