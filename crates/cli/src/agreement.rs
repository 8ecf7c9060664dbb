//! Yes/no questions to the user on the terminal.
//!
//! Non-interactive callers count as "no": a script must pass an option such as `--yes` instead.

use crate::output::complain;
use crate::progress;
use std::io::{self, BufRead, IsTerminal};
use towline_engine::runtime::Failure;

pub fn is_interactive() -> bool {
    io::stdin().is_terminal()
}

/// Prints the question and reads one line. Anything but a yes is a no.
pub fn confirm(question: &str) -> Result<bool, Failure> {
    Ok(["y", "yes"].contains(&answer(question, "[y/N]")?.as_str()))
}

/// The same for harmless steps: Enter alone is a yes.
pub fn agree(question: &str) -> Result<bool, Failure> {
    Ok(["", "y", "yes"].contains(&answer(question, "[Y/n]")?.as_str()))
}

fn answer(question: &str, choice: &str) -> Result<String, Failure> {
    complain(&format!("{question} {choice} "));
    let _held = progress::hold();
    let mut answer = String::new();
    let read = io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Failure::about("could not read the answer", &error))?;
    // The end of the input is no answer: Ctrl-D agrees to nothing.
    Ok(if read == 0 { "no".to_owned() } else { answer.trim().to_lowercase() })
}
