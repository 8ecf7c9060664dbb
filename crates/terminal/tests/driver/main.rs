//! The drivers in real tmux, GNU screen and kitty, and the others with fakes that record how they were called.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod bench;
mod kitty;
mod others;
mod screen;
mod tmux;
