//! Withdraws the user's rows from the hub, for `unshare --withdraw` and `leave --withdraw`.
//!
//! Never abandons a withdrawal: after an interruption the next sync resumes it.

use super::common::PATIENCE;
use crate::output::complain;
use crate::scope::Scope;
use serde_json::{Map, Value};
use std::io::{self, IsTerminal};
use std::time::Duration;
use towline_core::id::Uid;
use towline_core::share::RowKind;
use towline_engine::runtime::Failure;
use towline_engine::runtime::spawn::start_detached;
use towline_engine::sync::{Amount, Exchanged, counted_own, exchange};

/// How long to wait for another process's sync, rather than rely on it: it may miss the latest changes.
const FOR_ANOTHER: Duration = Duration::from_secs(45);

/// The number of rows of each kind, as `--dry-run` prints them.
pub struct RowCounts(pub Vec<(RowKind, u64)>);

impl RowCounts {
    pub fn rows(&self) -> u64 {
        self.0.iter().map(|(_, rows)| rows).sum()
    }

    pub fn json(&self) -> Value {
        let kinds = self.0.iter().map(|(kind, rows)| (kind.name().to_owned(), (*rows).into()));
        Value::Object(kinds.collect::<Map<_, _>>())
    }

    /// Suffix for a sentence, such as `: memory 3, line 12`; empty if there are no rows.
    pub fn told(&self) -> String {
        let there = self.0.iter().filter(|(_, rows)| *rows > 0);
        let there: Vec<String> = there.map(|(kind, rows)| format!("{} {rows}", kind.name())).collect();
        if there.is_empty() { String::new() } else { format!(": {}", there.join(", ")) }
    }
}

/// Counts the user's rows of these projects that the hub still has.
pub fn counted(scope: &Scope, projects: &[Uid]) -> Result<RowCounts, Failure> {
    Ok(RowCounts(counted_own(&scope.env, projects, PATIENCE)?))
}

/// Runs the recorded withdrawals, and shows progress on a terminal.
pub fn carry_out(scope: &Scope, is_json: bool) -> Result<Exchanged, Failure> {
    let shown = |done: &Exchanged| format!("{} rows taken back", done.withdrawn);
    exchange_shown(scope, Amount::All, is_json, &shown).map_err(|failure| {
        failure.hint("Nothing goes or comes meanwhile; the rest is taken back by `tow hub sync`.")
    })
}

/// Exchanges rows with the hub, shows the progress to a person on a terminal, and indexes what was received.
pub fn exchange_shown(
    scope: &Scope,
    amount: Amount,
    is_json: bool,
    shown: &dyn Fn(&Exchanged) -> String,
) -> Result<Exchanged, Failure> {
    let is_watched = io::stderr().is_terminal() && !is_json;
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
        start_detached(&scope.env);
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_without_rows_are_told_to_programs_only() {
        let counted = RowCounts(vec![(RowKind::Memory, 3), (RowKind::Body, 0), (RowKind::Baton, 1)]);
        assert_eq!((counted.rows(), counted.told().as_str()), (4, ": memory 3, baton 1"));
        assert_eq!(counted.json().to_string(), r#"{"baton":1,"body":0,"memory":3}"#);
        assert_eq!(RowCounts(vec![(RowKind::Line, 0)]).told(), "");
    }
}
