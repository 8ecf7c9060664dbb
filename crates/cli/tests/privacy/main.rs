//! What must not be kept, and what must no longer be: real hooks, captures and imports of transcripts in the shapes of both
//! agents, then every byte of the data folder looked at.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod forget;
mod forget_races;
mod private_turns;
#[path = "../../../core/tests/secrets/mod.rs"]
mod samples;
mod script;
mod scrub;
mod secrets;
mod world;
