//! `tow status --watch --json`: prints one object per line whenever the list has changed.
//!
//! Refreshes after writes, and fully every two seconds. Ends when the reader closes the pipe.

use crate::monitor::SeatFilter;
use crate::progress;
use crate::scope::Scope;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::time::Duration;
use towline_core::shown::SeatView;
use towline_engine::ingest::live::{self, Glance};
use towline_engine::runtime::watch::Watch;
use towline_engine::runtime::{Env, Failure};
use towline_render::status_json;

/// How often to check for writes.
const PULSE: Duration = Duration::from_millis(250);

/// Interval of full refreshes, for changes that no hook reports.
const FULL_LOOK: Duration = Duration::from_secs(2);

pub fn print_changes(scope: &Scope, filter: &SeatFilter) -> Result<(), Failure> {
    let mut files = Watch::on(&scope.env.home);
    let mut last = String::new();
    let mut looked_at: Option<Duration> = None;
    loop {
        // Every refresh has its own clock and deadline.
        let env = Env::new().ok_or_else(|| Failure::input("there is no home folder any more"))?;
        // Taken before the refresh: the next pulse sees writes that happen in between.
        let is_written = files.wait(Duration::ZERO);
        let now = scope.env.elapsed();
        let found = if looked_at.is_none_or(|at| now.saturating_sub(at) >= FULL_LOOK) {
            looked_at = Some(now);
            Some(full_look(&env))
        } else {
            is_written.then(|| live::last_seats(&env))
        };
        // A failed refresh is repeated; the reader gets the next change.
        if let Some(Ok(mut seats)) = found {
            seats.retain(|seat| filter.fits(seat));
            let object = status_json(&seats).to_string();
            if object != last && scope.out.send(&format!("{object}\n")).is_err() {
                return Ok(());
            }
            last = object;
        }
        if is_closed_within(PULSE) {
            return Ok(());
        }
    }
}

/// Applies the journal, probes processes and transcripts, and pushes the result to the tmux bars.
fn full_look(env: &Env) -> Result<Vec<SeatView>, Failure> {
    let seats = live::seats(env, Glance::Thorough)?;
    // The next refresh repeats a failed push.
    let _pushed = live::push(env);
    Ok(seats)
}

/// Whether the reader closed the pipe: polled for no events, a pipe reports only that.
fn is_closed_within(patience: Duration) -> bool {
    let Ok(limit) = Timespec::try_from(patience) else { return true };
    // It waits for changes, and says nothing in between.
    let _held = progress::hold();
    let stdout = io::stdout();
    let mut ends = [PollFd::new(&stdout, PollFlags::empty())];
    match poll(&mut ends, Some(&limit)) {
        Ok(0) | Err(Errno::INTR) => false,
        Ok(_) | Err(_) => true,
    }
}
