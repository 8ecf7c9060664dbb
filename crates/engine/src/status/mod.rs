//! The current state of every agent: stored seats, probes of process, transcript and screen, and the tmux
//! push.
//!
//! Applies no journal record: `ingest` does, and calls this module.

pub mod cache;
pub mod described;
pub mod probe;
pub mod proposals;
pub mod push;
pub mod read_marks;
pub mod scan;
pub mod seats;
pub mod tmux;
