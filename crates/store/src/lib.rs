//! Storage: the journal that accepts events, and the database projected from it.
//!
//! The only crate that opens the database and the only one with SQL. It makes no decisions: `projection` calls `core::step`.
//! It reads no clock and no environment; folder, time and timeouts are arguments.

mod alloc;
pub mod archive;
mod columns;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod copy;
mod database;
pub mod erase;
pub mod foreign;
pub mod home;
pub mod journal;
pub mod lock;
pub mod marks;
mod memory;
pub mod meters;
pub mod private;
mod projection;
mod query;
pub mod shared;
mod sql_text;
mod tables;
pub mod told;
mod unused;
pub mod unwritten;
pub mod upkeep;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod wal_index;
pub mod warned;
mod written;

pub use alloc::{Allocator, fill_room, fill_stack};
pub use archive::Archive;
pub use database::{Result, SCHEMA, Store, StoreError, keep_wal_index};
pub use home::DataFolder;
pub use projection::{Projected, ProjectionLimits, rebuild};
pub use tables::batons::BatonRow;
pub use tables::bookmarks::{BookmarkFilter, BookmarkRow, DeletedBookmarks};
pub use tables::events::{EventRow, SeatPrompt};
pub use tables::faults::FaultRow;
pub use tables::hops::HopFilter;
pub use tables::inheritances::{Inheritance, InheritanceFilter};
pub use tables::intents::IntentFilter;
pub use tables::jobs::{UpkeepJob, UpkeepKind};
pub use tables::projects::ProjectLocation;
pub use tables::transcripts::LiveTranscript;
pub use tables::waits::WaitRow;
