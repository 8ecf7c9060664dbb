//! A pane of WezTerm, by its documented command line.
//!
//! Whether it is in copy mode is not told.

use super::call::{Call, QUICK};
use super::sitter::{Sitter, Variable};
use super::{DriverError, ENTER, NoDriver};
use serde_json::Value;
use towline_core::seat::Place;
use towline_core::typing::{Abilities, Look};

pub(super) const ABILITIES: Abilities =
    Abilities { identity: true, foreground: true, screen: true, mode: false, activity: true };

#[derive(Debug)]
pub(super) struct Pane {
    id: String,
    variables: Vec<Variable>,
}

impl Pane {
    pub(super) fn of(place: &Place, sitter: &Sitter) -> Result<Pane, NoDriver> {
        sitter.process().ok_or(NoDriver::Left)?;
        match (&place.server, &place.pane) {
            (Some(socket), Some(id)) if id.bytes().all(|byte| byte.is_ascii_digit()) => {
                let mut variables = sitter.variables(&["PATH", "HOME", "XDG_RUNTIME_DIR"]);
                variables.push(("WEZTERM_UNIX_SOCKET", socket.clone()));
                Ok(Pane { id: id.clone(), variables })
            }
            (_, _) => Err(NoDriver::NoPane),
        }
    }

    pub(super) fn look(&self, sitter: &Sitter) -> Look {
        let is_there = self
            .ask("list", &["--format", "json"], b"")
            .ok()
            .map(|list| self.terminal(&list).as_deref() == sitter.terminal() && sitter.process().is_some());
        let screen = self.ask("get-text", &["--escapes", "--pane-id", &self.id], b"").ok();
        Look { is_there, last_key_at: sitter.last_input(), screen, ..Look::default() }
    }

    /// The terminal that the list has for the pane.
    fn terminal(&self, list: &str) -> Option<String> {
        let panes: Value = serde_json::from_str(list).ok()?;
        let is_it = |pane: &&Value| pane["pane_id"].as_u64().is_some_and(|id| id.to_string() == self.id);
        let pane = panes.as_array()?.iter().find(is_it)?;
        pane["tty_name"].as_str().map(str::to_owned)
    }

    /// It puts the brackets around by itself.
    pub(super) fn paste(&self, text: &str) -> Result<(), DriverError> {
        self.ask("send-text", &["--pane-id", &self.id], text.as_bytes()).map(drop)
    }

    pub(super) fn enter(&self) -> Result<(), DriverError> {
        self.ask("send-text", &["--no-paste", "--pane-id", &self.id], ENTER.as_bytes()).map(drop)
    }

    fn ask(&self, order: &str, more: &[&str], input: &[u8]) -> Result<String, DriverError> {
        let arguments = [&["cli", "--no-auto-start", order], more].concat();
        Call { program: PROGRAM, arguments: &arguments, variables: &self.variables, input, patience: QUICK }
            .run()
    }
}

const PROGRAM: &str = "wezterm";
