//! How far long work has come, reported to the surface that started it.
//!
//! The engine reports; the surface decides whether and how to show it.

use std::time::Duration;

/// Receives the progress of work over files.
pub trait Progress {
    /// Work over so many bytes in so many files begins.
    fn begin(&mut self, bytes: u64, files: usize);

    /// So much is done after `spent`.
    fn show(&mut self, bytes: u64, files: usize, spent: Duration);

    /// The work has ended.
    fn finish(&mut self);
}

/// Reports to no one.
pub struct Silent;

impl Progress for Silent {
    fn begin(&mut self, _: u64, _: usize) {}

    fn show(&mut self, _: u64, _: usize, _: Duration) {}

    fn finish(&mut self) {}
}
