//! What looks at a seat and types there, as the rest of typing sees it.
//!
//! Decides nothing: it looks, types and presses when it is told to.

use towline_agents::Agent;
use towline_core::seat::Place;
use towline_core::typing::{Abilities, InputLine, Look};

/// The eyes and hands for one seat.
pub trait Hands {
    fn abilities(&self) -> Abilities;
    fn look(&self) -> Look;
    /// What a screen says about the agent's input line.
    fn input_line(&self, screen: &str) -> InputLine;
    /// Whether what the input line holds is this text and nothing else, as the agent shows it.
    fn is_typed(&self, held: &str, text: &str) -> bool;
    /// Puts the text into the input line, and presses nothing. Says why it could not.
    fn type_in(&self, text: &str) -> Result<(), String>;
    /// Whether what is typed here counts as somebody's typing, where that is looked at.
    fn counts_own_keys(&self) -> bool;
    fn press_enter(&self) -> Result<(), String>;
}

/// From a place and who sits there to the hands for it; why there are none.
pub type Reach<'a> = &'a dyn Fn(&Place, Agent) -> Result<Box<dyn Hands>, String>;

/// The hands for a seat, by the program that shows it.
pub fn reach(place: &Place, _: Agent) -> Result<Box<dyn Hands>, String> {
    Err(format!("nothing can be typed into a seat of kind {}", place.kind.name()))
}
