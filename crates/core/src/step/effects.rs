//! What others are told of a change: of the state, of the seat, and of a point that one may come back to.
//!
//! Says what there is to do, and to whom; does none of it.

use super::is_marker;
use crate::bookmark::Point;
use crate::effect::{About, Effect};
use crate::event::{Event, Happening, Presence};
use crate::session::{Session, State};

pub fn announce(from: Option<State>, session: &Session, event: &Event) -> Vec<Effect> {
    if from == Some(session.state) {
        return vec![];
    }
    let is_marked = event.happening.is_marker() && from == Some(State::Completed);
    let is_back = session.state == State::Completed && session.since < event.at;
    let about = if is_marked || is_back { About::Marker } else { About::Work };
    let (session, seat, to) = (session.key.clone(), session.seat.clone(), session.state);
    vec![Effect::StateChanged { session, seat, from, to, at: event.at, about }]
}

pub fn announce_bookmark(session: &Session, event: &Event) -> Option<Effect> {
    let key = session.key.clone();
    if is_marker(session, event) || matches!(event.happening, Happening::BookmarkSet(_)) {
        return Some(Effect::BookmarkMade { session: key });
    }
    if let Happening::MarkerWanted { reason } = event.happening {
        let seat = session.seat.clone()?;
        return Some(Effect::MarkerWanted { session: key, seat, reason, at: event.at });
    }
    let is_end = matches!(event.happening, Happening::TurnEnded { .. }) && event.subagent.is_none();
    let is_return = matches!(event.happening, Happening::SubagentStopped);
    if is_end || is_return { reached(session, event) } else { None }
}

/// A turn that failed, or that a person stopped, is no point to come back to; nor is any of a session that nobody sits
/// before. Markers are typed in terminals only.
fn reached(session: &Session, event: &Event) -> Option<Effect> {
    let goes_well = matches!(session.state, State::Working | State::Blocked(_) | State::Completed);
    if session.presence == Presence::Headless || !goes_well || !session.since_bookmark.has_happened() {
        return None;
    }
    Some(Effect::PointReached(Box::new(Point {
        session: session.key.clone(),
        seat: session.seat.clone().filter(|_| session.presence == Presence::Terminal),
        turn: event.turn.clone(),
        after_turn: session.turns,
        at: event.at,
        since: session.since_bookmark,
    })))
}

pub fn announce_seat(sat_at: Option<&str>, session: &Session) -> Option<Effect> {
    let seat = session.seat.clone().filter(|seat| sat_at != Some(seat))?;
    Some(Effect::SeatTaken { session: session.key.clone(), seat })
}
