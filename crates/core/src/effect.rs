//! Effects: the actions that follow from a decision, as data.
//!
//! This module performs none of them: `engine::ingest::effects` carries them out after the decision is stored.

use crate::bookmark::{BookmarkPoint, BookmarkReason};
use crate::id::SessionKey;
use crate::session::SessionState;
use crate::time::Timestamp;

/// The cause of a state change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeCause {
    Work,
    /// A marker and its answer, which request and do no work.
    Marker,
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "an effect that nobody carries out did not happen"]
pub enum Effect {
    /// The session's displayed state changed.
    StateChanged {
        session: SessionKey,
        seat: Option<String>,
        from: Option<SessionState>,
        to: SessionState,
        /// When it changed: a change that is applied late, or replayed from the journal, is not worth a notification.
        at: Timestamp,
        about: ChangeCause,
    },
    /// The user has looked at a session that had stopped in this state: its light goes off.
    Seen { session: SessionKey, state: SessionState, at: Timestamp },
    /// The session moved to a new seat.
    SeatTaken { session: SessionKey, seat: String },
    /// A bookmark may be due; that depends on the user's settings.
    PointReached(Box<BookmarkPoint>),
    /// A bookmark was set: an earlier pending one of this session is obsolete.
    BookmarkMade { session: SessionKey },
    /// A marker is to be typed into this seat.
    MarkerWanted { session: SessionKey, seat: String, reason: BookmarkReason, at: Timestamp },
    /// An automatic continuation failed, with the reason as text.
    HopEnded { session: SessionKey, seat: String, why: String, at: Timestamp },
}
