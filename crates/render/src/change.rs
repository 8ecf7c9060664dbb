//! Memories after a change: pinned, accepted, rejected, held back, released, superseded, edited, undone.
//!
//! The JSON of each change has its own shape, because clients know them.

use crate::memory::memory_json;
use serde_json::{Value, json};
use towline_core::escape::{escape_for_terminal, lines_for_terminal};
use towline_core::memory::name;
use towline_engine::curate::{ChangedMemory, MemoryChange, ProposalPart};

pub fn change_json(change: &MemoryChange, changed: &[ChangedMemory]) -> Value {
    let mut shown = memories_json(change, changed);
    let proposals: Vec<Value> =
        changed.iter().filter_map(|one| one.proposal.as_ref()).map(part_json).collect();
    // Omitted unless there are any: most users share nothing.
    if !proposals.is_empty() {
        shown["proposals"] = json!(proposals);
    }
    shown
}

pub fn part_json(part: &ProposalPart) -> Value {
    match part {
        ProposalPart::Asked { id, owner } => json!({"id": id, "owner": owner}),
        ProposalPart::Answered { id, person, verb } => json!({"id": id, "by": person, "change": verb}),
    }
}

fn memories_json(change: &MemoryChange, changed: &[ChangedMemory]) -> Value {
    let first = || changed.first().map(|one| memory_json(&one.after));
    match change {
        MemoryChange::Supersede { .. } => json!({"memory": first()}),
        MemoryChange::Edit(_) => {
            json!({"changed": changed.iter().any(|one| one.is_changed), "memory": first()})
        }
        MemoryChange::Undo => {
            let undone =
                |one: &ChangedMemory| json!({"undone": one.undone, "memory": memory_json(&one.after)});
            json!({"undone": changed.iter().map(undone).collect::<Vec<_>>()})
        }
        MemoryChange::Pin
        | MemoryChange::Unpin
        | MemoryChange::Accept
        | MemoryChange::Reject
        | MemoryChange::Hold { .. }
        | MemoryChange::Release => {
            json!({"memories": changed.iter().map(|one| memory_json(&one.after)).collect::<Vec<_>>()})
        }
    }
}

pub fn change_text(change: &MemoryChange, changed: &[ChangedMemory]) -> String {
    changed.iter().map(|one| line(change, one) + "\n").collect()
}

/// The effect of a proposal: instead of the change, or by the user's answer.
fn part_line(change: &MemoryChange, one: &ChangedMemory, part: &ProposalPart) -> String {
    let (id, title) = (one.after.name(), escape_for_terminal(&one.after.content.title));
    match (part, change) {
        (ProposalPart::Asked { .. }, _) => {
            let again = if one.is_changed { "" } else { ", as before" };
            format!("{id} stays as it is{again}: {title}\n{}", asked_line(part))
        }
        (ProposalPart::Answered { id: proposal, person, .. }, MemoryChange::Reject) => {
            format!("{proposal} of {} is rejected; {id} stays as it is: {title}", escape_for_terminal(person))
        }
        (ProposalPart::Answered { id: proposal, person, verb }, _) => {
            let text = lines_for_terminal(&one.after.content.text()).replace('\n', "\n  ");
            let held = one.after.quarantine.as_ref().map_or(String::new(), |why| {
                format!(
                    "\nheld back from models ({}): `tow memory release {id}` gives it to them",
                    escape_for_terminal(why)
                )
            });
            let end = match *verb {
                "forget" => String::new(),
                _ => format!("{held}\nnext: `tow memory undo {id}` takes that back"),
            };
            let person = escape_for_terminal(person);
            format!("{proposal} of {person} is accepted: {verb} {id}\n  {text}{end}")
        }
    }
}

/// Says that the owner decides.
pub fn asked_line(part: &ProposalPart) -> String {
    match part {
        ProposalPart::Asked { id, owner } => {
            let owner = escape_for_terminal(owner);
            format!(
                "it is {owner}'s memory: proposed to {owner} as {id}; `tow memory proposals withdraw {id}` takes that back"
            )
        }
        ProposalPart::Answered { id, .. } => id.clone(),
    }
}

fn line(change: &MemoryChange, one: &ChangedMemory) -> String {
    if let Some(part) = &one.proposal {
        return part_line(change, one, part);
    }
    let (id, title) = (one.after.name(), escape_for_terminal(&one.after.content.title));
    match (change, one.is_changed) {
        (MemoryChange::Pin, true) => format!("{id} is pinned: {title}"),
        (MemoryChange::Pin, false) => format!("{id} was pinned already: {title}"),
        (MemoryChange::Unpin, true) => format!("{id} is no longer pinned: {title}"),
        (MemoryChange::Unpin, false) => format!("{id} was not pinned: {title}"),
        // The user answers for the whole text, so all of it is shown.
        (MemoryChange::Accept, _) => {
            let text = lines_for_terminal(&one.after.content.text()).replace('\n', "\n  ");
            format!(
                "{id} is pinned and counts as your own words:\n  {text}\nnext: `tow memory undo {id}` takes that back"
            )
        }
        (MemoryChange::Reject, _) => format!("{id} stays an agent's note, without a pin: {title}"),
        (MemoryChange::Hold { .. }, _) => {
            format!("{id} is held back from models: {title}; `tow memory release {id}` gives it back")
        }
        (MemoryChange::Release, _) => {
            let reason = escape_for_terminal(one.before.quarantine.as_deref().unwrap_or_default());
            format!("{id} is released (it was held back: {reason}): {title}")
        }
        (MemoryChange::Supersede { .. }, _) => {
            let by = one.after.superseded.as_ref().and_then(|superseded| superseded.by);
            let instead = by.map_or(String::new(), |by| format!(", {} does", name(by)));
            format!("{id} no longer holds{instead}: {title}\nnext: `tow memory undo {id}` takes that back")
        }
        (MemoryChange::Edit(_), true) => {
            format!("{id} says now: {title}\nnext: `tow memory undo {id}` takes that back")
        }
        (MemoryChange::Edit(_), false) => format!("{id} says what it said: {title}"),
        (MemoryChange::Undo, _) => {
            format!("{id} is no longer \"{}\": {title}", one.undone.as_deref().unwrap_or_default())
        }
    }
}
