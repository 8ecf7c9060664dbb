//! Automatic continuation: a hop moves work from a session with a full context into a fresh one in the same seat.
//!
//! Plain data and pure decisions: this module types, reads and requests nothing. It acts only on blocks that Towline
//! itself made, never on another hook's.

mod barrier;
mod follow;
pub mod form;
mod hop;
mod mechanical;

pub use crate::meter::ContextStrategy;
pub use barrier::{
    HandoffMethod, HopBarrier, HopDecision, HopLimits, SeatHistory, TurnEndInput, TurnEnding, at_turns_end,
};
pub use follow::{HopContext, HopTransition, follow, is_overdue};
pub use hop::{HandoffAuthor, Hop, HopIntents, HopRequest, HopStage};
pub use mechanical::mechanical;
