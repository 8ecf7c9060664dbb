//! A window of kitty, through the socket that its remote control listens on.
//!
//! It has no mode in which text would not reach the program: what it shows over a window is a window of its own.

use super::call::{Call, SLOW};
use super::sitter::{Sitter, Variable};
use super::{DriverError, ENTER, NoDriver, bracketed};
use towline_core::seat::Place;
use towline_core::typing::{Abilities, Look};

pub(super) const ABILITIES: Abilities =
    Abilities { identity: true, foreground: true, screen: true, mode: true, activity: true };

#[derive(Debug)]
pub(super) struct Window {
    socket: String,
    kitty: String,
    id: String,
    variables: Vec<Variable>,
}

impl Window {
    pub(super) fn of(place: &Place, sitter: &Sitter) -> Result<Window, NoDriver> {
        let environment = sitter.process().ok_or(NoDriver::Left)?.environment();
        let socket = environment.get("KITTY_LISTEN_ON").ok_or(NoDriver::KittyIsDeaf)?.to_owned();
        match (&place.server, &place.pane) {
            (Some(kitty), Some(id)) if id.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Window {
                socket,
                kitty: kitty.clone(),
                id: id.clone(),
                variables: sitter.variables(&["PATH", "HOME", "KITTY_PUBLIC_KEY"]),
            }),
            (_, _) => Err(NoDriver::NoPane),
        }
    }

    pub(super) fn look(&self, sitter: &Sitter) -> Look {
        let screen = self.ask("get-text", &["--ansi", "--extent", "screen"], b"");
        let is_there = match &screen {
            Ok(_) => Some(self.is_window_of(sitter)),
            Err(DriverError::Refused { .. }) => Some(false),
            Err(_) => None,
        };
        let in_mode = is_there.map(|_| false);
        Look { is_there, in_mode, last_key_at: sitter.last_input(), screen: screen.ok(), ..Look::default() }
    }

    /// Numbers are never used again, and the first process in a window was told its own.
    fn is_window_of(&self, sitter: &Sitter) -> bool {
        sitter.opened_by().is_some_and(|(kitty, told)| {
            kitty.pid.to_string() == self.kitty && told.get("KITTY_WINDOW_ID") == Some(&self.id)
        })
    }

    pub(super) fn paste(&self, text: &str) -> Result<(), DriverError> {
        self.put(&bracketed(text))
    }

    pub(super) fn enter(&self) -> Result<(), DriverError> {
        self.put(ENTER)
    }

    /// Through standard input: in an argument, backslashes would be read as escapes.
    fn put(&self, keys: &str) -> Result<(), DriverError> {
        self.ask("send-text", &["--stdin"], keys.as_bytes()).map(drop)
    }

    fn ask(&self, order: &str, more: &[&str], input: &[u8]) -> Result<String, DriverError> {
        let window = format!("id:{}", self.id);
        let arguments = [&["@", "--to", &self.socket, order, "--match", &window], more].concat();
        Call { program: PROGRAM, arguments: &arguments, variables: &self.variables, input, patience: SLOW }
            .run()
    }
}

const PROGRAM: &str = "kitty";
