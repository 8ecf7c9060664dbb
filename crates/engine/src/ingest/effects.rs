//! Carrying out what a fold decided: bars are told, and whoever else wants to know.
//!
//! Called by whoever folded, while it still holds the lock: so what is told is told in order, and once.

use crate::handoff::bookmarks;
use crate::handoff::bookmarks::Bookmarked;
use crate::ingest::live;
use crate::notify;
use crate::runtime::config::Config;
use crate::runtime::env::Env;
use crate::runtime::spawn;
use crate::status::push;
use std::time::Duration;
use towline_core::effect::Effect;
use towline_core::session::State;
use towline_store::{Store, StoreError};

/// A push takes tmux a few milliseconds; a server that takes longer is told by somebody whom nobody waits for.
const PATIENCE: Duration = Duration::from_millis(10);

/// Carries out what was decided, and sets the bookmarks that are due by it. For whoever folds again until nothing is new.
pub fn settle(
    env: &Env,
    config: &Config,
    store: &Store,
    effects: &[Effect],
) -> Result<Bookmarked, StoreError> {
    carry_out(env, config, store, effects)?;
    Ok(bookmarks::set_due(env, config, effects))
}

/// Nothing that is not shown costs a look at the seats.
pub fn carry_out(env: &Env, config: &Config, store: &Store, effects: &[Effect]) -> Result<(), StoreError> {
    let is_shown = |effect: &Effect| match effect {
        Effect::StateChanged { seat, .. } => seat.is_some(),
        Effect::SeatTaken { .. } | Effect::HopEnded { .. } => true,
        // Whoever folds again after it sets what is due: see `settle`.
        Effect::PointReached(_) | Effect::BookmarkMade { .. } | Effect::MarkerWanted { .. } => false,
    };
    bookmarks::type_markers(env, config, effects);
    await_limits(config, effects);
    if effects.iter().any(is_shown) {
        // Nothing changes under the lock: what is read once holds until it is let go.
        let seats = live::seats_of(store)?;
        if !push::push(env, PATIENCE, &|| Ok(seats.clone()))? {
            spawn::refresh_detached();
        }
    }
    notify::changes(env, config, store, effects)
}

/// Sees to it that somebody waits for the end of a limit that was just met.
fn await_limits(config: &Config, effects: &[Effect]) {
    let is_met =
        |effect: &Effect| matches!(effect, Effect::StateChanged { to: State::Limited, seat: Some(_), .. });
    if config.resumes_after_limits() && effects.iter().any(is_met) {
        spawn::wake_detached();
    }
}
