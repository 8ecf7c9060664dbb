//! Looks at a terminal seat and types into it, through the program that displays it.
//!
//! Text and Enter are two steps, so that the caller can check the text before submitting it. No other key is ever sent,
//! least of all a key that interrupts. Whether typing is allowed is not decided here.

mod call;
mod kitty;
mod osascript;
mod pane;
mod screen;
mod seat;
mod sitter;
mod tmux;
mod wezterm;
mod zellij;

pub use pane::{DriverError, LONGEST, NoDriver};
pub use seat::Driver;
