//! Behind the server: its tokens, where it listens, and the desk that answers by the verbs.
//!
//! Runs in `tow serve` alone. Nothing of it is on the path of a hook.

mod address;
mod changes;
mod command;
mod desk;
mod hosts;
mod news;
mod reads;
mod tokens;
mod views;

pub use address::{Address, Running, running};
pub use desk::Verbs;
pub use tokens::{Kept, tokens};
