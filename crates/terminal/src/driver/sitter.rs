//! The agent's process in a seat, as the kernel shows it.
//!
//! A process is the one that sat there if it started at the same moment and is on the same terminal. One that is not is
//! nobody: nothing is told of it.

use crate::process::{Environment, Process};
use std::os::unix::fs::MetadataExt;
use towline_core::seat::Place;
use towline_core::time::Timestamp;

#[derive(Clone, Debug)]
pub(super) struct Sitter {
    pid: u32,
    started: u64,
    terminal: Option<String>,
}

/// The kernel keeps it in steps of this, lest the moments of keys give away a password: it may be as much later.
const GRAIN_S: i64 = 8;

/// A variable and its value.
pub(super) type Variable = (&'static str, String);

impl Sitter {
    pub(super) fn of(place: &Place) -> Sitter {
        Sitter { pid: place.pid, started: place.started, terminal: place.tty.clone() }
    }

    /// The process, if it is still there.
    pub(super) fn process(&self) -> Option<Process> {
        let process = Process::read(self.pid)?;
        let terminal = process.terminal();
        let is_it = process.started == self.started && terminal.is_some() && terminal == self.terminal;
        is_it.then_some(process)
    }

    pub(super) fn terminal(&self) -> Option<&str> {
        self.terminal.as_deref()
    }

    /// Who would get the keys on its terminal: the process itself, if it belongs to the group that does.
    pub(super) fn foreground(&self) -> Option<u32> {
        let process = self.process()?;
        if process.is_in_front() { Some(process.pid) } else { process.front() }
    }

    /// When something last came in from its terminal: a key, or a word of the terminal itself.
    pub(super) fn last_input(&self) -> Option<Timestamp> {
        self.process()?;
        let read_at = std::fs::metadata(self.terminal()?).ok()?.atime();
        Some(Timestamp(read_at.saturating_add(GRAIN_S).saturating_mul(1000)))
    }

    /// The values of these variables where the agent has them: how to reach what shows it is the agent's business, not
    /// that of whoever types.
    pub(super) fn variables(&self, names: &[&'static str]) -> Vec<Variable> {
        let environment = self.process().map(|process| process.environment()).unwrap_or_default();
        let found = names.iter().filter_map(|name| Some((*name, environment.get(name)?.to_owned())));
        found.collect()
    }

    /// What the program that opened the terminal told the first process on it, and that program itself. Further down
    /// variables are inherited, also by terminals that were opened from there.
    pub(super) fn opened_by(&self) -> Option<(Process, Environment)> {
        let leader = Process::read(self.process()?.leader)?;
        let is_on_it = leader.terminal().as_deref() == self.terminal();
        let opener = Process::read(leader.parent)?;
        is_on_it.then(|| (opener, leader.environment()))
    }
}
