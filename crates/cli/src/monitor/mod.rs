//! The monitor's environment: its rows, the terminal that it draws on, and the watchdog for that terminal.
//!
//! Decides neither what is shown nor what a key means: that is the `towline_monitor` crate.

mod gather;
mod keeper;
mod stage;
mod wakes;

pub use gather::{RowGatherer, SessionFilter};
pub use keeper::keep;
pub use stage::play;
