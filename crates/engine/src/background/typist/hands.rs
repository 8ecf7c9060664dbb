//! What looks at a seat and types there, as the rest of typing sees it.
//!
//! Decides nothing: it looks, types and presses when it is told to.

use towline_agents::Agent;
use towline_core::seat::{Place, SeatKind};
use towline_core::typing::{Abilities, InputLine, Look, Shown};
use towline_terminal::driver::{Driver, DriverError};

/// The eyes and hands for one seat.
pub trait Hands {
    fn abilities(&self) -> Abilities;
    fn look(&self) -> Look;
    /// What a look says about the agent's input line.
    fn input_line(&self, look: &Look) -> InputLine;
    /// What a look says about the session that the agent shows.
    fn shown(&self, look: &Look) -> Shown;
    /// Whether what the input line holds is this text and nothing else, as the agent shows it.
    fn is_typed(&self, held: &str, text: &str) -> bool;
    /// Puts the text into the input line, and presses nothing. Where the terminal can tell, not if it changed since the look.
    fn type_in(&self, text: &str) -> Result<(), NotDone>;
    /// Whether what is typed here counts as somebody's typing, where that is looked at.
    fn counts_own_keys(&self) -> bool;
    /// In the same way.
    fn press_enter(&self) -> Result<(), NotDone>;
}

/// Why something was not typed or pressed.
pub enum NotDone {
    /// Nothing has reached the seat.
    Surely(String),
    /// Nobody said whether it has.
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

/// From a place and who sits there to the hands for it; why there are none.
pub type Reach<'a> = &'a dyn Fn(&Place, Agent) -> Result<Box<dyn Hands>, String>;

/// The hands for a seat, by the program that shows it.
pub fn reach(place: &Place, agent: Agent) -> Result<Box<dyn Hands>, String> {
    let driver = Driver::of(place).map_err(|error| error.to_string())?;
    // tmux knows its clients' keys from what is pasted; elsewhere the terminal's device tells that something came in.
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
    fn abilities(&self) -> Abilities {
        self.driver.abilities()
    }

    fn look(&self) -> Look {
        self.driver.look()
    }

    fn input_line(&self, look: &Look) -> InputLine {
        let screen = look.screen.as_deref();
        screen.map_or(InputLine::Unknown, |screen| self.agent.input_line(screen, look.cursor))
    }

    fn shown(&self, look: &Look) -> Shown {
        look.screen.as_deref().map_or(Shown::Unknown, |screen| self.agent.shown(screen))
    }

    fn is_typed(&self, held: &str, text: &str) -> bool {
        self.agent.is_typed(held, text)
    }

    fn type_in(&self, text: &str) -> Result<(), NotDone> {
        Ok(self.driver.type_in(text)?)
    }

    fn counts_own_keys(&self) -> bool {
        self.counts_own_keys
    }

    fn press_enter(&self) -> Result<(), NotDone> {
        Ok(self.driver.press_enter()?)
    }
}
