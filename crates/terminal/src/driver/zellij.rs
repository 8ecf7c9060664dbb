//! zellij panes, through its documented command line, which can address a pane since 0.44; older versions refuse.
//!
//! zellij does not report whether it scrolls or searches.

use super::call::{QUICK, exec};
use super::pane::{DriverError, NoDriver, Terminal, numbered_pane, presence};
use super::sitter::{AgentProcess, Variable};
use towline_core::seat::SeatLocation;
use towline_core::typing::{PaneObservation, TerminalAbilities};

#[derive(Debug)]
pub(super) struct ZellijPane {
    session: String,
    number: String,
    variables: Vec<Variable>,
}

impl ZellijPane {
    pub(super) fn of(place: &SeatLocation, agent: &AgentProcess) -> Result<ZellijPane, NoDriver> {
        agent.process().ok_or(NoDriver::Left)?;
        let (session, number) = numbered_pane(place)?;
        Ok(ZellijPane { session, number, variables: agent.variables(&VARIABLES) })
    }

    /// Pane ids are never reused in a session, and zellij passes the id to the first process in the pane.
    fn is_pane_of(&self, agent: &AgentProcess) -> bool {
        agent.opened_by().is_some_and(|(server, environment)| {
            server.program_name() == PROGRAM
                && environment.get("ZELLIJ_SESSION_NAME") == Some(&self.session)
                && environment.get("ZELLIJ_PANE_ID") == Some(&self.number)
        })
    }

    fn ask(&self, action: &str, more: &[&str]) -> Result<String, DriverError> {
        let pane = format!("terminal_{}", self.number);
        let arguments = [&["--session", &self.session, "action", action, "--pane-id", &pane], more].concat();
        exec(PROGRAM, &arguments, &self.variables, b"", QUICK)
    }
}

impl Terminal for ZellijPane {
    fn abilities(&self) -> TerminalAbilities {
        TerminalAbilities { identity: true, foreground: true, screen: true, mode: false, activity: true }
    }

    fn look(&self, agent: &AgentProcess) -> PaneObservation {
        let screen = self.ask("dump-screen", &["--ansi"]);
        let is_there = presence(&screen, || Some(self.is_pane_of(agent)));
        let (screen, last_key_at) = (screen.ok(), agent.last_input());
        PaneObservation { is_there, last_key_at, screen, ..PaneObservation::default() }
    }

    fn paste(&self, text: &str) -> Result<(), DriverError> {
        self.ask("paste", &["--", text]).map(drop)
    }

    fn enter(&self) -> Result<(), DriverError> {
        self.ask("write", &[ENTER_BYTE]).map(drop)
    }
}

const PROGRAM: &str = "zellij";

/// Those by which it finds its server.
const VARIABLES: [&str; 5] = ["PATH", "HOME", "TMPDIR", "XDG_RUNTIME_DIR", "ZELLIJ_SOCKET_DIR"];

/// Enter as a byte value, as `zellij action write` expects it.
const ENTER_BYTE: &str = "13";
