//! Automatic continuation: end of a turn, the successor's handoff, and the notices to the user.
//!
//! `core` decides whether to act; applying events tracks a hop's stage. This module builds events, texts and
//! intents; it types nothing itself and retries nothing that failed.

mod file;
mod give;
mod hop;
mod turns_end;
mod untold;

pub use file::{TakenFile, taken_file};
pub use give::{handoff_of, handoff_only, insert_handoff, mark_given};
pub use hop::{begin, is_allowed, kept};
pub use turns_end::{AppliedEvent, Known, Outcome, at_turns_end};
pub use untold::{Afoot, failure_line, overdue, pending_notices};
