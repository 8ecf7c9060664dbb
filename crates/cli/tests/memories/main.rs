//! Memories as a person meets them: told, listed, shown, changed, taken back, erased, carried elsewhere.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod carried;
mod changing;
mod hostile;
mod listing;
mod remembering;
mod world;
