//! Sets the bookmarks that are due, types their markers and records the state of the code.
//!
//! Does not decide whether one is due: `core::bookmark` does. Every bookmark goes through the journal.

mod place;

pub use crate::capture::Bookmarked;
pub use place::{Looked, code_in, look};

use crate::handoff::typing;
use crate::runtime::faults::record_here;
use crate::runtime::record::{append_or_fault, event};
use crate::runtime::{Config, Env, chain};
use std::collections::BTreeMap;
use towline_core::bookmark::{BookmarkOrigin, BookmarkPoint, DueBookmark, IGNORE_MARKER, NewBookmark, due};
use towline_core::effect::Effect;
use towline_core::event::{Event, EventKind};
use towline_core::fault::FaultKind;
use towline_core::id::SessionKey;
use towline_core::reply::Reply;
use towline_core::typing::{Intent, IntentPurpose, IntentRequest};
use towline_store::{Store, StoreError};

/// Appends the bookmarks due after these effects to the journal. The caller holds the apply lock and applies
/// the journal again, so that no bookmark is set twice.
pub fn set_due(env: &Env, config: &Config, effects: &[Effect]) -> Bookmarked {
    let set = |point: &&BookmarkPoint| {
        let happening = match due(point, &config.bookmarks.rules, env.now) {
            DueBookmark::Nothing => return None,
            DueBookmark::Hold(_) if config.typing.enabled => return None,
            DueBookmark::Type(reason) if config.typing.enabled => EventKind::MarkerWanted { reason },
            // With typing disabled, a silent bookmark still marks the point.
            DueBookmark::Hold(reason) | DueBookmark::Type(reason) | DueBookmark::Set(reason) => {
                EventKind::BookmarkSet(NewBookmark {
                    how: BookmarkOrigin::Silent,
                    after_turn: point.after_turn,
                    reason: Some(reason),
                    label: None,
                })
            }
        };
        let (at, turn) = (point.at, point.turn.clone());
        Some(Event { at, turn, ..event(env, &point.session, happening) })
    };
    let events: Vec<Event> = open_points(effects).values().filter_map(set).collect();
    let is_set = !events.is_empty() && append_or_fault(env, events);
    if is_set { Bookmarked::Something } else { Bookmarked::Nothing }
}

/// Markers of effects older than this are not typed: the event was applied late, or replayed.
const FRESH_MS: i64 = 10_000;

/// Starts typing the markers that are wanted.
pub fn type_markers(env: &Env, config: &Config, effects: &[Effect]) {
    for effect in effects {
        if let Effect::MarkerWanted { session, seat, at, .. } = effect
            && env.now.since_ms(*at) <= FRESH_MS
            && let Err(detail) = type_marker(env, config, session, seat)
        {
            record_here(env, FaultKind::Journal, detail);
        }
    }
}

fn type_marker(env: &Env, config: &Config, session: &SessionKey, seat: &str) -> Result<(), String> {
    let expires_at = env.now.plus_ms(config.typing.limit_ms);
    let wish = IntentRequest::new(seat, IntentPurpose::Bookmark, &config.bookmarks.marker, expires_at);
    let wish = wish.map_err(|error| format!("no marker was typed: {error}"))?;
    typing::make(env, session, wish).map(drop).map_err(|error| chain(&error))
}

/// The silent bookmark that replaces a marker which was wanted but not typed. `None` if a bookmark was set
/// since.
pub fn silent_bookmark(env: &Env, store: &Store, intent: &Intent) -> Result<Option<Event>, StoreError> {
    let session = store.session(&intent.session)?.filter(|_| intent.wish.purpose == IntentPurpose::Bookmark);
    let wanted = session.and_then(|session| session.since_bookmark.wanted);
    let Some((at, reason)) = wanted.filter(|(at, _)| *at <= intent.made_at) else { return Ok(None) };
    let turns = store.hook_turns(&intent.session)?;
    let last = turns.iter().rev().find(|turn| turn.started_at <= at);
    let set = NewBookmark {
        how: BookmarkOrigin::Silent,
        after_turn: last.map_or(0, |turn| turn.ordinal),
        reason: Some(reason),
        label: None,
    };
    let turn = last.and_then(|turn| turn.id.clone());
    Ok(Some(Event { at, turn, ..event(env, &intent.session, EventKind::BookmarkSet(set)) }))
}

/// The last point of each session that has no bookmark or marker request after it.
fn open_points(effects: &[Effect]) -> BTreeMap<&SessionKey, &BookmarkPoint> {
    let mut open = BTreeMap::new();
    for effect in effects {
        match effect {
            Effect::PointReached(point) => {
                open.insert(&point.session, &**point);
            }
            Effect::BookmarkMade { session } | Effect::MarkerWanted { session, .. } => {
                open.remove(session);
            }
            Effect::StateChanged { .. }
            | Effect::Seen { .. }
            | Effect::SeatTaken { .. }
            | Effect::HopEnded { .. } => {}
        }
    }
    open
}

/// The reply to a typed marker: it tells the model to ignore the prompt.
pub fn reply_to_marker() -> Reply {
    Reply { context: vec![IGNORE_MARKER.to_owned()], ..Reply::default() }
}
