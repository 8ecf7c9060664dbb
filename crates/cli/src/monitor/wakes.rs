//! Wake-ups for an interactive loop: signals, and writes to the data folder.
//!
//! Reports only that something happened; the caller finds out what.

use super::canvas::{ENDING, no_signals};
use signal_hook::consts::SIGWINCH;
use signal_hook::low_level::pipe;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;
use towline_engine::runtime::Failure;
use towline_engine::runtime::watch::Watch;
use towline_store::DataFolder;

pub struct Wakes {
    signals: UnixStream,
    files: Watch,
}

impl Wakes {
    /// No wake-up is lost from here on: one that arrives between two waits ends the second.
    pub fn on(home: &DataFolder) -> Result<Wakes, Failure> {
        let (signals, end) = UnixStream::pair().map_err(|error| no_signals(&error))?;
        signals.set_nonblocking(true).map_err(|error| no_signals(&error))?;
        for signal in ENDING.into_iter().chain([SIGWINCH]) {
            let end = end.try_clone().map_err(|error| no_signals(&error))?;
            pipe::register(signal, end).map_err(|error| no_signals(&error))?;
        }
        Ok(Wakes { signals, files: Watch::on(home) })
    }

    /// File descriptors that become readable on a wake-up.
    pub fn ends(&self) -> Vec<BorrowedFd<'_>> {
        std::iter::once(self.signals.as_fd()).chain(self.files.end()).collect()
    }

    /// Drains all wake-ups and returns whether data was written.
    pub fn take(&mut self) -> bool {
        let mut bytes = [0; 64];
        while self.signals.read(&mut bytes).is_ok_and(|read| read > 0) {}
        self.files.wait(Duration::ZERO)
    }
}
