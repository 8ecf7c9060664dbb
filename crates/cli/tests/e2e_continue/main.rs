//! Work that goes on by itself with the real clients in real tmux: the context is full, a handoff is asked for and given, the
//! client is cleared, the successor has the handoff and answers. Whatever goes wrong stops it, is told, and loses nothing.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod client;
mod desk;
mod fails;
mod goes_on;
