//! The drivers in real tmux and real GNU screen, and the others with a stand-in that writes down how it was called.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod bench;
mod others;
mod screen;
mod tmux;
