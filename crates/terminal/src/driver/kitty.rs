//! kitty windows, through kitty's remote control socket.
//!
//! kitty has no mode in which text would not reach the program: an overlay is a window of its own.

use super::call::{SLOW, exec};
use super::pane::{DriverError, ENTER, NoDriver, Terminal, bracketed, numbered_pane, presence};
use super::sitter::{AgentProcess, Variable};
use towline_core::seat::SeatLocation;
use towline_core::typing::{PaneObservation, TerminalAbilities};

#[derive(Debug)]
pub(super) struct KittyWindow {
    socket: String,
    kitty: String,
    id: String,
    variables: Vec<Variable>,
}

impl KittyWindow {
    pub(super) fn of(place: &SeatLocation, agent: &AgentProcess) -> Result<KittyWindow, NoDriver> {
        let environment = agent.process().ok_or(NoDriver::Left)?.environment();
        let socket = environment.get("KITTY_LISTEN_ON").ok_or(NoDriver::KittyRemoteControlOff)?.to_owned();
        let (kitty, id) = numbered_pane(place)?;
        Ok(KittyWindow {
            socket,
            kitty,
            id,
            variables: agent.variables(&["PATH", "HOME", "KITTY_PUBLIC_KEY"]),
        })
    }

    /// Window ids are never reused, and kitty passes the id to the first process in the window.
    fn is_window_of(&self, agent: &AgentProcess) -> bool {
        agent.opened_by().is_some_and(|(kitty, environment)| {
            kitty.pid.to_string() == self.kitty && environment.get("KITTY_WINDOW_ID") == Some(&self.id)
        })
    }

    /// Sends through standard input: in an argument, backslashes would be read as escapes.
    fn put(&self, keys: &str) -> Result<(), DriverError> {
        self.ask("send-text", &["--stdin"], keys.as_bytes()).map(drop)
    }

    fn ask(&self, order: &str, more: &[&str], input: &[u8]) -> Result<String, DriverError> {
        let window = format!("id:{}", self.id);
        let arguments = [&["@", "--to", &self.socket, order, "--match", &window], more].concat();
        exec(PROGRAM, &arguments, &self.variables, input, SLOW)
    }
}

impl Terminal for KittyWindow {
    fn abilities(&self) -> TerminalAbilities {
        TerminalAbilities { identity: true, foreground: true, screen: true, mode: true, activity: true }
    }

    fn look(&self, agent: &AgentProcess) -> PaneObservation {
        let screen = self.ask("get-text", &["--ansi", "--extent", "screen"], b"");
        let is_there = presence(&screen, || Some(self.is_window_of(agent)));
        let in_mode = is_there.map(|_| false);
        PaneObservation {
            is_there,
            in_mode,
            last_key_at: agent.last_input(),
            screen: screen.ok(),
            ..PaneObservation::default()
        }
    }

    fn paste(&self, text: &str) -> Result<(), DriverError> {
        self.put(&bracketed(text))
    }

    fn enter(&self) -> Result<(), DriverError> {
        self.put(ENTER)
    }
}

const PROGRAM: &str = "kitty";
