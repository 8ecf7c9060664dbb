//! A numbered list to choose from, for a command whose words fit several things or that was given none.
//!
//! Without a terminal it refuses, and names each candidate with the command that means it alone.

use crate::agreement::is_interactive;
use crate::output::complain;
use crate::progress;
use crate::scope::Scope;
use std::io::{self, BufRead};
use towline_core::escape::fit_to_width;
use towline_engine::runtime::Failure;

/// A list longer than a screen is no help.
const MOST: usize = 15;

/// The candidates of a choice, and the command that asks for it.
pub struct Choice<'a> {
    /// Why there is a choice: "several agents fit `app`".
    pub why: String,
    /// The command that takes a name: "tow goto".
    pub command: &'a str,
}

/// One line of the list: what is shown, and the word that names it alone.
pub struct Candidate {
    pub label: String,
    pub name: String,
}

/// The index of the chosen candidate. A single candidate is not asked about.
pub fn pick(scope: &Scope, choice: &Choice<'_>, candidates: &[Candidate]) -> Result<usize, Failure> {
    if candidates.len() == 1 {
        return Ok(0);
    }
    if !is_interactive() {
        let failure = Failure::input(&choice.why);
        let hint = |it: &Candidate| {
            let label = it.label.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("Run `{} {}` for: {label}", choice.command, it.name)
        };
        return Err(candidates.iter().take(MOST).fold(failure, |failure, it| failure.hint(hint(it))));
    }
    complain(&format!("{}:\n", choice.why));
    for (number, candidate) in (1..).zip(candidates).take(MOST) {
        let line = format!("{number:>3}  {}", candidate.label);
        complain(&format!("{}\n", fit_to_width(&line, scope.out.columns())));
    }
    complain("Number: ");
    let _held = progress::hold();
    let mut answer = String::new();
    io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Failure::about("could not read the answer", &error))?;
    let number = answer
        .trim()
        .parse::<usize>()
        .ok()
        .filter(|number| (1..=candidates.len().min(MOST)).contains(number));
    number.map(|number| number - 1).ok_or_else(|| {
        Failure::input("nothing was chosen")
            .hint(format!("Run `{} NAME` with a name of the list.", choice.command))
    })
}
