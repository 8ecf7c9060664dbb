//! What the monitor stands on: where its rows come from, the terminal that its frames are drawn on, and who gives that
//! back if all else fails.
//!
//! Decides nothing: what is shown and what a key means is the monitor's own crate.

mod gather;
mod keeper;
mod stage;
mod wakes;

pub use gather::{Asked, Gatherer};
pub use keeper::keep;
pub use stage::play;
