//! What every agent is doing now: the seats in the store, probes of process, transcript and screen, the status cache, and
//! the push to tmux.
//!
//! Applies no journal record: `ingest` does, and calls this module.

pub mod cache;
pub mod probe;
pub mod push;
pub mod read_marks;
pub mod scan;
pub mod seats;
pub mod tmux;
