//! Selects the driver of a seat's terminal and passes each request to it.
//!
//! Checks the text and the agent's process before every step that types.

use super::kitty::KittyWindow;
use super::osascript::ItermSession;
use super::pane::{DriverError, NoDriver, Terminal, check};
use super::screen::ScreenWindow;
use super::sitter::AgentProcess;
use super::tmux::TmuxPane;
use super::wezterm::WeztermPane;
use super::zellij::ZellijPane;
use towline_core::seat::{SeatKind, SeatLocation};
use towline_core::typing::{PaneObservation, TerminalAbilities};

/// Reads and types into one seat.
#[derive(Debug)]
pub struct Driver {
    agent: AgentProcess,
    terminal: Box<dyn Terminal>,
}

impl Driver {
    /// The driver for a seat, if its terminal has one.
    pub fn of(place: &SeatLocation) -> Result<Driver, NoDriver> {
        let agent = AgentProcess::of(place);
        let terminal: Box<dyn Terminal> = match place.kind {
            SeatKind::Tmux => Box::new(TmuxPane::of(place)?),
            SeatKind::Screen => Box::new(ScreenWindow::of(place, &agent)?),
            SeatKind::Zellij => Box::new(ZellijPane::of(place, &agent)?),
            SeatKind::Kitty => Box::new(KittyWindow::of(place, &agent)?),
            SeatKind::Wezterm => Box::new(WeztermPane::of(place, &agent)?),
            // iTerm2 is identified by the terminal's device alone; other macOS terminals say so when queried.
            SeatKind::Terminal if cfg!(target_os = "macos") => Box::new(ItermSession::of(place)?),
            SeatKind::Terminal => return Err(NoDriver::PlainTerminal),
            SeatKind::Ide => return Err(NoDriver::Editor),
        };
        Ok(Driver { agent, terminal })
    }

    /// The facts this terminal can report.
    pub fn abilities(&self) -> TerminalAbilities {
        self.terminal.abilities()
    }

    /// The seat's current state. Values that the terminal cannot report are `None`.
    pub fn look(&self) -> PaneObservation {
        PaneObservation { foreground: self.agent.foreground(), ..self.terminal.look(&self.agent) }
    }

    /// Pastes the text into the seat without submitting it.
    pub fn type_in(&self, text: &str) -> Result<(), DriverError> {
        check(text)?;
        self.check_agent()?;
        self.terminal.paste(text)
    }

    /// Submits the seat's input line.
    pub fn press_enter(&self) -> Result<(), DriverError> {
        self.check_agent()?;
        self.terminal.enter()
    }

    /// Checks once more at the last moment: looking and typing are two calls.
    fn check_agent(&self) -> Result<(), DriverError> {
        // A terminal found by its device alone shows no process.
        if !self.abilities().foreground || self.agent.process().is_some() {
            Ok(())
        } else {
            Err(DriverError::Moved)
        }
    }
}

#[cfg(test)]
mod tests;
