//! The process that types intents into one seat, one after the other.
//!
//! `core::typing` decides whether an intent may be typed, from the state at that moment. An intent that was
//! begun is never typed again.

mod attempt;
mod hands;
mod patience;
mod queue;
mod sight;

pub use queue::{forget_locks, type_pending};

#[cfg(test)]
mod tests;
