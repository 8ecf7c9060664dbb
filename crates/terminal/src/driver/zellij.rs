//! A pane of zellij, by its documented command line, which can name a pane since 0.44; older ones refuse.
//!
//! Whether it scrolls or searches is not told.

use super::call::{Call, QUICK};
use super::sitter::{Sitter, Variable};
use super::{DriverError, NoDriver};
use towline_core::seat::Place;
use towline_core::typing::{Abilities, Look};

pub(super) const ABILITIES: Abilities =
    Abilities { identity: true, foreground: true, screen: true, mode: false, activity: true };

#[derive(Debug)]
pub(super) struct Pane {
    session: String,
    number: String,
    variables: Vec<Variable>,
}

impl Pane {
    pub(super) fn of(place: &Place, sitter: &Sitter) -> Result<Pane, NoDriver> {
        sitter.process().ok_or(NoDriver::Left)?;
        match (&place.server, &place.pane) {
            (Some(session), Some(number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Pane {
                session: session.clone(),
                number: number.clone(),
                variables: sitter.variables(&[
                    "PATH",
                    "HOME",
                    "TMPDIR",
                    "XDG_RUNTIME_DIR",
                    "ZELLIJ_SOCKET_DIR",
                ]),
            }),
            (_, _) => Err(NoDriver::NoPane),
        }
    }

    pub(super) fn look(&self, sitter: &Sitter) -> Look {
        let screen = self.ask("dump-screen", &["--ansi"]);
        let is_there = match &screen {
            Ok(_) => Some(self.is_pane_of(sitter)),
            Err(DriverError::Refused { .. }) => Some(false),
            Err(_) => None,
        };
        Look { is_there, last_key_at: sitter.last_input(), screen: screen.ok(), ..Look::default() }
    }

    /// Numbers are never used again in a session, and the first process in a pane was told its own.
    fn is_pane_of(&self, sitter: &Sitter) -> bool {
        sitter.opened_by().is_some_and(|(server, told)| {
            server.program_name() == PROGRAM
                && told.get("ZELLIJ_SESSION_NAME") == Some(&self.session)
                && told.get("ZELLIJ_PANE_ID") == Some(&self.number)
        })
    }

    pub(super) fn paste(&self, text: &str) -> Result<(), DriverError> {
        self.ask("paste", &["--", text]).map(drop)
    }

    pub(super) fn enter(&self) -> Result<(), DriverError> {
        self.ask("write", &[ENTER_BYTE]).map(drop)
    }

    fn ask(&self, action: &str, more: &[&str]) -> Result<String, DriverError> {
        let pane = format!("terminal_{}", self.number);
        let arguments = [&["--session", &self.session, "action", action, "--pane-id", &pane], more].concat();
        Call {
            program: PROGRAM,
            arguments: &arguments,
            variables: &self.variables,
            input: b"",
            patience: QUICK,
        }
        .run()
    }
}

const PROGRAM: &str = "zellij";

/// By its number, as this command wants it.
const ENTER_BYTE: &str = "13";
