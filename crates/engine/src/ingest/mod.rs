//! From hook payload to reply: journals the event, applies it to the database, carries out its effects.
//!
//! The only module that applies the journal.

pub mod effects;
pub mod hook;
pub mod host;
pub mod live;
pub mod statusline;
