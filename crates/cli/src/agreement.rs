//! Asking a person whether something is to be done.
//!
//! Whoever cannot be asked has not agreed: a script has to say so by an option.

use crate::output::complain;
use std::io::{self, BufRead, IsTerminal};
use towline_engine::runtime::failure::Failure;

/// Whether somebody sits there who can be asked.
pub fn can_be_asked() -> bool {
    io::stdin().is_terminal()
}

/// Puts the question, and waits for the answer. Anything but a yes is a no.
pub fn agrees(question: &str) -> Result<bool, Failure> {
    complain(&format!("{question} [y/N] "));
    let mut answer = String::new();
    io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Failure::about("could not read the answer", &error))?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}
