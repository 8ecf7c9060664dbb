//! GNU screen windows: the process and the last input can be seen, the screen's text cannot.
//!
//! screen's hardcopy truncates every character to one byte, so none is taken. In copy mode it swallows input, and it
//! does not report the mode. Text goes through a register and a private file: screen's command lines are too short for
//! it.

use super::call::{QUICK, exec};
use super::pane::{DriverError, ENTER, NoDriver, Terminal, bracketed, numbered_pane, presence};
use super::sitter::{AgentProcess, Variable};
use crate::process::{Process, child_pids};
use std::fs::{DirBuilder, OpenOptions, remove_dir_all};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use towline_core::seat::SeatLocation;
use towline_core::typing::{PaneObservation, TerminalAbilities};

#[derive(Debug)]
pub(super) struct ScreenWindow {
    session: String,
    number: String,
    variables: Vec<Variable>,
}

impl ScreenWindow {
    pub(super) fn of(place: &SeatLocation, agent: &AgentProcess) -> Result<ScreenWindow, NoDriver> {
        agent.process().ok_or(NoDriver::Left)?;
        let (session, number) = numbered_pane(place)?;
        let variables = agent.variables(&["PATH", "HOME", "SCREENDIR", "TMPDIR"]);
        Ok(ScreenWindow { session, number, variables })
    }

    /// Windows can be renumbered, and screen does not report a number's terminal: only a single window is certain.
    fn is_only_window(&self, agent: &AgentProcess) -> Option<bool> {
        let Some((server, environment)) = agent.opened_by() else { return Some(false) };
        let is_session = self.session.split('.').next() == Some(server.pid.to_string().as_str());
        let is_window = environment.get("WINDOW") == Some(&self.number);
        let windows = child_pids(server.pid)?.into_iter().filter_map(Process::read);
        let is_only = windows.filter(|child| child.terminal().is_some()).count() == 1;
        if !is_session || !is_window {
            return Some(false);
        }
        is_only.then_some(true)
    }

    /// screen silently drops commands to a missing window, hence the query first.
    fn put(&self, keys: &str) -> Result<(), DriverError> {
        self.ask(&PROBE)?;
        let no_file = |error: io::Error| DriverError::NoFile { program: PROGRAM, cause: error.to_string() };
        let folder = self.private_folder().map_err(no_file)?;
        let done = self.put_through(&folder.join("text"), keys);
        remove_dir_all(folder).map_err(no_file)?;
        done
    }

    fn put_through(&self, file: &Path, keys: &str) -> Result<(), DriverError> {
        let no_file = |error: io::Error| DriverError::NoFile { program: PROGRAM, cause: error.to_string() };
        let mut options = OpenOptions::new();
        let opened = options.write(true).create_new(true).mode(0o600).open(file);
        opened.and_then(|mut file| file.write_all(keys.as_bytes())).map_err(no_file)?;
        let path = file.to_string_lossy();
        self.ask(&["-X", "readreg", REGISTER, &quoted(&path)])?;
        self.ask(&["-X", "paste", REGISTER])?;
        // A query is answered after the commands before it: the file has been read by then.
        self.ask(&PROBE).map(drop)
    }

    /// A folder that we created, accessible to no other user.
    fn private_folder(&self) -> io::Result<PathBuf> {
        let parent =
            self.variables.iter().find(|(name, _)| *name == "TMPDIR").map_or("/tmp", |(_, path)| path);
        let folder = Path::new(parent).join(format!("towline-screen-{}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(folder)
    }

    fn ask(&self, order: &[&str]) -> Result<String, DriverError> {
        let arguments = [&["-S", &self.session, "-p", &self.number], order].concat();
        exec(PROGRAM, &arguments, &self.variables, b"", QUICK)
    }
}

impl Terminal for ScreenWindow {
    fn abilities(&self) -> TerminalAbilities {
        TerminalAbilities { identity: true, foreground: true, screen: false, mode: false, activity: true }
    }

    fn look(&self, agent: &AgentProcess) -> PaneObservation {
        let is_there = presence(&self.ask(&PROBE), || self.is_only_window(agent));
        PaneObservation { is_there, last_key_at: agent.last_input(), ..PaneObservation::default() }
    }

    fn paste(&self, text: &str) -> Result<(), DriverError> {
        self.put(&bracketed(text))
    }

    fn enter(&self) -> Result<(), DriverError> {
        self.put(ENTER)
    }
}

const PROGRAM: &str = "screen";

/// Any answer means that the window exists. It is shown to attached users, so it is empty.
const PROBE: [&str; 3] = ["-Q", "echo", ""];

/// A register that no user has: they are named by keys.
const REGISTER: &str = "\u{1}";

/// Escapes `^x`, `\x` and `$x`, which screen expands in arguments.
fn quoted(word: &str) -> String {
    word.replace('\\', "\\\\").replace('^', "\\^").replace('$', "\\$")
}
