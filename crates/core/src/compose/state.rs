//! The state of the work that is continued: the open items of its to-do list, and what fails.
//!
//! Keeps the list's own order. Done items are only counted: the turns tell them.

use super::budget::ContextBudget;
use super::items::ItemList;
use super::material::PastSession;
use super::section::{ContextPartKind, ContextSection};
use crate::work::{FailingRun, PlanItem, PlanStatus};

const MAX_ITEM_CHARS: usize = 300;

/// Returns the list and the failing runs within `room`; an empty section if there is neither. What fails gets up to half of
/// it first: a long list must not hide it.
pub fn section(past: &PastSession, room: ContextBudget) -> ContextSection {
    let reserved = failing(past, room.share(1, 2)).size;
    let mut whole = todo(past, room.of(room.limit() - reserved));
    whole.append(failing(past, room.of(room.limit() - whole.size)));
    whole
}

fn failing(past: &PastSession, room: ContextBudget) -> ContextSection {
    // The run that failed last tells most.
    let items: Vec<String> = past.work.failing().iter().rev().map(FailingRun::describe).collect();
    if items.is_empty() {
        return ContextSection::default();
    }
    let list = ItemList {
        kind: ContextPartKind::Failing,
        title: "Failing when last run in that session",
        why: "tests and builds that failed last",
        items: &items,
        most_chars: MAX_ITEM_CHARS,
    };
    list.within(room)
}

fn todo(past: &PastSession, room: ContextBudget) -> ContextSection {
    let plan = past.work.plan();
    let done = plan.iter().filter(|item| item.status == PlanStatus::Done).count();
    let title = format!("The to-do list of that session ({done} of {} done), open items", plan.len());
    let line = |item: &PlanItem| match item.status {
        PlanStatus::InProgress => format!("{} (in progress)", item.text),
        PlanStatus::Open | PlanStatus::Done | PlanStatus::Dropped => item.text.clone(),
    };
    let items: Vec<String> = past.work.open_items().map(line).collect();
    if items.is_empty() {
        return ContextSection::default();
    }
    let why = "the open items of its to-do list";
    let list = ItemList {
        kind: ContextPartKind::ToDo,
        title: &title,
        why,
        items: &items,
        most_chars: MAX_ITEM_CHARS,
    };
    list.within(room)
}
