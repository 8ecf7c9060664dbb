//! Repairs a transcript in place: finds its users, reads it, replaces it as a whole.
//!
//! `agents` decides where markers go. The file is replaced atomically, never half-written.

mod file;
mod found;
mod users;

pub use file::{Kept, RepairError, backups, put, read, replace};
pub use found::{Subject, named, recent};
pub use users::users;
