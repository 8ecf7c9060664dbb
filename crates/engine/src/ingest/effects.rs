//! Carries out the effects of applied events: status pushes, notifications, bookmarks, wake-ups.
//!
//! Callers still hold the apply lock, so every notification is sent once and in journal order.

use crate::handoff::bookmarks::{self, Bookmarked};
use crate::ingest::live;
use crate::notify;
use crate::runtime::{Config, Env, spawn};
use crate::status::push;
use std::time::Duration;
use towline_core::effect::Effect;
use towline_core::session::SessionState;
use towline_store::{Store, StoreError};

/// A push takes tmux a few milliseconds; slower servers are served by a detached process.
const PATIENCE: Duration = Duration::from_millis(10);

/// Carries out the effects and sets the bookmarks they make due; the caller must apply again after those.
pub fn settle(
    env: &Env,
    config: &Config,
    store: &Store,
    effects: &[Effect],
) -> Result<Bookmarked, StoreError> {
    carry_out(env, config, store, effects)?;
    Ok(bookmarks::set_due(env, config, effects))
}

/// Reads the seats only if an effect changes what is shown.
pub fn carry_out(env: &Env, config: &Config, store: &Store, effects: &[Effect]) -> Result<(), StoreError> {
    let is_shown = |effect: &Effect| match effect {
        Effect::StateChanged { seat, .. } => seat.is_some(),
        Effect::SeatTaken { .. } | Effect::HopEnded { .. } => true,
        // Bookmarks are set by `settle`, whose caller applies again; whoever records a look shows it.
        Effect::PointReached(_)
        | Effect::BookmarkMade { .. }
        | Effect::MarkerWanted { .. }
        | Effect::Seen { .. } => false,
    };
    bookmarks::type_markers(env, config, effects);
    await_limits(config, effects);
    if effects.iter().any(is_shown) {
        // The lock is held, so this list stays valid until it is released.
        let seats = live::seats_of(store)?;
        if !push::push(env, PATIENCE, &|| Ok(seats.clone()))? {
            spawn::refresh_detached();
        }
    }
    notify::changes(env, config, store, effects)
}

/// Starts the process that waits for the end of a usage limit if a session has just hit one.
fn await_limits(config: &Config, effects: &[Effect]) {
    let is_met = |effect: &Effect| {
        matches!(effect, Effect::StateChanged { to: SessionState::Limited, seat: Some(_), .. })
    };
    if config.resumes_after_limits() && effects.iter().any(is_met) {
        spawn::wake_detached();
    }
}
