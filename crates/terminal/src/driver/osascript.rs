//! A session of iTerm2, through its scripts: found by the device of its terminal, and what it shows as plain text.
//!
//! Terminal.app has no way to type a text without sending it off, hence no driver.

use super::call::{Call, SLOW};
use super::sitter::Variable;
use super::{DriverError, ENTER, NoDriver, bracketed};
use towline_core::seat::Place;
use towline_core::typing::{Abilities, Look};

pub(super) const ABILITIES: Abilities =
    Abilities { identity: true, foreground: false, screen: true, mode: false, activity: false };

#[derive(Debug)]
pub(super) struct Session {
    pub(super) terminal: String,
    /// How the program is found.
    pub(super) variables: Vec<Variable>,
}

impl Session {
    pub(super) fn of(place: &Place) -> Result<Session, NoDriver> {
        let terminal = place.tty.clone().ok_or(NoDriver::NoPane)?;
        Ok(Session { terminal, variables: vec![] })
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

    /// The script is always the same: what is to be typed is an argument of it and never part of it.
    fn ask(&self, order: &[&str]) -> Result<String, DriverError> {
        let arguments = [&["-", &self.terminal], order].concat();
        let input = SCRIPT.as_bytes();
        Call { program: PROGRAM, arguments: &arguments, variables: &self.variables, input, patience: SLOW }
            .run()
    }
}

const PROGRAM: &str = "osascript";

/// How the script's answer begins if the terminal is there.
const FOUND: &str = "found\n";

const SCRIPT: &str = include_str!("iterm2.applescript");
