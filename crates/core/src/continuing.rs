//! Going on by itself: a hop carries the work of a session whose context is full into a fresh one in the same seat.
//!
//! Plain data and pure decisions. Nothing is typed, read or asked from here, and whatever is not surely ours is nobody's
//! cue: a block that somebody else made is never taken for our own.

mod barrier;
mod follow;
pub mod form;
mod hop;
mod mechanical;

pub use crate::meter::Strategy;
pub use barrier::{Barrier, Decision, Ending, Limits, Moment, Past, Written, at_turns_end};
pub use follow::{Around, Next, follow, is_overdue};
pub use hop::{Asking, Author, Hop, Stage, Typed};
pub use mechanical::mechanical;
