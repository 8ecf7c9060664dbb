//! The agent's process in a seat, as the kernel shows it.
//!
//! A process counts only if it has the same start time and the same terminal. Of any other process this module reports
//! nothing.

use crate::process::{Environment, Process};
use std::os::unix::fs::MetadataExt;
use towline_core::seat::SeatLocation;
use towline_core::time::Timestamp;

#[derive(Clone, Debug)]
pub(super) struct AgentProcess {
    pid: u32,
    started: u64,
    terminal: Option<String>,
}

/// The kernel rounds a terminal's access time to this, so that key timing leaks no password: add it as a margin.
const ATIME_GRANULARITY_S: i64 = 8;

pub(super) type Variable = (&'static str, String);

impl AgentProcess {
    pub(super) fn of(place: &SeatLocation) -> AgentProcess {
        AgentProcess { pid: place.pid, started: place.started, terminal: place.tty.clone() }
    }

    /// The process, if it is still there.
    pub(super) fn process(&self) -> Option<Process> {
        let process = Process::read(self.pid)?;
        let terminal = process.terminal();
        let is_same = process.started == self.started && terminal.is_some() && terminal == self.terminal;
        is_same.then_some(process)
    }

    pub(super) fn terminal(&self) -> Option<&str> {
        self.terminal.as_deref()
    }

    /// The receiver of keys on its terminal: the process itself, if it belongs to the foreground group.
    pub(super) fn foreground(&self) -> Option<u32> {
        let process = self.process()?;
        if process.is_in_front() { Some(process.pid) } else { process.front() }
    }

    /// The time of the last input from its terminal: a key, or a reply of the terminal itself.
    pub(super) fn last_input(&self) -> Option<Timestamp> {
        self.process()?;
        let read_at = std::fs::metadata(self.terminal()?).ok()?.atime();
        Some(Timestamp(read_at.saturating_add(ATIME_GRANULARITY_S).saturating_mul(1000)))
    }

    /// The agent's values of these variables: they tell how to reach the terminal. Our own environment may differ.
    pub(super) fn variables(&self, names: &[&'static str]) -> Vec<Variable> {
        let environment = self.process().map(|process| process.environment()).unwrap_or_default();
        let values = names.iter().filter_map(|name| Some((*name, environment.get(name)?.to_owned())));
        values.collect()
    }

    /// The program that opened the terminal, and the environment it gave to the first process on it. Processes further
    /// down inherit variables, even across terminals opened from there.
    pub(super) fn opened_by(&self) -> Option<(Process, Environment)> {
        let leader = Process::read(self.process()?.leader)?;
        let has_same_terminal = leader.terminal().as_deref() == self.terminal();
        let opener = Process::read(leader.parent)?;
        has_same_terminal.then(|| (opener, leader.environment()))
    }
}
