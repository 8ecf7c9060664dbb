//! Carrying out what a fold decided: bars are told, and whoever else wants to know.
//!
//! Called by whoever folded, while it still holds the lock: so what is told is told in order, and once.

use crate::bookmarks::{self, Bookmarked};
use crate::config::Config;
use crate::edge::Edge;
use crate::{live, push, tell, waking, work};
use std::time::Duration;
use towline_core::effect::Effect;
use towline_store::{Store, StoreError};

/// A push takes tmux a few milliseconds; a server that takes longer is told by somebody whom nobody waits for.
const PATIENCE: Duration = Duration::from_millis(10);

/// Carries out what was decided, and sets the bookmarks that are due by it. For whoever folds again until nothing is new.
pub fn settle(
    edge: &Edge,
    config: &Config,
    store: &Store,
    effects: &[Effect],
) -> Result<Bookmarked, StoreError> {
    carry_out(edge, config, store, effects)?;
    Ok(bookmarks::set_due(edge, config, effects))
}

/// Nothing that is not shown costs a look at the seats.
pub fn carry_out(edge: &Edge, config: &Config, store: &Store, effects: &[Effect]) -> Result<(), StoreError> {
    let is_shown = |effect: &Effect| match effect {
        Effect::StateChanged { seat, .. } => seat.is_some(),
        Effect::SeatTaken { .. } | Effect::HopEnded { .. } => true,
        // Whoever folds again after it sets what is due: see `settle`.
        Effect::PointReached(_) | Effect::BookmarkMade { .. } | Effect::MarkerWanted { .. } => false,
    };
    bookmarks::type_markers(edge, config, effects);
    waking::await_limits(config, effects);
    if effects.iter().any(is_shown) {
        // Nothing changes under the lock: what is read once holds until it is let go.
        let seats = live::seats_of(store)?;
        if !push::push(edge, PATIENCE, &|| Ok(seats.clone()))? {
            work::refresh_detached();
        }
    }
    tell::changes(edge, config, store, effects)
}
