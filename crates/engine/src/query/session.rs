//! Resolves a session by part of its id.
//!
//! Never guesses: an ambiguous name is an error that lists all candidates.

use super::past::{Past, other_project, unreadable_data};
use crate::runtime::{Failure, calendar};
use towline_core::escape::escape_for_terminal;
use towline_core::when::SessionHint;
use towline_store::archive::Conversation;

/// The one session with this name; `None` if there is none. Refused if only other projects have one, and those may not be
/// read.
pub fn call(past: &Past, hint: &SessionHint) -> Result<Option<Conversation>, Failure> {
    let mut called = past.archive.conversations_called(&hint.id).map_err(unreadable_data)?;
    called.retain(|conversation| hint.fits(&conversation.session));
    let is_called = !called.is_empty();
    let mut found = vec![];
    for conversation in called {
        if past.admits(&conversation)? {
            found.push(conversation);
        }
    }
    if is_called && found.is_empty() {
        return Err(other_project(&hint.to_string()));
    }
    if found.len() > 1 {
        let failure = Failure::input(format!("`{hint}` fits {} sessions", found.len()));
        let failure = failure.hint("Give the whole id of one of them:");
        return Err(found.iter().fold(failure, |failure, one| failure.hint(told_apart(one, past))));
    }
    Ok(found.pop())
}

fn told_apart(of: &Conversation, past: &Past) -> String {
    let project = of.project.as_deref().map_or("no project", |name| name);
    let line = past.archive.first_and_last_line(of).ok().and_then(|(first, _)| first);
    let line = line.map_or(String::new(), |line| format!(": {}", escape_for_terminal(&line)));
    let last = calendar::clock(of.last_at, past.now);
    format!("{}, {}, {} turns, last {last}{line}", of.session, escape_for_terminal(project), of.turns)
}
