//! Repairing a transcript in its place: who uses it, what it was, and replacing it whole.
//!
//! Where markers go is `agents`' business. The file is never written into: it is what it was, or it is the repaired one.

mod file;
mod found;
mod users;

pub use file::{Kept, RepairError, backups, put, read, replace};
pub use found::{Subject, named, recent};
pub use users::users;
