//! A hook payload becomes a journal record, the record is applied to the database, its effects are carried out, and the
//! agent gets its reply.
//!
//! The only module that applies the journal.

pub mod effects;
pub mod hook;
pub mod live;
pub mod statusline;
