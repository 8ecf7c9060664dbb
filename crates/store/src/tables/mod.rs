//! One file per family of tables, each with its statements as constants above the methods that use them.
//!
//! Reads and writes rows; makes no decisions about their content.

pub mod batons;
pub mod bookmarks;
pub mod events;
pub mod faults;
pub mod heard_turns;
pub mod hops;
pub mod inheritances;
pub mod intents;
pub mod jobs;
pub mod journal_position;
pub(crate) mod notes;
pub(crate) mod projects;
pub mod seats;
pub mod sessions;
pub mod transcripts;
pub mod waits;
