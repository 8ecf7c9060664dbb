//! Taking back what this person gave: shared by `unshare --withdraw` and `leave --withdraw`.
//!
//! What was begun goes on with the next exchange, whoever was stopped: only then it is over.

use super::PATIENCE;
use super::counted::Counted;
use crate::output::complain;
use crate::scope::Scope;
use std::io::{self, IsTerminal};
use std::time::Duration;
use towline_core::id::Uid;
use towline_engine::runtime::failure::Failure;
use towline_engine::sync::Amount;
use towline_engine::sync::Exchanged;
use towline_engine::sync::counted_own;
use towline_engine::sync::exchange;

/// As long as an exchange takes beside other work.
const FOR_ANOTHER: Duration = Duration::from_secs(45);

/// Counts what this person gave of these projects and has not taken back.
pub fn counted(scope: &Scope, projects: &[Uid]) -> Result<Counted, Failure> {
    Ok(Counted(counted_own(&scope.env, projects, PATIENCE)?))
}

/// Who is told how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// A person, if one watches.
    Person,
    Program,
}

/// Takes back what was noted to be, and says how far it is where somebody watches.
pub fn carry_out(scope: &Scope, audience: Audience) -> Result<Exchanged, Failure> {
    let is_watched = io::stderr().is_terminal() && audience == Audience::Person;
    let mut show = |done: &Exchanged| {
        if is_watched {
            complain(&format!("\r{} rows taken back\x1b[K", done.withdrawn));
        }
    };
    let done = exchange(&scope.env, Amount::All, FOR_ANOTHER, &mut show);
    if is_watched {
        complain("\r\x1b[K");
    }
    let done = done.map_err(|error| {
        Failure::from(error)
            .hint("Nothing goes or comes meanwhile; the rest is taken back by `tow hub sync`.")
    })?;
    if done.taken > 0 || done.erased > 0 {
        towline_engine::runtime::spawn::start_detached();
    }
    Ok(done)
}
