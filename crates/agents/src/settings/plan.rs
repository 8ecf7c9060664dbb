//! Computes the new contents of an agent's settings file from the current ones.
//!
//! Writes nothing. Every plan is a fixed point: planning again on its result changes nothing.

use super::change::{Containers, EditPlan, EntryChange, NextEdit, edited, opened_object, without_if_empty};
use super::edit::{self, Addition};
use super::json::{self, Element, ValueKind};
use super::layout::{Layout, Node};
use super::ours::{self, EntryFault, OwnEntry};
use super::refusal::{EditRefusal, RefusalCause};
use super::status_line;
use super::subject::ManagedContent;
use super::target::{EntryOrder, HookEntry, Target};
use std::path::Path;

impl ManagedContent for Target {
    fn owner(&self) -> &'static str {
        self.agent()
    }

    fn file(&self) -> &Path {
        &self.file
    }

    fn is_whole(&self, bytes: &[u8]) -> bool {
        if self.script.is_some() {
            return !bytes.trim_ascii().is_empty();
        }
        let text = std::str::from_utf8(bytes);
        text.is_ok_and(|text| !json::is_blank(text) && json::check(text).is_ok())
    }

    fn new_mode(&self) -> u32 {
        self.script.as_ref().map_or(0o600, ManagedContent::new_mode)
    }

    fn plan(&self, existing: Option<&[u8]>) -> Result<EditPlan, EditRefusal> {
        if let Some(script) = &self.script {
            return script.plan(existing);
        }
        let start = opened(self, existing)?;
        let layout = Layout::of(&start);
        let start = with_hooks(self, start, &layout);
        let (text, changes) = edited(start, |text| next_step(self, text, &layout))?;
        Ok(EditPlan::new(&self.file, existing, text, changes))
    }

    /// Containers stay if they are in `kept` or not empty.
    fn plan_removal(&self, existing: Option<&[u8]>, kept: &Containers) -> Result<EditPlan, EditRefusal> {
        if let Some(script) = &self.script {
            return script.plan_removal(existing, kept);
        }
        let mut text = opened(self, existing)?;
        let mut changes = Vec::new();
        // From the end of the file, so that no entry of ours follows the one being removed.
        while let Some(last) = ours::own_entries(self, &text).pop() {
            changes.push(last.removed(&text));
            text = without(self, &text, &last, kept);
        }
        changes.reverse();
        if let Some((edited, change)) = status_line::removed(&text) {
            text = edited;
            changes.push(change);
        }
        Ok(EditPlan::new(&self.file, existing, text, changes))
    }

    fn containers_without_us(&self, existing: Option<&[u8]>) -> Result<Containers, EditRefusal> {
        if self.script.is_some() {
            return Ok(Containers::default());
        }
        let stripped = self.plan_removal(existing, &Containers::default())?;
        let text = opened(self, stripped.after.as_deref())?;
        let Some(hooks) = ours::hooks(&text) else {
            return Ok(Containers::default());
        };
        let lists = json::elements(&text, &hooks).into_iter().filter_map(|member| member.key);
        Ok(Containers::of_hooks(lists))
    }
}

/// The file as text, verified to be an object whose `hooks`, if any, is an object.
pub(super) fn opened(target: &Target, existing: Option<&[u8]>) -> Result<String, EditRefusal> {
    let text = opened_object(existing).map_err(|cause| target.refuse(cause))?;
    match ours::hooks(&text) {
        Some(hooks) if json::kind(&text, &hooks) != ValueKind::Object => {
            Err(target.refuse(RefusalCause::HooksNotObject))
        }
        _ => Ok(text),
    }
}

fn with_hooks(target: &Target, text: String, layout: &Layout) -> String {
    if target.all_wanted().is_empty() || ours::hooks(&text).is_some() {
        return text;
    }
    let hooks = Node::Object(Vec::new());
    edit::append(&text, &json::root(&text), &Addition::Member("hooks", &hooks), layout)
}

/// Corrects the first difference from the wanted entries.
fn next_step(target: &Target, text: &str, layout: &Layout) -> NextEdit<String, EditRefusal> {
    let own_entries = ours::own_entries(target, text);
    for wanted in target.all_wanted() {
        let entries: Vec<&OwnEntry> =
            own_entries.iter().filter(|entry| entry.event == wanted.event()).collect();
        if let Some(step) = settle(target, text, layout, wanted, &entries)? {
            return Ok(Some(step));
        }
    }
    match own_entries.iter().rfind(|entry| entry.fault == Some(EntryFault::Unwanted)) {
        Some(entry) => Ok(Some(taken_out(target, text, entry))),
        None => status_line::step(target, text, layout),
    }
}

/// Keeps the correct entry, else upgrades one in place, else appends one; then removes the rest.
fn settle(
    target: &Target,
    text: &str,
    layout: &Layout,
    wanted: &HookEntry,
    entries: &[&OwnEntry],
) -> NextEdit<String, EditRefusal> {
    let first = |fault: Option<EntryFault>| entries.iter().find(|entry| entry.fault == fault);
    if let Some(right) = first(None) {
        let spare = entries.iter().rfind(|entry| entry.handler != right.handler);
        return Ok(spare.map(|entry| taken_out(target, text, entry)));
    }
    if let Some(entry) = first(Some(EntryFault::Outdated)) {
        let edited = edit::replace(text, &entry.handler, &wanted.handler(), layout);
        return Ok(Some((edited, entry.upgraded(text))));
    }
    if let Some(entry) = entries.iter().find(|entry| entry.group_size == 1) {
        let edited = edit::replace(text, &entry.group_span, &wanted.group(), layout);
        return Ok(Some((edited, entry.upgraded(text))));
    }
    let added = EntryChange::Added { event: wanted.event().to_owned() };
    Ok(Some((with_group(target, text, layout, wanted)?, added)))
}

/// Always appends: an agent may identify the entries before it by their position.
fn with_group(
    target: &Target,
    text: &str,
    layout: &Layout,
    wanted: &HookEntry,
) -> Result<String, EditRefusal> {
    let Some(hooks) = ours::hooks(text) else {
        return Err(target.refuse(RefusalCause::HooksNotObject));
    };
    match json::member(text, &hooks, wanted.event()) {
        None => {
            let list = Node::Array(vec![wanted.group()]);
            Ok(edit::append(text, &hooks, &Addition::Member(wanted.event(), &list), layout))
        }
        Some(list) if json::kind(text, &list.value) == ValueKind::Array => {
            Ok(edit::append(text, &list.value, &Addition::Item(&wanted.group()), layout))
        }
        Some(_) => Err(target.refuse(RefusalCause::ListNotArray { event: wanted.event().to_owned() })),
    }
}

fn taken_out(target: &Target, text: &str, entry: &OwnEntry) -> (String, EntryChange) {
    (without(target, text, entry, &Containers::default()), entry.removed(text))
}

/// The text without this entry, and without the group, list and `hooks` that held nothing else.
fn without(target: &Target, text: &str, entry: &OwnEntry, kept: &Containers) -> String {
    if entry.group_size > 1 || keeps_positions(target, text, entry) {
        return edit::remove(text, &entry.handlers, entry.index);
    }
    pruned(edit::remove(text, &entry.list, entry.group), &entry.event, kept)
}

/// Whether an empty group must stay because the groups after it are trusted by their position.
fn keeps_positions(target: &Target, text: &str, entry: &OwnEntry) -> bool {
    let is_filled = |group: &Element| {
        let hooks = json::member(text, &group.value, "hooks");
        hooks.is_some_and(|hooks| !json::elements(text, &hooks.value).is_empty())
    };
    match target.order {
        EntryOrder::Free => false,
        EntryOrder::Trusted => json::elements(text, &entry.list).iter().skip(entry.group + 1).any(is_filled),
    }
}

fn pruned(text: String, event: &str, kept: &Containers) -> String {
    let Some(hooks) = ours::hooks(&text) else {
        return text;
    };
    let text = if kept.has(event) { text } else { without_if_empty(text, &hooks, event) };
    let root = json::root(&text);
    if kept.hooks { text } else { without_if_empty(text, &root, "hooks") }
}

impl OwnEntry {
    fn removed(&self, text: &str) -> EntryChange {
        EntryChange::Removed { event: self.event.clone(), was: text[self.handler.clone()].to_owned() }
    }

    fn upgraded(&self, text: &str) -> EntryChange {
        EntryChange::Upgraded { event: self.event.clone(), was: text[self.handler.clone()].to_owned() }
    }
}
