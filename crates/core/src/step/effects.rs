//! The effects of a change: of the state, of the seat, and of a point to return to.
//!
//! Describes effects as data; carries out none.

use super::is_marker;
use crate::bookmark::BookmarkPoint;
use crate::effect::{ChangeCause, Effect};
use crate::event::{Event, EventKind, SessionPresence};
use crate::session::{Session, SessionState};

pub fn announce(from: Option<SessionState>, session: &Session, event: &Event) -> Vec<Effect> {
    if from == Some(session.state) {
        return vec![];
    }
    let is_marked = event.happening.is_marker() && from == Some(SessionState::Completed);
    let is_back = session.state == SessionState::Completed && session.since < event.at;
    let about = if is_marked || is_back { ChangeCause::Marker } else { ChangeCause::Work };
    let (session, seat, to) = (session.key.clone(), session.seat.clone(), session.state);
    vec![Effect::StateChanged { session, seat, from, to, at: event.at, about }]
}

/// Only a look that turns off a light; a dialog stays open when it was seen.
pub fn announce_look(is_seen: bool, session: &Session, event: &Event) -> Option<Effect> {
    let has_stopped =
        matches!(session.state, SessionState::Completed | SessionState::Interrupted | SessionState::Limited);
    let is_look = event.happening == EventKind::Seen && has_stopped && !is_seen;
    is_look.then(|| Effect::Seen { session: session.key.clone(), state: session.state, at: event.at })
}

pub fn announce_bookmark(session: &Session, event: &Event) -> Option<Effect> {
    let key = session.key.clone();
    if is_marker(session, event) || matches!(event.happening, EventKind::BookmarkSet(_)) {
        return Some(Effect::BookmarkMade { session: key });
    }
    if let EventKind::MarkerWanted { reason } = event.happening {
        let seat = session.seat.clone()?;
        return Some(Effect::MarkerWanted { session: key, seat, reason, at: event.at });
    }
    let is_end = matches!(event.happening, EventKind::TurnEnded { .. }) && event.subagent.is_none();
    let is_return = matches!(event.happening, EventKind::SubagentStopped);
    if is_end || is_return { reached_point(session, event) } else { None }
}

/// A failed or interrupted turn is no point to return to, nor is any turn of a headless session. Markers are typed in
/// terminals only.
fn reached_point(session: &Session, event: &Event) -> Option<Effect> {
    let is_healthy =
        matches!(session.state, SessionState::Working | SessionState::Blocked(_) | SessionState::Completed);
    if session.presence == SessionPresence::Headless || !is_healthy || !session.since_bookmark.has_activity()
    {
        return None;
    }
    Some(Effect::PointReached(Box::new(BookmarkPoint {
        session: session.key.clone(),
        seat: session.seat.clone().filter(|_| session.presence == SessionPresence::Terminal),
        turn: event.turn.clone(),
        after_turn: session.turns,
        at: event.at,
        since: session.since_bookmark,
        is_midturn: session.state != SessionState::Completed && !is_last_end(session, event),
    })))
}

/// Whether only commands in the background still run: those may run for ever, and no other point may follow.
fn is_last_end(session: &Session, event: &Event) -> bool {
    matches!(event.happening, EventKind::TurnEnded { .. }) && session.subagents.is_empty()
}

pub fn announce_seat(previous_seat: Option<&str>, session: &Session) -> Option<Effect> {
    let seat = session.seat.clone().filter(|seat| previous_seat != Some(seat))?;
    Some(Effect::SeatTaken { session: session.key.clone(), seat })
}
