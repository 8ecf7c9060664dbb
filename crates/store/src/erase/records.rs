//! Decides for each journal record whether an erase keeps, changes or removes it.
//!
//! Events about a session's seat, start and end stay unless the whole session is erased: the rest of it must fold as
//! before. Single bookmarks and batons are removed with all events about them.

use super::Traces;
use crate::journal::{JournalEntry, Record, Rewrite};
use std::collections::BTreeSet;
use towline_core::bookmark::Code;
use towline_core::event::{Event, Happening, Scene};
use towline_core::forget::Needle;
use towline_core::id::{SessionKey, Uid};
use towline_core::text::Kept;
use towline_core::time::Timestamp;
use towline_core::typing::Wish;

pub(super) fn fate(entry: JournalEntry<'_>, traces: &Traces, whole: &BTreeSet<SessionKey>) -> Rewrite {
    match (entry, traces) {
        (JournalEntry::Record(record), Traces::Text(needle)) => without_text(record, needle),
        (JournalEntry::Bytes(bytes), Traces::Text(needle)) => remove_if(needle.is_in_bytes(bytes)),
        (JournalEntry::Record(Record::Fault(_)), _) => Rewrite::Keep,
        (JournalEntry::Record(Record::Event(event)), Traces::Sessions { sessions, stretch }) => {
            let is_selected = sessions.contains(&event.session) && stretch.holds(time_of(&event));
            remove_if(is_selected && (whole.contains(&event.session) || !is_structure(&event.happening)))
        }
        (JournalEntry::Record(Record::Event(event)), Traces::Everyone { stretch }) => {
            let is_whole = whole.contains(&event.session);
            remove_if(stretch.holds(time_of(&event)) && (is_whole || !is_structure(&event.happening)))
        }
        (JournalEntry::Record(Record::Event(event)), Traces::Notes(notes)) => {
            remove_if(is_about(&event, notes))
        }
        (JournalEntry::Bytes(_), Traces::Notes(_)) => Rewrite::Keep,
        // Unreadable bytes may be part of a record of the session.
        (JournalEntry::Bytes(bytes), Traces::Sessions { sessions, .. }) => {
            let text = String::from_utf8_lossy(bytes);
            remove_if(sessions.iter().any(|session| text.contains(session.id.as_str())))
        }
        (JournalEntry::Bytes(_), Traces::Everyone { .. }) => Rewrite::Remove,
    }
}

/// Whether the event created one of these notes, or refers to it.
fn is_about(event: &Event, notes: &BTreeSet<Uid>) -> bool {
    let note = if let Happening::BatonCame(far) = &event.happening {
        far.baton
    } else if let Happening::BookmarkPlaced { bookmark, .. }
    | Happening::BookmarkDeleted { bookmark }
    | Happening::BookmarkRestored { bookmark } = event.happening
    {
        bookmark
    } else {
        event.uid
    };
    notes.contains(&note)
}

/// The time of an event; for a baton of another machine, the time it was passed.
fn time_of(event: &Event) -> Timestamp {
    if let Happening::BatonCame(far) = &event.happening { far.passed_at } else { event.at }
}

fn remove_if(is_removed: bool) -> Rewrite {
    if is_removed { Rewrite::Remove } else { Rewrite::Keep }
}

/// Whether the event is about the session itself, not about what was said or done in it.
pub(super) fn is_structure(happening: &Happening) -> bool {
    STRUCTURE.contains(&happening.name())
}

pub(super) const STRUCTURE: [&str; 15] = [
    "session_started",
    "session_ended",
    "folder_changed",
    "seat_found",
    "seen",
    "baton_passed",
    "baton_dropped",
    "fresh_asked",
    "fresh_taken_back",
    "inheritance_taken",
    "inheritance_given",
    "intent_moved",
    "hop_moved",
    "handoff_given",
    "hop_told",
];

/// Blanks texts and omits places that contain the needle; removes the record if it still contains it.
fn without_text(record: Record, needle: &Needle) -> Rewrite {
    if !holds(&record, needle) {
        return Rewrite::Keep;
    }
    let Record::Event(event) = record else { return Rewrite::Remove };
    let blank = |text: Kept| if needle.is_in(text.as_str()) { Kept::default() } else { text };
    let changed = Record::Event(without_place(with_texts(event, &blank), needle));
    if holds(&changed, needle) { Rewrite::Remove } else { Rewrite::Replace(changed) }
}

fn holds(record: &Record, needle: &Needle) -> bool {
    serde_json::to_string(record).is_ok_and(|json| needle.is_in(&json))
}

/// The event with `change` applied to each of its texts; an answer that becomes empty is removed.
pub(super) fn with_texts(mut event: Event, change: &dyn Fn(Kept) -> Kept) -> Event {
    match &mut event.happening {
        Happening::PromptSubmitted { prompt: text, .. }
        | Happening::ToolFinished { tool: text, .. }
        | Happening::PermissionAsked { tool: text, .. }
        | Happening::PermissionRefused { tool: text }
        | Happening::IntentMade { wish: Wish { text, .. } }
        | Happening::HelperWanted { tool: text }
        | Happening::HandoffWritten { text, .. } => *text = change(std::mem::take(text)),
        Happening::TurnEnded { answer, .. } => {
            *answer = answer.take().map(change).filter(|answer| !answer.is_blank());
        }
        Happening::BatonCame(far) => far.called = change(std::mem::take(&mut far.called)),
        Happening::BookmarkSet(set) => set.label = set.label.take().map(change),
        Happening::BookmarkPlaced { code, .. } => *code = code.take().map(|code| with_code(code, change)),
        Happening::SessionStarted { .. }
        | Happening::SessionEnded { .. }
        | Happening::ToolsFinished
        | Happening::AttentionAsked { .. }
        | Happening::AttentionGiven
        | Happening::TurnFailed { .. }
        | Happening::Interrupted
        | Happening::SubagentStarted
        | Happening::SubagentStopped
        | Happening::CompactionStarted { .. }
        | Happening::CompactionEnded { .. }
        | Happening::ModelAnswered { .. }
        | Happening::FolderChanged
        | Happening::TaskCompleted
        | Happening::SeatFound
        | Happening::Seen
        | Happening::BatonPassed
        | Happening::BatonDropped
        | Happening::FreshAsked
        | Happening::FreshTakenBack
        | Happening::InheritanceTaken { .. }
        | Happening::InheritanceGiven { .. }
        | Happening::IntentMoved { .. }
        | Happening::BookmarkDeleted { .. }
        | Happening::BookmarkRestored { .. }
        | Happening::MarkerWanted { .. }
        | Happening::ContextMeasured { .. }
        | Happening::ContextAnnounced { .. }
        | Happening::MemoryGiven { .. }
        | Happening::HandoffAsked { .. }
        | Happening::HopMoved { .. }
        | Happening::HandoffGiven { .. }
        | Happening::HopTold { .. }
        | Happening::Observed { .. } => {}
    }
    event
}

fn with_code(code: Code, change: &dyn Fn(Kept) -> Kept) -> Code {
    Code { commit: change(code.commit), branch: code.branch.map(change), ..code }
}

fn without_place(mut event: Event, needle: &Needle) -> Event {
    let without = |text: Option<String>| text.filter(|text| !needle.is_in(text));
    event.scene = event.scene.map(|scene| Scene {
        folder: without(scene.folder),
        transcript: without(scene.transcript),
        model: without(scene.model),
        project: scene.project.filter(|traces| {
            let names =
                [Some(&traces.root), traces.remote.as_ref(), traces.name.as_ref(), traces.branch.as_ref()];
            !names.into_iter().flatten().any(|name| needle.is_in(name))
        }),
        ..scene
    });
    event
}
