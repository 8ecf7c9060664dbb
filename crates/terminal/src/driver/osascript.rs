//! iTerm2 sessions, through AppleScript: found by the terminal's device, screen as plain text.
//!
//! Terminal.app cannot type text without submitting it, hence has no driver.

use super::call::{SLOW, exec};
use super::pane::{DriverError, ENTER, NoDriver, Terminal, bracketed};
use super::sitter::{AgentProcess, Variable};
use towline_core::seat::SeatLocation;
use towline_core::typing::{PaneObservation, TerminalAbilities};

#[derive(Debug)]
pub(super) struct ItermSession {
    pub(super) terminal: String,
    /// Overrides for finding the program.
    pub(super) variables: Vec<Variable>,
}

impl ItermSession {
    pub(super) fn of(place: &SeatLocation) -> Result<ItermSession, NoDriver> {
        let terminal = place.tty.clone().ok_or(NoDriver::NoPane)?;
        Ok(ItermSession { terminal, variables: vec![] })
    }

    fn put(&self, keys: &str) -> Result<(), DriverError> {
        match self.ask(&["type", keys])?.starts_with(FOUND) {
            true => Ok(()),
            false => {
                Err(DriverError::Refused { program: PROGRAM, said: "iTerm2 has no such terminal".to_owned() })
            }
        }
    }

    /// The script is constant: the text is an argument, never part of it.
    fn ask(&self, order: &[&str]) -> Result<String, DriverError> {
        let arguments = [&["-", &self.terminal], order].concat();
        exec(PROGRAM, &arguments, &self.variables, SCRIPT.as_bytes(), SLOW)
    }
}

impl Terminal for ItermSession {
    fn abilities(&self) -> TerminalAbilities {
        TerminalAbilities { identity: true, foreground: false, screen: true, mode: false, activity: false }
    }

    fn look(&self, _: &AgentProcess) -> PaneObservation {
        let answer = self.ask(&["look"]).ok();
        let is_there = answer.as_ref().map(|answer| answer.starts_with(FOUND));
        let screen = answer.and_then(|answer| answer.strip_prefix(FOUND).map(str::to_owned));
        PaneObservation { is_there, screen, ..PaneObservation::default() }
    }

    fn paste(&self, text: &str) -> Result<(), DriverError> {
        self.put(&bracketed(text))
    }

    fn enter(&self) -> Result<(), DriverError> {
        self.put(ENTER)
    }
}

const PROGRAM: &str = "osascript";

/// Prefix of the script's answer if the terminal exists.
const FOUND: &str = "found\n";

const SCRIPT: &str = include_str!("iterm2.applescript");
