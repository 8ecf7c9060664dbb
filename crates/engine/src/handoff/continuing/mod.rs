//! Work that goes on by itself: what is done at the end of a turn, what the successor is given, what the person is told.
//!
//! Whether anything is done is decided in `core`, how far a hop is by the fold. Here it is put into events, words and intents;
//! nothing is typed from here, and nothing that failed is tried again.

mod give;
mod hop;
mod turns_end;
mod untold;

pub use give::{alone, handoff_of, mark_given, put_in};
pub use hop::{begin, is_allowed, kept};
pub use turns_end::{Known, Outcome, Stop, at_turns_end};
pub use untold::{Afoot, overdue, untold, what_became};
