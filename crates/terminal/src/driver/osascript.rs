//! iTerm2 sessions, through AppleScript: found by the terminal's device, screen as plain text.
//!
//! Terminal.app cannot type text without submitting it, hence has no driver.

use super::call::{Exec, SLOW};
use super::sitter::Variable;
use super::{DriverError, ENTER, NoDriver, bracketed};
use towline_core::seat::Place;
use towline_core::typing::{Abilities, Look};

pub(super) const ABILITIES: Abilities =
    Abilities { identity: true, foreground: false, screen: true, mode: false, activity: false };

#[derive(Debug)]
pub(super) struct ItermSession {
    pub(super) terminal: String,
    /// Overrides for finding the program.
    pub(super) variables: Vec<Variable>,
}

impl ItermSession {
    pub(super) fn of(place: &Place) -> Result<ItermSession, NoDriver> {
        let terminal = place.tty.clone().ok_or(NoDriver::NoPane)?;
        Ok(ItermSession { terminal, variables: vec![] })
    }

    pub(super) fn look(&self) -> Look {
        match self.ask(&["look"]) {
            Ok(answer) => match answer.strip_prefix(FOUND) {
                Some(screen) => {
                    Look { is_there: Some(true), screen: Some(screen.to_owned()), ..Look::default() }
                }
                None => Look { is_there: Some(false), ..Look::default() },
            },
            Err(_) => Look::default(),
        }
    }

    pub(super) fn paste(&self, text: &str) -> Result<(), DriverError> {
        self.put(&bracketed(text))
    }

    pub(super) fn enter(&self) -> Result<(), DriverError> {
        self.put(ENTER)
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
        let input = SCRIPT.as_bytes();
        Exec { program: PROGRAM, arguments: &arguments, variables: &self.variables, input, patience: SLOW }
            .run()
    }
}

const PROGRAM: &str = "osascript";

/// Prefix of the script's answer if the terminal exists.
const FOUND: &str = "found\n";

const SCRIPT: &str = include_str!("iterm2.applescript");
