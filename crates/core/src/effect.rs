//! What the world should do about a decision, as data.
//!
//! Nothing here does it: the binary carries effects out after the decision is saved.

use crate::bookmark::{Point, Reason};
use crate::id::SessionKey;
use crate::session::State;
use crate::time::Timestamp;

/// What a change of state belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    Work,
    /// A marker and its answer: nobody asked for anything, and nothing was done.
    Marker,
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "an effect that nobody carries out did not happen"]
pub enum Effect {
    /// What a session shows is no longer what it was.
    StateChanged {
        session: SessionKey,
        seat: Option<String>,
        from: Option<State>,
        to: State,
        /// When it changed: what is folded late, or once more from the journal, is no news.
        at: Timestamp,
        about: About,
    },
    /// A session sits where it did not sit before.
    SeatTaken { session: SessionKey, seat: String },
    /// A point was reached at which a bookmark may be due: that depends on what the user has set.
    PointReached(Box<Point>),
    /// A bookmark was set: what was due of this session before is no longer.
    BookmarkMade { session: SessionKey },
    /// A marker is to be typed in this seat.
    MarkerWanted { session: SessionKey, seat: String, reason: Reason, at: Timestamp },
    /// Work that was to go on by itself did not: why, in words.
    HopEnded { session: SessionKey, seat: String, why: String, at: Timestamp },
}
