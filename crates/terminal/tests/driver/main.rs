//! The drivers in real tmux, real GNU screen and real kitty, and the others with a stand-in that writes down how it was called.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod bench;
mod kitty;
mod others;
mod screen;
mod tmux;
