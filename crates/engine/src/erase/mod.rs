//! Removing what was kept: forgetting, trimming a conversation, repairing a transcript.
//!
//! Each says what it would do before it does it, and can be run again after a kill.

pub mod forget;
pub mod repair;
pub mod trim;
