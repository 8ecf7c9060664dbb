//! From hook payload to reply: journals the event, applies it to the database, carries out its effects.
//!
//! The only module that applies the journal.

pub mod bar;
pub mod effects;
pub mod goto;
pub mod hook;
pub mod host;
pub mod live;
pub mod statusline;
