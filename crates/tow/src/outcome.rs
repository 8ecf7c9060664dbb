//! Carrying out what a fold decided: bars are told, and whoever else wants to know.
//!
//! Called by whoever folded, while it still holds the lock: so what is told is told in order, and once. Waits for nobody.

use crate::config::Config;
use crate::edge::Edge;
use crate::{live, push, tell, work};
use towline_core::effect::Effect;
use towline_store::{Store, StoreError};

/// Nothing that is not shown costs a look at the seats.
pub fn carry_out(edge: &Edge, config: &Config, store: &Store, effects: &[Effect]) -> Result<(), StoreError> {
    let is_shown = |effect: &Effect| match effect {
        Effect::StateChanged { seat, .. } => seat.is_some(),
        Effect::SeatTaken { .. } => true,
    };
    if effects.iter().any(is_shown) && !push::push(edge, &live::seats_of(store)?) {
        work::refresh_detached();
    }
    tell::changes(edge, config, store, effects)
}
