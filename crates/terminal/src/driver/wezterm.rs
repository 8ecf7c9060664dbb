//! WezTerm panes, through its documented command line.
//!
//! WezTerm does not report copy mode.

use super::call::{QUICK, exec};
use super::pane::{DriverError, ENTER, NoDriver, Terminal, numbered_pane};
use super::sitter::{AgentProcess, Variable};
use serde_json::Value;
use towline_core::seat::SeatLocation;
use towline_core::typing::{PaneObservation, TerminalAbilities};

#[derive(Debug)]
pub(super) struct WeztermPane {
    id: String,
    variables: Vec<Variable>,
}

impl WeztermPane {
    pub(super) fn of(place: &SeatLocation, agent: &AgentProcess) -> Result<WeztermPane, NoDriver> {
        agent.process().ok_or(NoDriver::Left)?;
        let (socket, id) = numbered_pane(place)?;
        let mut variables = agent.variables(&["PATH", "HOME", "XDG_RUNTIME_DIR"]);
        variables.push(("WEZTERM_UNIX_SOCKET", socket));
        Ok(WeztermPane { id, variables })
    }

    /// The terminal listed for the pane.
    fn terminal(&self, list: &str) -> Option<String> {
        let panes: Value = serde_json::from_str(list).ok()?;
        let is_pane = |pane: &&Value| pane["pane_id"].as_u64().is_some_and(|id| id.to_string() == self.id);
        let pane = panes.as_array()?.iter().find(is_pane)?;
        pane["tty_name"].as_str().map(str::to_owned)
    }

    fn ask(&self, order: &str, more: &[&str], input: &[u8]) -> Result<String, DriverError> {
        let arguments = [&["cli", "--no-auto-start", order], more].concat();
        exec(PROGRAM, &arguments, &self.variables, input, QUICK)
    }
}

impl Terminal for WeztermPane {
    fn abilities(&self) -> TerminalAbilities {
        TerminalAbilities { identity: true, foreground: true, screen: true, mode: false, activity: true }
    }

    fn look(&self, agent: &AgentProcess) -> PaneObservation {
        let is_there = self
            .ask("list", &["--format", "json"], b"")
            .ok()
            .map(|list| self.terminal(&list).as_deref() == agent.terminal() && agent.process().is_some());
        let screen = self.ask("get-text", &["--escapes", "--pane-id", &self.id], b"").ok();
        PaneObservation { is_there, last_key_at: agent.last_input(), screen, ..PaneObservation::default() }
    }

    /// WezTerm adds the paste brackets itself.
    fn paste(&self, text: &str) -> Result<(), DriverError> {
        self.ask("send-text", &["--pane-id", &self.id], text.as_bytes()).map(drop)
    }

    fn enter(&self) -> Result<(), DriverError> {
        self.ask("send-text", &["--no-paste", "--pane-id", &self.id], ENTER.as_bytes()).map(drop)
    }
}

const PROGRAM: &str = "wezterm";
