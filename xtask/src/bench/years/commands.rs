//! The commands of a user over the whole history, with their bounds.
//!
//! Only reads: what changes the data is measured elsewhere, last.

use std::process::Command;

use serde_json::Value;

use super::meter::{Bound, Ends, Row, rounds};
use super::world::World;
use crate::bench::rounds::Case;
use crate::outcome::{Failure, Result};

const SEARCH: &[Bound] = &[Bound::CpuMs(30.0), Bound::PeakMb(60.0)];
const USAGE: &[Bound] = &[Bound::CpuMs(50.0)];

/// The word of the first search after an import.
pub const COMMON_WORD: &str = "cache";
/// The project with the most sessions of the corpus.
pub const LARGEST_PROJECT: &str = "session-0";

/// A command and its bounds.
struct UserCommand<'a> {
    world: &'a World,
    arguments: Vec<String>,
    bounds: &'static [Bound],
}

impl Case for UserCommand<'_> {
    fn name(&self) -> String {
        self.arguments.join(" ")
    }

    fn process(&self, _round: usize) -> Result<(Command, Vec<u8>)> {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        Ok((self.world.tow(&arguments), Vec::new()))
    }
}

/// A session in the middle of the list of the latest ones, by its short name.
pub fn middle_session(world: &World) -> Result<String> {
    let listed = world.ask(&["session", "list", "--all-projects", "--limit", "100", "--json"])?;
    let sessions = listed["sessions"].as_array().cloned().unwrap_or_default();
    let middle = sessions.get(sessions.len() / 2).and_then(|session| session["id"].as_str());
    middle.map(str::to_owned).ok_or_else(|| Failure::malformed("`tow session list --json`", &listed))
}

fn list(session: &str) -> Vec<(String, &'static [Bound])> {
    let none: &[Bound] = &[];
    let plain = |words: &str, bounds| (words.to_owned(), bounds);
    vec![
        plain("status", none),
        plain("session list --all-projects", none),
        plain(&format!("session turns {session}"), none),
        plain(&format!("show {session}#1"), none),
        plain(&format!("session context {session}"), none),
        plain(&format!("search {COMMON_WORD} --all-projects"), SEARCH),
        plain("search rotate_thumbnail_41 --all-projects", SEARCH),
        plain("search xylophonist --all-projects", SEARCH),
        plain("search \"upper bound\" --all-projects", SEARCH),
        plain(&format!("search {COMMON_WORD} --project {LARGEST_PROJECT}"), SEARCH),
        plain("memory list --all-projects", none),
        plain("usage --since all", USAGE),
        plain("usage --since all --by session", USAGE),
        plain("usage --since all --by project", USAGE),
        plain(&format!("data export --session {session}"), none),
        plain("doctor", none),
        plain("monitor --once --width 120", none),
    ]
}

pub fn measured(world: &World, runs: usize) -> Result<Vec<Row>> {
    let session = middle_session(world)?;
    let commands: Vec<UserCommand<'_>> = list(&session)
        .into_iter()
        .map(|(words, bounds)| UserCommand { world, arguments: split(&words), bounds })
        .collect();
    let cases: Vec<(&dyn Case, Ends)> = commands
        .iter()
        .map(|command| {
            let ends = if command.arguments[0] == "doctor" { Ends::WithFindings } else { Ends::Well };
            (command as &dyn Case, ends)
        })
        .collect();
    let figures = rounds(&cases, runs)?;
    let row = |(command, figures): (&UserCommand<'_>, _)| {
        // The same name at every size.
        let name = command.name().replace(&session, "SESSION");
        Row { name, figures, bounds: command.bounds.to_vec() }
    };
    Ok(commands.iter().zip(figures).map(row).collect())
}

/// Words as a shell sees them; quotes hold a phrase together and are part of it.
fn split(words: &str) -> Vec<String> {
    let (mut all, mut in_phrase) = (vec![String::new()], false);
    for character in words.chars() {
        in_phrase ^= character == '"';
        match all.last_mut() {
            Some(last) if character != ' ' || in_phrase => last.push(character),
            _ => all.push(String::new()),
        }
    }
    all
}

/// The number of a memory of the user's archive.
pub fn any_memory(world: &World) -> Result<String> {
    let listed = world.ask(&["memory", "list", "--all-projects", "--limit", "1", "--json"])?;
    let id = |memory: &Value| memory["id"].as_str().map(str::to_owned);
    let found = listed["memories"].as_array().and_then(|all| id(all.first()?));
    found.ok_or_else(|| Failure::malformed("`tow memory list --json`", &listed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_one_word_with_its_quotes() {
        assert_eq!(split("search \"upper bound\" --all"), ["search", "\"upper bound\"", "--all"]);
    }
}
