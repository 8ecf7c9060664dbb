//! Removes kept data: forgetting, trimming a conversation, repairing a transcript.
//!
//! Each command shows its effect before it acts, and can be run again after a kill.

pub mod forget;
pub mod repair;
pub mod trim;
