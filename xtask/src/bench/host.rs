//! The machine around a benchmark: progress, installed programs, temporary folders, background work.
//!
//! Nothing here is part of a measured time.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;
use towline_core::time::Timestamp;
use towline_testkit::wait;

use crate::outcome::{Failure, Result, output_of};

/// A folder that is removed when it is dropped.
pub fn temporary_folder() -> Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("towline-bench-").tempdir();
    folder.map_err(Failure::write(&std::env::temp_dir()))
}

pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Prints progress at once: a benchmark takes minutes.
pub fn announce(out: &mut impl Write, what: &str) -> Result<()> {
    writeln!(out, "{what}")?;
    Ok(out.flush()?)
}

/// Flushes written data to disk, so that it is not written during a measurement.
pub fn settle() -> Result<()> {
    output_of("sync", &mut Command::new("sync")).map(drop)
}

/// Timeout for background work.
const DONE_WITHIN: Duration = Duration::from_secs(5);

/// Waits until the capture process that a hook has just started in a data folder no longer waits.
pub fn wait_for_captures(data: &Path) {
    const STARTED_WITHIN: Duration = Duration::from_millis(300);
    let doors = || std::fs::read_dir(data.join("doors")).map_or(0, Iterator::count);
    wait::holds_within(STARTED_WITHIN, || doors() > 0);
    wait::holds_within(DONE_WITHIN, || doors() == 0);
}

/// Waits for all background work in a data folder, including a process that has just been started.
pub fn wait_for_work(data: &Path) {
    const STARTED_WITHIN: Duration = Duration::from_millis(50);
    let is_taken = |name: &str| File::open(data.join(name)).is_ok_and(|lock| lock.try_lock().is_err());
    let is_busy = || ["archive.lock", "fold.lock", "work.lock"].into_iter().any(is_taken);
    wait::holds_within(STARTED_WITHIN, is_busy);
    wait::holds_within(DONE_WITHIN, || !is_busy());
}

/// Waits until no other process wants to run, for at most a tenth of a second: a machine is never quite idle.
pub fn wait_until_idle() {
    let end = Instant::now() + Duration::from_millis(100);
    // This thread counts itself.
    let is_busy = || running_threads().is_some_and(|running| running > 1);
    while is_busy() && Instant::now() < end {
        std::thread::yield_now();
    }
}

/// How many threads of the machine run or want to run.
fn running_threads() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').nth(3)?.split('/').next()?.parse().ok()
}

/// A program that a benchmark needs, an argument that it answers, and how to install it.
pub type Tool = [&'static str; 3];

pub const VALGRIND: Tool =
    ["valgrind", "--version", "`apt-get install valgrind` (instructions are counted with it)"];
pub const STRACE: Tool =
    ["strace", "--version", "`apt-get install strace` (spawns and bytes are counted with it)"];
pub const TMUX: Tool = ["tmux", "-V", "`apt-get install tmux` (agents sit in it)"];

/// Checks that programs are installed before anything is built.
pub fn require(tools: &[Tool]) -> Result<()> {
    for [program, argument, mend] in tools {
        let output = Command::new(program).arg(argument).output();
        if !output.is_ok_and(|output| output.status.success()) {
            return Err(Failure::Missing { what: (*program).to_owned(), mend: (*mend).to_owned() });
        }
    }
    Ok(())
}

/// The path as a command-line argument.
pub fn words(path: &Path) -> String {
    path.display().to_string()
}
