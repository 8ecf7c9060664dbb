//! Yes/no questions to the user on the terminal.
//!
//! Non-interactive callers count as "no": a script must pass an option such as `--yes` instead.

use crate::output::complain;
use std::io::{self, BufRead, IsTerminal};
use towline_engine::runtime::Failure;

pub fn is_interactive() -> bool {
    io::stdin().is_terminal()
}

/// Prints the question and reads one line. Anything but a yes is a no.
pub fn confirm(question: &str) -> Result<bool, Failure> {
    complain(&format!("{question} [y/N] "));
    let mut answer = String::new();
    io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Failure::about("could not read the answer", &error))?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}
