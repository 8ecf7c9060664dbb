//! A progress line for long work: bytes, files, rate, time left.
//!
//! Written only to a terminal on stderr, a few times a second; otherwise nothing is written.

use crate::output::complain;
use std::io::{self, IsTerminal};
use std::time::Duration;
use towline_engine::runtime::text::{size, span};

const EVERY: Duration = Duration::from_millis(100);
const WIDTH: usize = 24;

pub struct ProgressBar {
    is_shown: bool,
    all_bytes: u64,
    all_files: usize,
    shown_at: Option<Duration>,
}

impl towline_engine::runtime::progress::Progress for ProgressBar {
    fn begin(&mut self, bytes: u64, files: usize) {
        (self.all_bytes, self.all_files) = (bytes, files);
    }

    fn show(&mut self, bytes: u64, files: usize, spent: Duration) {
        if self.is_due(spent) {
            let line = line(bytes, self.all_bytes, files, self.all_files, spent);
            complain(&format!("\r{line}\x1b[K"));
        }
    }

    fn finish(&mut self) {
        if self.shown_at.take().is_some() {
            complain("\r\x1b[K");
        }
    }
}

impl ProgressBar {
    pub fn new(all_bytes: u64, all_files: usize) -> ProgressBar {
        ProgressBar { is_shown: io::stderr().is_terminal(), all_bytes, all_files, shown_at: None }
    }

    /// Whether to redraw the line, at most once every `EVERY`.
    fn is_due(&mut self, spent: Duration) -> bool {
        let is_due = self.shown_at.is_none_or(|shown_at| spent.saturating_sub(shown_at) >= EVERY);
        if self.is_shown && is_due {
            self.shown_at = Some(spent);
        }
        self.is_shown && is_due
    }

    /// For work that is counted in rows.
    pub fn of_rows() -> ProgressBar {
        ProgressBar::new(0, 0)
    }

    /// Shows progress as rows done of all rows.
    pub fn show_rows(&mut self, rows: u64, all: u64, spent: Duration) {
        if self.is_due(spent) {
            complain(&format!("\r{} {rows} of {all} rows, {}\x1b[K", bar(rows, all), span(spent)));
        }
    }
}

fn line(bytes: u64, all_bytes: u64, files: usize, all_files: usize, spent: Duration) -> String {
    let bar = bar(bytes, all_bytes);
    let rate = bytes as f64 / spent.as_secs_f64().max(0.001);
    let left =
        Duration::from_secs_f64((all_bytes.saturating_sub(bytes) as f64 / rate.max(1.0)).min(360_000.0));
    format!(
        "{bar} {} of {}, {files} of {all_files} files, {}/s, {} left",
        size(bytes),
        size(all_bytes),
        size(rate as u64),
        span(left)
    )
}

fn bar(done: u64, all: u64) -> String {
    let part = if all == 0 { 1.0 } else { (done as f64 / all as f64).min(1.0) };
    let filled = ((part * WIDTH as f64) as usize).min(WIDTH);
    format!("{}{}", "█".repeat(filled), "░".repeat(WIDTH - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_how_fast_and_how_long_still() {
        let shown = line(250_000_000, 1_000_000_000, 3, 12, Duration::from_secs(2));
        assert_eq!(shown, "██████░░░░░░░░░░░░░░░░░░ 250.0 MB of 1.0 GB, 3 of 12 files, 125.0 MB/s, 6 s left");
        assert!(line(0, 0, 0, 0, Duration::ZERO).contains("0 B of 0 B"));
    }
}
