//! Bookmarks, where the world is: setting those that are due, finding out what state the code was in, putting them into words.
//!
//! Decides nothing: whether one is due is `core::bookmark`'s to say, and what is set goes through the journal.

mod place;

pub use crate::capture::Bookmarked;
pub use place::{Looked, code_in, look};

use crate::handoff::typing;
use crate::runtime::config::Config;
use crate::runtime::env::Env;
use crate::runtime::failure::chain;
use crate::runtime::faults::record_here;
use std::collections::BTreeMap;
use towline_core::bookmark::{Due, How, IGNORE_MARKER, Point, Setting, due};
use towline_core::effect::Effect;
use towline_core::event::{Event, Happening};
use towline_core::fault::{Fault, FaultKind};
use towline_core::id::SessionKey;
use towline_core::reply::Reply;
use towline_core::typing::{Intent, Purpose, Wish};
use towline_store::journal::{self, Record};
use towline_store::{Store, StoreError};

/// Tells the journal of the bookmarks that are due by what a fold did. Called with the fold lock held, by somebody who
/// folds again: so nobody sets the same one twice.
pub fn set_due(env: &Env, config: &Config, effects: &[Effect]) -> Bookmarked {
    let set = |point: &&Point| {
        let happening = match due(point, &config.bookmarks.rules, env.now) {
            Due::Nothing => return None,
            Due::Type(reason) if config.typing.enabled => Happening::MarkerWanted { reason },
            // Where nothing may be typed there is a point to come back to all the same.
            Due::Type(reason) | Due::Set(reason) => Happening::BookmarkSet(Setting {
                how: How::Silent,
                after_turn: point.after_turn,
                reason: Some(reason),
                label: None,
            }),
        };
        Some(Record::Event(told(env, point, happening)))
    };
    let records: Vec<Record> = open_points(effects).values().filter_map(set).collect();
    if records.is_empty() {
        return Bookmarked::Nothing;
    }
    match journal::append(&env.home, &records) {
        Ok(()) => Bookmarked::Something,
        Err(error) => {
            record_here(env, Fault { at: env.now, kind: FaultKind::Journal, detail: chain(&error) });
            Bookmarked::Nothing
        }
    }
}

/// What is folded late, or once more from the journal, is typed by nobody.
const FRESH_MS: i64 = 10_000;

/// Sees to it that the markers that are wanted are typed.
pub fn type_markers(env: &Env, config: &Config, effects: &[Effect]) {
    for effect in effects {
        if let Effect::MarkerWanted { session, seat, at, .. } = effect
            && env.now.since_ms(*at) <= FRESH_MS
            && let Err(detail) = type_marker(env, config, session, seat)
        {
            record_here(env, Fault { at: env.now, kind: FaultKind::Journal, detail });
        }
    }
}

fn type_marker(env: &Env, config: &Config, session: &SessionKey, seat: &str) -> Result<(), String> {
    let expires_at = env.now.plus_ms(config.typing.limit_ms);
    let wish = Wish::new(seat, Purpose::Bookmark, &config.bookmarks.marker, expires_at);
    let wish = wish.map_err(|error| format!("no marker was typed: {error}"))?;
    typing::make(env, session, wish).map(drop).map_err(|error| chain(&error))
}

/// The bookmark in place of a marker that was wanted and not typed: the point is there to come back to all the same. None if
/// a bookmark was set since.
pub fn instead_of_marker(env: &Env, store: &Store, intent: &Intent) -> Result<Option<Event>, StoreError> {
    let session = store.session(&intent.session)?.filter(|_| intent.wish.purpose == Purpose::Bookmark);
    let wanted = session.and_then(|session| session.since_bookmark.wanted);
    let Some((at, reason)) = wanted.filter(|(at, _)| *at <= intent.made_at) else { return Ok(None) };
    let turns = store.heard_turns(&intent.session)?;
    let last = turns.iter().rev().find(|turn| turn.started_at <= at);
    let set = Setting {
        how: How::Silent,
        after_turn: last.map_or(0, |turn| turn.ordinal),
        reason: Some(reason),
        label: None,
    };
    let turn = last.and_then(|turn| turn.id.clone());
    Ok(Some(Event { at, turn, ..typing::event(env, &intent.session, Happening::BookmarkSet(set)) }))
}

/// The last point of each session at which nothing was set since.
fn open_points(effects: &[Effect]) -> BTreeMap<&SessionKey, &Point> {
    let mut open = BTreeMap::new();
    for effect in effects {
        match effect {
            Effect::PointReached(point) => {
                open.insert(&point.session, &**point);
            }
            Effect::BookmarkMade { session } | Effect::MarkerWanted { session, .. } => {
                open.remove(session);
            }
            Effect::StateChanged { .. } | Effect::SeatTaken { .. } | Effect::HopEnded { .. } => {}
        }
    }
    open
}

fn told(env: &Env, point: &Point, happening: Happening) -> Event {
    Event {
        uid: env.uid(),
        at: point.at,
        session: point.session.clone(),
        subagent: None,
        turn: point.turn.clone(),
        happening,
        scene: None,
    }
}

/// What the model is told of a marker that was typed.
pub fn reply_to_marker() -> Reply {
    Reply { context: vec![IGNORE_MARKER.to_owned()], ..Reply::default() }
}
