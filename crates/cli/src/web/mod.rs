//! The server's side of the command line: tokens, address file, and the backend that answers with verbs.
//!
//! Runs in `tow serve` only; no hook path uses it.

mod address;
mod changes;
mod command;
mod desk;
mod hosts;
mod news;
mod reads;
mod tokens;
mod views;

pub use address::{AddressFile, Running, running};
pub use desk::CommandBackend;
pub use tokens::{TokenReuse, tokens};
