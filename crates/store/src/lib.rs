//! Storage: the journal that accepts events, and the database projected from it.
//!
//! The only crate that opens the database and the only one with SQL. It makes no decisions: `fold` calls `core::step`.
//! It reads no clock and no environment; folder, time and timeouts are arguments.

pub mod archive;
mod database;
pub mod erase;
mod fold;
pub mod foreign;
pub mod home;
pub mod journal;
pub mod lock;
pub mod marks;
mod memory;
pub mod meters;
mod sql_text;
mod tables;
pub mod told;
pub mod upkeep;
pub mod warned;

pub use archive::Archive;
pub use database::{SCHEMA, Store, StoreError};
pub use fold::{Folded, Pace, rebuild};
pub use home::Home;
pub use tables::batons::KnownBaton;
pub use tables::bookmarks::{BookmarksAsked, Deleted, KnownBookmark};
pub use tables::events::KnownEvent;
pub use tables::faults::KnownFault;
pub use tables::hops::WantedHops;
pub use tables::inheritances::{Inheritance, Wanted};
pub use tables::intents::WantedIntents;
pub use tables::jobs::{UpkeepJob, UpkeepKind};
pub use tables::projects::KnownProject;
pub use tables::transcripts::LiveTranscript;
pub use tables::waits::KnownWait;
