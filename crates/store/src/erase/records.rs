//! What becomes of one record of the journal when something is erased.
//!
//! What tells where a session sits, and that it began and ended, stays unless the whole session goes: the rest of it must
//! fold as before. Bookmarks and batons that are meant one by one go with all that tells of them.

use super::Traces;
use crate::journal::{Entry, Fate, Record};
use std::collections::BTreeSet;
use towline_core::bookmark::Code;
use towline_core::event::{Event, Happening, Scene};
use towline_core::forget::Needle;
use towline_core::id::{SessionKey, Uid};
use towline_core::text::Kept;
use towline_core::time::Timestamp;
use towline_core::typing::Wish;

pub(super) fn fate(entry: Entry<'_>, traces: &Traces, whole: &BTreeSet<SessionKey>) -> Fate {
    match (entry, traces) {
        (Entry::Record(record), Traces::Text(needle)) => without_text(record, needle),
        (Entry::Bytes(bytes), Traces::Text(needle)) => gone_if(needle.is_in_bytes(bytes)),
        (Entry::Record(Record::Fault(_)), _) => Fate::Kept,
        (Entry::Record(Record::Event(event)), Traces::Sessions { sessions, stretch }) => {
            let is_meant = sessions.contains(&event.session) && stretch.holds(time_of(&event));
            gone_if(is_meant && (whole.contains(&event.session) || !is_structure(&event.happening)))
        }
        (Entry::Record(Record::Event(event)), Traces::Everyone { stretch }) => {
            let is_whole = whole.contains(&event.session);
            gone_if(stretch.holds(time_of(&event)) && (is_whole || !is_structure(&event.happening)))
        }
        (Entry::Record(Record::Event(event)), Traces::Notes(notes)) => gone_if(tells_of(&event, notes)),
        (Entry::Bytes(_), Traces::Notes(_)) => Fate::Kept,
        // What nobody can read may be part of it.
        (Entry::Bytes(bytes), Traces::Sessions { sessions, .. }) => {
            let text = String::from_utf8_lossy(bytes);
            gone_if(sessions.iter().any(|session| text.contains(session.id.as_str())))
        }
        (Entry::Bytes(_), Traces::Everyone { .. }) => Fate::Gone,
    }
}

/// Whether it set one of these, or told of it later.
fn tells_of(event: &Event, notes: &BTreeSet<Uid>) -> bool {
    let of = if let Happening::BatonCame(far) = &event.happening {
        far.baton
    } else if let Happening::BookmarkPlaced { bookmark, .. }
    | Happening::BookmarkDeleted { bookmark }
    | Happening::BookmarkRestored { bookmark } = event.happening
    {
        bookmark
    } else {
        event.uid
    };
    notes.contains(&of)
}

/// A baton that came is as old as it was when it was passed.
fn time_of(event: &Event) -> Timestamp {
    if let Happening::BatonCame(far) = &event.happening { far.passed_at } else { event.at }
}

fn gone_if(is_gone: bool) -> Fate {
    if is_gone { Fate::Gone } else { Fate::Kept }
}

/// Whether it tells of the session itself, and not of what was said or done in it.
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

/// Texts that hold it become empty, places that do are left out; what still holds it then goes whole.
fn without_text(record: Record, needle: &Needle) -> Fate {
    if !holds(&record, needle) {
        return Fate::Kept;
    }
    let Record::Event(event) = record else { return Fate::Gone };
    let blank = |text: Kept| if needle.is_in(text.as_str()) { Kept::default() } else { text };
    let changed = Record::Event(without_place(with_texts(event, &blank), needle));
    if holds(&changed, needle) { Fate::Gone } else { Fate::Changed(changed) }
}

fn holds(record: &Record, needle: &Needle) -> bool {
    serde_json::to_string(record).is_ok_and(|json| needle.is_in(&json))
}

/// The event with each of its texts as `change` leaves it; an answer that becomes empty was not heard.
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
