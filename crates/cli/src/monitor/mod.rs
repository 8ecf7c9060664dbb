//! The monitor's environment: its rows, the terminal that it draws on, and the watchdog for that terminal.
//!
//! Decides neither what is shown nor what a key means: that is the `towline_monitor` crate.

mod canvas;
mod filter;
mod gather;
mod keeper;
mod notify;
mod stage;
mod wakes;

pub use canvas::require_terminal;
pub use filter::{SeatFilter, SessionFilter};
pub use gather::RowGatherer;
pub use keeper::keep;
pub use notify::Channel;
pub use stage::{MonitorOptions, play};
