//! Progress of long operations, reported to the command that started them.
//!
//! The engine only reports; the command decides whether and how to show it.

use std::time::Duration;

/// Receives the progress of an operation over files.
pub trait Progress {
    /// Starts an operation with the total number of bytes and files.
    fn begin(&mut self, bytes: u64, files: usize);

    /// Reports the bytes and files completed after `spent`.
    fn show(&mut self, bytes: u64, files: usize, spent: Duration);

    fn finish(&mut self);
}
