//! Looks at a terminal seat and types into it, through the program that displays it.
//!
//! Text and Enter are two steps, so that the caller can check the text before submitting it. No other key is ever sent,
//! least of all a key that interrupts. Whether typing is allowed is not decided here.

mod call;
mod kitty;
mod osascript;
mod screen;
mod sitter;
mod tmux;
mod wezterm;
mod zellij;

use sitter::AgentProcess;
use towline_core::seat::{SeatKind, SeatLocation};
use towline_core::typing::{PaneObservation, TerminalAbilities};

/// Reads and types into one seat.
#[derive(Debug)]
pub struct Driver {
    agent: AgentProcess,
    terminal: TerminalDriver,
}

#[derive(Debug)]
enum TerminalDriver {
    Tmux(tmux::TmuxPane),
    Screen(screen::ScreenWindow),
    Zellij(zellij::ZellijPane),
    Kitty(kitty::KittyWindow),
    Wezterm(wezterm::WeztermPane),
    Osascript(osascript::ItermSession),
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

impl Driver {
    /// The driver for a seat, if its terminal has one.
    pub fn of(place: &SeatLocation) -> Result<Driver, NoDriver> {
        let agent = AgentProcess::of(place);
        let terminal = match place.kind {
            SeatKind::Tmux => TerminalDriver::Tmux(tmux::TmuxPane::of(place)?),
            SeatKind::Screen => TerminalDriver::Screen(screen::ScreenWindow::of(place, &agent)?),
            SeatKind::Zellij => TerminalDriver::Zellij(zellij::ZellijPane::of(place, &agent)?),
            SeatKind::Kitty => TerminalDriver::Kitty(kitty::KittyWindow::of(place, &agent)?),
            SeatKind::Wezterm => TerminalDriver::Wezterm(wezterm::WeztermPane::of(place, &agent)?),
            // iTerm2 is identified by the terminal's device alone; other macOS terminals say so when queried.
            SeatKind::Terminal if cfg!(target_os = "macos") => {
                TerminalDriver::Osascript(osascript::ItermSession::of(place)?)
            }
            SeatKind::Terminal => return Err(NoDriver::PlainTerminal),
            SeatKind::Ide => return Err(NoDriver::Editor),
        };
        Ok(Driver { agent, terminal })
    }

    /// The facts this terminal can report.
    pub fn abilities(&self) -> TerminalAbilities {
        match &self.terminal {
            TerminalDriver::Tmux(_) => tmux::ABILITIES,
            TerminalDriver::Screen(_) => screen::ABILITIES,
            TerminalDriver::Zellij(_) => zellij::ABILITIES,
            TerminalDriver::Kitty(_) => kitty::ABILITIES,
            TerminalDriver::Wezterm(_) => wezterm::ABILITIES,
            TerminalDriver::Osascript(_) => osascript::ABILITIES,
        }
    }

    /// The seat's current state. Values that the terminal cannot report are `None`.
    pub fn look(&self) -> PaneObservation {
        let look = match &self.terminal {
            TerminalDriver::Tmux(pane) => pane.look(&self.agent),
            TerminalDriver::Screen(window) => window.look(&self.agent),
            TerminalDriver::Zellij(pane) => pane.look(&self.agent),
            TerminalDriver::Kitty(window) => window.look(&self.agent),
            TerminalDriver::Wezterm(pane) => pane.look(&self.agent),
            TerminalDriver::Osascript(session) => session.look(),
        };
        PaneObservation { foreground: self.agent.foreground(), ..look }
    }

    /// Pastes the text into the seat without submitting it.
    pub fn type_in(&self, text: &str) -> Result<(), DriverError> {
        check(text)?;
        self.check_agent()?;
        match &self.terminal {
            TerminalDriver::Tmux(pane) => pane.paste(text),
            TerminalDriver::Screen(window) => window.paste(text),
            TerminalDriver::Zellij(pane) => pane.paste(text),
            TerminalDriver::Kitty(window) => window.paste(text),
            TerminalDriver::Wezterm(pane) => pane.paste(text),
            TerminalDriver::Osascript(session) => session.paste(text),
        }
    }

    /// Submits the seat's input line.
    pub fn press_enter(&self) -> Result<(), DriverError> {
        self.check_agent()?;
        match &self.terminal {
            TerminalDriver::Tmux(pane) => pane.enter(),
            TerminalDriver::Screen(window) => window.enter(),
            TerminalDriver::Zellij(pane) => pane.enter(),
            TerminalDriver::Kitty(window) => window.enter(),
            TerminalDriver::Wezterm(pane) => pane.enter(),
            TerminalDriver::Osascript(session) => session.enter(),
        }
    }

    /// Checks once more at the last moment: looking and typing are two calls.
    fn check_agent(&self) -> Result<(), DriverError> {
        let is_found_by_device = matches!(self.terminal, TerminalDriver::Osascript(_));
        if is_found_by_device || self.agent.process().is_some() { Ok(()) } else { Err(DriverError::Moved) }
    }
}

/// A control character could end the paste and act as a key.
fn check(text: &str) -> Result<(), DriverError> {
    let is_key = |char: char| char.is_control() && char != '\n' && char != '\t';
    match text {
        "" => Err(DriverError::Nothing),
        _ if text.len() > LONGEST => Err(DriverError::TooLong),
        _ if text.contains(is_key) => Err(DriverError::ControlCharacter),
        _ => Ok(()),
    }
}

/// Bracketed paste as a terminal sends it, with CR line ends, which do not act as Enter within brackets.
fn bracketed(text: &str) -> String {
    format!("\u{1b}[200~{}\u{1b}[201~", text.replace('\n', "\r"))
}

const ENTER: &str = "\r";

#[cfg(test)]
mod tests;
