//! One line on the terminal that says what a command does and how far it is.
//!
//! Drawn only on a terminal on stderr: a bar a few times a second, and by itself whenever a command has been silent for more
//! than half a second. Erased before anything else is printed, and never drawn while the user is asked something.

use rustix::termios::tcgetwinsize;
use std::io::{self, IsTerminal, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use towline_core::escape::fit_to_width;
use towline_engine::index::IndexCount;
use towline_engine::runtime::progress::Progress;
use towline_engine::runtime::text::{size, span};
use towline_engine::runtime::variable;

const EVERY: Duration = Duration::from_millis(100);
const WIDTH: usize = 24;
/// The step of the thread that watches for silence, and how many of them are silence.
const TICK: Duration = Duration::from_millis(200);
const SILENCE: u32 = 3;
const SPINNER: [&str; 4] = ["|", "/", "-", "\\"];

/// The line and when it was drawn. Time is counted in ticks.
struct StatusLine {
    /// The work of the command; `None` if no command is watched.
    activity: Option<&'static str>,
    /// How far it is.
    figures: Option<String>,
    is_drawn: bool,
    ticks: u32,
    silent: u32,
    held: u32,
}

static LINE: Mutex<StatusLine> =
    Mutex::new(StatusLine { activity: None, figures: None, is_drawn: false, ticks: 0, silent: 0, held: 0 });
static ENDED: Condvar = Condvar::new();

fn line() -> MutexGuard<'static, StatusLine> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StatusLine {
    fn draw(&mut self) {
        let Some(activity) = self.activity.filter(|_| self.held == 0) else { return };
        let text = self.figures.clone().unwrap_or_else(|| format!("{activity}, {}", span(TICK * self.ticks)));
        let columns = tcgetwinsize(io::stderr()).ok().map(|size| usize::from(size.ws_col));
        let columns = columns.filter(|columns| *columns > 0).unwrap_or(100);
        let spinner = SPINNER[self.ticks as usize % SPINNER.len()];
        let text = fit_to_width(&text, columns.saturating_sub(3));
        write(&format!("\r{} {spinner}\x1b[K", text.trim_end()));
        (self.is_drawn, self.silent) = (true, 0);
    }

    fn erase(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            write("\r\x1b[K");
        }
        self.silent = 0;
    }
}

fn write(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Shows what the command does whenever it is silent, until this is dropped.
pub struct Activity(Option<&'static str>);

pub fn activity(what: &'static str) -> Activity {
    let is_shown = io::stderr().is_terminal() && variable("TERM").as_deref() != Some("dumb");
    let mut line = line();
    let before = line.activity;
    if is_shown && line.activity.replace(what).is_none() {
        (line.ticks, line.silent, line.figures) = (0, 0, None);
        // Without the thread the line is only drawn when there is news.
        let _ = thread::Builder::new().name("progress".to_owned()).spawn(watch);
    }
    Activity(before)
}

impl Drop for Activity {
    fn drop(&mut self) {
        let mut line = line();
        line.erase();
        line.figures = None;
        line.activity = self.0;
        ENDED.notify_all();
    }
}

fn watch() {
    let mut line = line();
    while line.activity.is_some() {
        (line, _) = ENDED.wait_timeout(line, TICK).unwrap_or_else(PoisonError::into_inner);
        line.ticks += 1;
        line.silent += 1;
        if line.silent >= SILENCE {
            line.draw();
        }
    }
}

/// Erases the line, because something else is about to be printed.
pub fn erase() {
    line().erase();
}

/// Draws nothing until this is dropped: the user is asked something.
pub struct Hold;

pub fn hold() -> Hold {
    let mut line = line();
    line.erase();
    line.held += 1;
    Hold
}

impl Drop for Hold {
    fn drop(&mut self) {
        line().held -= 1;
    }
}

/// The figures of a command, drawn at most once every `EVERY`.
#[derive(Default)]
pub struct ProgressBar {
    all_bytes: u64,
    all_files: usize,
    shown_at: Option<Duration>,
    /// The share shown last: a bar never goes back.
    share: f64,
}

impl Progress for ProgressBar {
    fn begin(&mut self, bytes: u64, files: usize) {
        (self.all_bytes, self.all_files, self.share) = (bytes, files, 0.0);
    }

    fn show(&mut self, bytes: u64, files: usize, spent: Duration) {
        self.show_part(bytes, files, None, spent);
    }

    fn finish(&mut self) {
        let mut line = line();
        line.figures = None;
        line.erase();
    }
}

impl ProgressBar {
    fn show_part(&mut self, bytes: u64, files: usize, indexed: Option<f64>, spent: Duration) {
        let part = FileCount { bytes, all_bytes: self.all_bytes, files, all_files: self.all_files, indexed };
        self.share = self.share.max(part.share());
        let share = self.share;
        self.draw(spent, || part.line(share, spent));
    }

    /// Shows progress as things done of all, such as rows.
    pub fn show_count(&mut self, done: u64, all: u64, what: &str, spent: Duration) {
        let share = if all == 0 { 1.0 } else { done as f64 / all as f64 };
        self.draw(spent, || format!("{} {done} of {} {what}, {}", bar(share), all.max(done), span(spent)));
    }

    /// Shows these figures instead.
    pub fn draw(&mut self, spent: Duration, figures: impl FnOnce() -> String) {
        if self.shown_at.is_none_or(|shown_at| spent.saturating_sub(shown_at) >= EVERY) {
            self.shown_at = Some(spent);
            let mut line = line();
            line.figures = Some(figures());
            line.draw();
        }
    }
}

/// The bar of an import that indexes beside: the share that is indexed counts, too.
pub struct ImportBar<'a> {
    pub bar: ProgressBar,
    pub index: &'a IndexCount,
    shown: (u64, usize),
}

impl<'a> ImportBar<'a> {
    pub fn new(index: &'a IndexCount) -> ImportBar<'a> {
        ImportBar { bar: ProgressBar::default(), index, shown: (0, 0) }
    }

    /// Shows that the rest is being indexed.
    pub fn show_rest(&mut self, spent: Duration) {
        let (bytes, files) = self.shown;
        self.bar.show_part(bytes, files, Some(self.index.share()), spent);
    }
}

impl Progress for ImportBar<'_> {
    fn begin(&mut self, bytes: u64, files: usize) {
        self.bar.begin(bytes, files);
    }

    fn show(&mut self, bytes: u64, files: usize, spent: Duration) {
        self.shown = (bytes, files);
        self.show_rest(spent);
    }

    /// The bar stays until everything is indexed.
    fn finish(&mut self) {}
}

/// How far work on files is.
struct FileCount {
    bytes: u64,
    all_bytes: u64,
    files: usize,
    all_files: usize,
    /// The share of what is read that is indexed, if it is.
    indexed: Option<f64>,
}

/// The share of the time of an import that indexing takes.
const INDEXING: f64 = 0.6;

impl FileCount {
    fn share(&self) -> f64 {
        let read = if self.all_bytes == 0 { 1.0 } else { self.bytes as f64 / self.all_bytes as f64 };
        self.indexed.map_or(read, |indexed| read * (1.0 - INDEXING + INDEXING * indexed)).min(1.0)
    }

    fn line(&self, share: f64, spent: Duration) -> String {
        let left = spent.as_secs_f64() * (1.0 - share) / share.max(0.001);
        let left = span(Duration::from_secs_f64(left.min(360_000.0)));
        let how = match self.indexed {
            Some(indexed) => format!("{:.0}% indexed", indexed * 100.0),
            None => format!("{}/s", size((self.bytes as f64 / spent.as_secs_f64().max(0.001)) as u64)),
        };
        let (bytes, all) = (size(self.bytes), size(self.all_bytes));
        format!(
            "{} {bytes} of {all}, {} of {} files, {how}, {left} left",
            bar(share),
            self.files,
            self.all_files
        )
    }
}

fn bar(share: f64) -> String {
    let filled = ((share.min(1.0) * WIDTH as f64) as usize).min(WIDTH);
    format!("{}{}", "█".repeat(filled), "░".repeat(WIDTH - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(bytes: u64, indexed: Option<f64>) -> FileCount {
        FileCount { bytes, all_bytes: 1_000_000_000, files: 3, all_files: 12, indexed }
    }

    #[test]
    fn the_line_says_how_far_how_fast_and_how_long_still() {
        let shown = count(250_000_000, None).line(0.25, Duration::from_secs(2));
        assert_eq!(shown, "██████░░░░░░░░░░░░░░░░░░ 250.0 MB of 1.0 GB, 3 of 12 files, 125.0 MB/s, 6 s left");
        let none = FileCount { all_bytes: 0, ..count(0, None) };
        assert!(none.line(1.0, Duration::ZERO).contains("0 B of 0 B"));
    }

    #[test]
    fn an_import_is_done_when_it_is_indexed() {
        let read = count(1_000_000_000, Some(0.5));
        assert!((read.share() - 0.7).abs() < 0.001, "{}", read.share());
        let shown = read.line(0.7, Duration::from_secs(7));
        assert!(shown.ends_with("1.0 GB of 1.0 GB, 3 of 12 files, 50% indexed, 3 s left"), "{shown}");
    }
}
