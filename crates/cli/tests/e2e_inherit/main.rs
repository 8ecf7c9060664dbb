//! The real clients, as a person carries work over with them: cleared, passed on by a baton, begun afresh, compacted,
//! killed. What counts is the request that their model gets.
//!
//! Nothing is told to our hooks but by the clients; nothing is read but the model's requests and what surfaces could read.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests report by panicking")]

mod across;
mod claude;
#[expect(dead_code, reason = "these tests ask less than the server answers")]
#[path = "../serve/client.rs"]
mod client;
mod codex;
mod crowd;
mod desk;
mod kept;
mod long;
mod relay;
mod scenes;
#[expect(dead_code, reason = "these tests serve data of their own")]
#[path = "../serve/world.rs"]
mod world;
