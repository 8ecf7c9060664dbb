//! The interface through which the typist looks at a seat and types there.
//!
//! Decides nothing: it looks, types and presses on request.

use super::patience::nap;
use towline_agents::Agent;
use towline_core::seat::{SeatKind, SeatLocation};
use towline_core::typing::{InputLine, PaneObservation, ShownSession, TerminalAbilities};
use towline_terminal::driver::{Driver, DriverError};

/// Access to one seat: screen and keys.
pub trait Hands {
    fn abilities(&self) -> TerminalAbilities;
    fn look(&self) -> PaneObservation;
    /// The agent's input line in this look.
    fn input_line(&self, look: &PaneObservation) -> InputLine;
    /// The session that the agent shows in this look.
    fn shown(&self, look: &PaneObservation) -> ShownSession;
    /// Whether the input line holds exactly this text, as the agent renders it.
    fn is_typed(&self, held: &str, text: &str) -> bool;
    /// Whether the cursor is where the text in the input line ends; `None` if the terminal does not tell.
    fn is_cursor_at_end(&self, look: &PaneObservation) -> Option<bool>;
    /// Puts the text into the input line without Enter. Fails if the terminal saw a change since the look.
    fn type_in(&self, text: &str) -> Result<(), NotDone>;
    /// Whether the terminal counts our keys as the user's input.
    fn counts_own_keys(&self) -> bool;
    /// Presses Enter, under the same condition as `type_in`.
    fn press_enter(&self) -> Result<(), NotDone>;
}

/// Why typing or pressing failed.
pub enum NotDone {
    /// No key has reached the seat.
    Surely(String),
    /// Keys may have reached the seat: the terminal did not answer.
    Perhaps(String),
}

impl From<DriverError> for NotDone {
    fn from(error: DriverError) -> NotDone {
        match error {
            DriverError::NoAnswer { .. } => NotDone::Perhaps(error.to_string()),
            DriverError::Nothing
            | DriverError::TooLong
            | DriverError::ControlCharacter
            | DriverError::Moved
            | DriverError::NotStarted { .. }
            | DriverError::Refused { .. }
            | DriverError::NoFile { .. } => NotDone::Surely(error.to_string()),
        }
    }
}

/// Returns the hands for a place and its agent, or why there are none.
pub type ReachHands<'a> = &'a dyn Fn(&SeatLocation, Agent) -> Result<Box<dyn Hands>, String>;

/// The hands for a seat, by its terminal program.
pub fn open_hands(place: &SeatLocation, agent: Agent) -> Result<Box<dyn Hands>, String> {
    let driver = Driver::of(place).map_err(|error| error.to_string())?;
    // tmux tells its clients' keys from pastes; elsewhere the device only shows that input arrived.
    let counts_own_keys = place.kind != SeatKind::Tmux;
    Ok(Box::new(Driven { driver, agent, counts_own_keys }))
}

/// A terminal's driver, and the agent whose screen it shows.
struct Driven {
    driver: Driver,
    agent: Agent,
    counts_own_keys: bool,
}

impl Hands for Driven {
    fn abilities(&self) -> TerminalAbilities {
        self.driver.abilities()
    }

    fn look(&self) -> PaneObservation {
        self.driver.look()
    }

    fn input_line(&self, look: &PaneObservation) -> InputLine {
        let screen = look.screen.as_deref();
        screen.map_or(InputLine::Unknown, |screen| self.agent.input_line(screen, look.cursor))
    }

    fn shown(&self, look: &PaneObservation) -> ShownSession {
        look.screen.as_deref().map_or(ShownSession::Unknown, |screen| self.agent.shown_session(screen))
    }

    fn is_typed(&self, held: &str, text: &str) -> bool {
        self.agent.input_holds(held, text)
    }

    fn is_cursor_at_end(&self, look: &PaneObservation) -> Option<bool> {
        let (column, line) = look.cursor?;
        Some(self.agent.is_cursor_at_end(look.screen.as_deref()?, column, line))
    }

    fn type_in(&self, text: &str) -> Result<(), NotDone> {
        self.driver.type_in(text)?;
        nap(self.agent.paste_lasts());
        Ok(())
    }

    fn counts_own_keys(&self) -> bool {
        self.counts_own_keys
    }

    fn press_enter(&self) -> Result<(), NotDone> {
        Ok(self.driver.press_enter()?)
    }
}
