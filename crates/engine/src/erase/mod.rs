//! Removes kept data: hiding a bookmark, forgetting, trimming a conversation, repairing a transcript.
//!
//! Each command shows its effect before it acts, and can be run again after a kill.

mod bookmark;
pub mod forget;
pub mod repair;
pub mod trim;

pub use bookmark::{Listing, list_bookmark};
