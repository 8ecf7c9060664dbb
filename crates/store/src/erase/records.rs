//! Decides for each journal record whether an erase keeps, changes or removes it.
//!
//! Events about a session's seat, start and end stay unless the whole session is erased: the rest of it must apply as
//! before. Single bookmarks and batons are removed with all events about them.

use super::EraseSelection;
use crate::journal::{JournalEntry, JournalRecord, Rewrite};
use std::collections::BTreeSet;
use towline_core::bookmark::CodeState;
use towline_core::event::{Event, EventKind, EventScene};
use towline_core::forget::ForgetText;
use towline_core::id::{SessionKey, Uid};
use towline_core::text::SafeText;
use towline_core::time::Timestamp;
use towline_core::typing::IntentRequest;

pub(super) fn fate(
    entry: JournalEntry<'_>,
    traces: &EraseSelection,
    whole: &BTreeSet<SessionKey>,
) -> Rewrite {
    match (entry, traces) {
        (JournalEntry::Record(record), EraseSelection::Text(needle)) => without_text(record, needle),
        (JournalEntry::Bytes(bytes), EraseSelection::Text(needle)) => remove_if(needle.is_in_bytes(bytes)),
        (JournalEntry::Record(JournalRecord::Fault(_)), _) => Rewrite::Keep,
        (
            JournalEntry::Record(JournalRecord::Event(event)),
            EraseSelection::Sessions { sessions, stretch },
        ) => {
            let is_selected = sessions.contains(&event.session) && stretch.holds(time_of(&event));
            remove_if(is_selected && (whole.contains(&event.session) || !is_structure(&event.happening)))
        }
        (JournalEntry::Record(JournalRecord::Event(event)), EraseSelection::Everyone { stretch }) => {
            let is_whole = whole.contains(&event.session);
            remove_if(stretch.holds(time_of(&event)) && (is_whole || !is_structure(&event.happening)))
        }
        (JournalEntry::Record(JournalRecord::Event(event)), EraseSelection::Notes(notes)) => {
            remove_if(is_about(&event, notes))
        }
        (JournalEntry::Bytes(_), EraseSelection::Notes(_)) => Rewrite::Keep,
        // Unreadable bytes may be part of a record of the session.
        (JournalEntry::Bytes(bytes), EraseSelection::Sessions { sessions, .. }) => {
            let text = String::from_utf8_lossy(bytes);
            remove_if(sessions.iter().any(|session| text.contains(session.id.as_str())))
        }
        (JournalEntry::Bytes(_), EraseSelection::Everyone { .. }) => Rewrite::Remove,
    }
}

/// Whether the event created one of these notes, or refers to it.
fn is_about(event: &Event, notes: &BTreeSet<Uid>) -> bool {
    let note = if let EventKind::BatonCame(far) = &event.happening {
        far.baton
    } else if let EventKind::BookmarkPlaced { bookmark, .. }
    | EventKind::BookmarkDeleted { bookmark }
    | EventKind::BookmarkRestored { bookmark } = event.happening
    {
        bookmark
    } else {
        event.uid
    };
    notes.contains(&note)
}

/// The time of an event; for a baton of another machine, the time it was passed.
fn time_of(event: &Event) -> Timestamp {
    if let EventKind::BatonCame(far) = &event.happening { far.passed_at } else { event.at }
}

fn remove_if(is_removed: bool) -> Rewrite {
    if is_removed { Rewrite::Remove } else { Rewrite::Keep }
}

/// Whether the event is about the session itself, not about what was said or done in it.
pub(super) fn is_structure(happening: &EventKind) -> bool {
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
fn without_text(record: JournalRecord, needle: &ForgetText) -> Rewrite {
    if !holds(&record, needle) {
        return Rewrite::Keep;
    }
    let JournalRecord::Event(event) = record else { return Rewrite::Remove };
    let blank = |text: SafeText| if needle.is_in(text.as_str()) { SafeText::default() } else { text };
    let changed = JournalRecord::Event(without_place(with_texts(event, &blank), needle));
    if holds(&changed, needle) { Rewrite::Remove } else { Rewrite::Replace(changed) }
}

fn holds(record: &JournalRecord, needle: &ForgetText) -> bool {
    serde_json::to_string(record).is_ok_and(|json| needle.is_in(&json))
}

/// The event with `change` applied to each of its texts; an answer that becomes empty is removed.
pub(super) fn with_texts(mut event: Event, change: &dyn Fn(SafeText) -> SafeText) -> Event {
    match &mut event.happening {
        EventKind::PromptSubmitted { prompt: text, .. }
        | EventKind::ToolFinished { tool: text, .. }
        | EventKind::PermissionAsked { tool: text, .. }
        | EventKind::PermissionRefused { tool: text }
        | EventKind::IntentMade { wish: IntentRequest { text, .. } }
        | EventKind::SubagentWanted { tool: text }
        | EventKind::HandoffWritten { text, .. } => *text = change(std::mem::take(text)),
        EventKind::TurnEnded { answer, .. } => {
            *answer = answer.take().map(change).filter(|answer| !answer.is_blank());
        }
        EventKind::BatonCame(far) => far.called = change(std::mem::take(&mut far.called)),
        EventKind::BookmarkSet(set) => set.label = set.label.take().map(change),
        EventKind::BookmarkPlaced { code, .. } => *code = code.take().map(|code| with_code(code, change)),
        EventKind::SessionStarted { .. }
        | EventKind::SessionEnded { .. }
        | EventKind::ToolsFinished
        | EventKind::AttentionAsked { .. }
        | EventKind::AttentionGiven
        | EventKind::TurnFailed { .. }
        | EventKind::Interrupted
        | EventKind::SubagentStarted
        | EventKind::SubagentStopped
        | EventKind::CompactionStarted { .. }
        | EventKind::CompactionEnded { .. }
        | EventKind::ModelAnswered { .. }
        | EventKind::FolderChanged
        | EventKind::TaskCompleted
        | EventKind::SeatFound
        | EventKind::Seen
        | EventKind::BatonPassed
        | EventKind::BatonDropped
        | EventKind::FreshAsked
        | EventKind::FreshTakenBack
        | EventKind::InheritanceTaken { .. }
        | EventKind::InheritanceGiven { .. }
        | EventKind::IntentMoved { .. }
        | EventKind::BookmarkDeleted { .. }
        | EventKind::BookmarkRestored { .. }
        | EventKind::MarkerWanted { .. }
        | EventKind::ContextMeasured { .. }
        | EventKind::ContextAnnounced { .. }
        | EventKind::MemoryGiven { .. }
        | EventKind::HandoffAsked { .. }
        | EventKind::HopMoved { .. }
        | EventKind::HandoffGiven { .. }
        | EventKind::HopTold { .. }
        | EventKind::Observed { .. } => {}
    }
    event
}

fn with_code(code: CodeState, change: &dyn Fn(SafeText) -> SafeText) -> CodeState {
    CodeState { commit: change(code.commit), branch: code.branch.map(change), ..code }
}

fn without_place(mut event: Event, needle: &ForgetText) -> Event {
    let without = |text: Option<String>| text.filter(|text| !needle.is_in(text));
    event.scene = event.scene.map(|scene| EventScene {
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
