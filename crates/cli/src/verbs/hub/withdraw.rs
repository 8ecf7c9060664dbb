//! Withdraws the user's rows from the hub, for `unshare --withdraw` and `leave --withdraw`.
//!
//! Never abandons a withdrawal: after an interruption the next sync resumes it.

use super::common::PATIENCE;
use super::counted::RowCounts;
use crate::output::complain;
use crate::scope::Scope;
use std::io::{self, IsTerminal};
use std::time::Duration;
use towline_core::id::Uid;
use towline_engine::runtime::Failure;
use towline_engine::runtime::spawn::start_detached;
use towline_engine::sync::{Amount, Exchanged, counted_own, exchange};

/// How long to wait for another process's sync, rather than rely on it: it may miss the latest changes.
const FOR_ANOTHER: Duration = Duration::from_secs(45);

/// Counts the user's rows of these projects that the hub still has.
pub fn counted(scope: &Scope, projects: &[Uid]) -> Result<RowCounts, Failure> {
    Ok(RowCounts(counted_own(&scope.env, projects, PATIENCE)?))
}

/// The reader of progress output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressAudience {
    /// Shown if stderr is a terminal.
    Person,
    Program,
}

impl ProgressAudience {
    pub fn of(is_json: bool) -> ProgressAudience {
        if is_json { ProgressAudience::Program } else { ProgressAudience::Person }
    }
}

/// Runs the recorded withdrawals, and shows progress on a terminal.
pub fn carry_out(scope: &Scope, audience: ProgressAudience) -> Result<Exchanged, Failure> {
    let shown = |done: &Exchanged| format!("{} rows taken back", done.withdrawn);
    exchange_shown(scope, Amount::All, audience, &shown).map_err(|failure| {
        failure.hint("Nothing goes or comes meanwhile; the rest is taken back by `tow hub sync`.")
    })
}

/// Exchanges rows with the hub, shows the progress on a terminal, and indexes what was received.
pub fn exchange_shown(
    scope: &Scope,
    amount: Amount,
    audience: ProgressAudience,
    shown: &dyn Fn(&Exchanged) -> String,
) -> Result<Exchanged, Failure> {
    let is_watched = io::stderr().is_terminal() && audience == ProgressAudience::Person;
    let mut show = |done: &Exchanged| {
        if is_watched {
            complain(&format!("\r{}\x1b[K", shown(done)));
        }
    };
    let done = exchange(&scope.env, amount, FOR_ANOTHER, &mut show);
    if is_watched {
        complain("\r\x1b[K");
    }
    let done = done?;
    if done.taken > 0 || done.erased > 0 {
        start_detached();
    }
    Ok(done)
}
