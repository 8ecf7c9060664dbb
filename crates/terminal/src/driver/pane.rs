//! Shared by all terminals: the interface of a driver, the refusals, the limits and the bracketed paste.
//!
//! Runs no program and knows no terminal.

use super::sitter::AgentProcess;
use std::fmt::Debug;
use towline_core::seat::SeatLocation;
use towline_core::typing::{PaneObservation, TerminalAbilities};

/// One pane, window or session of a terminal program.
pub(super) trait Terminal: Debug {
    /// The facts this terminal can report.
    fn abilities(&self) -> TerminalAbilities;

    /// The pane's current state, without the agent's process. Unknown values are `None`.
    fn look(&self, agent: &AgentProcess) -> PaneObservation;

    /// Pastes the text without submitting it.
    fn paste(&self, text: &str) -> Result<(), DriverError>;

    fn enter(&self) -> Result<(), DriverError>;
}

/// Why a seat has no driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDriver {
    #[error("a plain terminal takes keys from its own window alone; run the agent in tmux")]
    PlainTerminal,
    #[error("an editor's terminal takes keys from the editor alone; run the agent in tmux")]
    Editor,
    #[error("it is not known which pane the seat is")]
    NoPane,
    #[error("the process that sat there has ended")]
    Left,
    #[error("kitty listens to nobody; set `allow_remote_control socket-only` and `listen_on` in kitty.conf")]
    KittyRemoteControlOff,
}

/// Why text was not typed. After `NoAnswer` it may have been: the caller must look.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    #[error("there is nothing to type")]
    Nothing,
    #[error("the text is longer than {LONGEST} bytes")]
    TooLong,
    #[error("the text holds a control character")]
    ControlCharacter,
    #[error("the agent's process is not on that terminal any more")]
    Moved,
    #[error("{program} could not be started: {cause}")]
    NotStarted { program: &'static str, cause: String },
    #[error("{program} does not answer")]
    NoAnswer { program: &'static str },
    #[error("{program} refused: {said}")]
    Refused { program: &'static str, said: String },
    #[error("no private file for {program} could be made: {cause}")]
    NoFile { program: &'static str, cause: String },
}

/// The longest text that arrived complete in every agent tested.
pub const LONGEST: usize = 20 * 1024;

/// A control character could end the paste and act as a key.
pub(super) fn check(text: &str) -> Result<(), DriverError> {
    let is_key = |char: char| char.is_control() && char != '\n' && char != '\t';
    match text {
        "" => Err(DriverError::Nothing),
        _ if text.len() > LONGEST => Err(DriverError::TooLong),
        _ if text.contains(is_key) => Err(DriverError::ControlCharacter),
        _ => Ok(()),
    }
}

/// The server and the pane of a seat, in a terminal that numbers its panes.
pub(super) fn numbered_pane(place: &SeatLocation) -> Result<(String, String), NoDriver> {
    match (&place.server, &place.pane) {
        (Some(server), Some(pane)) if pane.bytes().all(|byte| byte.is_ascii_digit()) => {
            Ok((server.clone(), pane.clone()))
        }
        (_, _) => Err(NoDriver::NoPane),
    }
}

/// Whether the pane is there: a terminal that answers shows it, and `is_same` decides; one that refuses has none.
pub(super) fn presence<T>(
    answer: &Result<T, DriverError>,
    is_same: impl FnOnce() -> Option<bool>,
) -> Option<bool> {
    match answer {
        Ok(_) => is_same(),
        Err(DriverError::Refused { .. }) => Some(false),
        Err(_) => None,
    }
}

/// Bracketed paste as a terminal sends it, with CR line ends, which do not act as Enter within brackets.
pub(super) fn bracketed(text: &str) -> String {
    format!("\u{1b}[200~{}\u{1b}[201~", text.replace('\n', "\r"))
}

pub(super) const ENTER: &str = "\r";
