//! `tow` without a command: what the agents are doing, and at most three hints for what to do next.
//!
//! Before setup it suggests `tow setup`. Changes nothing.

use super::doctor::is_any_agent_hooked;
use super::status;
use crate::scope::Scope;
use std::process::ExitCode;
use towline_core::shown::SeatView;
use towline_engine::ingest::goto::longest_waiting;
use towline_engine::ingest::live::{self, Glance};
use towline_engine::runtime::Failure;
use towline_engine::status::tmux::conf;

const MOST_HINTS: usize = 3;

pub fn run(scope: &Scope) -> Result<ExitCode, Failure> {
    let seats = live::seats(&scope.env, Glance::Thorough)?;
    status::show(scope, &seats)?;
    scope.out.line("");
    for (command, what) in hints(scope, &seats).into_iter().take(MOST_HINTS) {
        scope.out.line(&format!("  {command:<20} {what}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// The next commands, most useful first.
fn hints(scope: &Scope, seats: &[SeatView]) -> Vec<(&'static str, &'static str)> {
    if !is_any_agent_hooked() {
        return vec![
            ("tow setup", "hook into the agents on this machine"),
            ("tow demo", "watch a recorded day first; it changes nothing"),
            ("tow --help", "all commands"),
        ];
    }
    let is_waiting = longest_waiting(seats).is_some();
    let is_unheard = seats.iter().any(|seat| seat.session.is_none());
    let has_archive = scope.env.home.archive().exists();
    let hints = [
        (is_waiting, ("tow next", "go to the agent that has waited for you longest")),
        (is_unheard, ("tow doctor", "why nothing was heard of an agent yet")),
        (!has_archive, ("tow data import", "make your past sessions searchable")),
        (conf::is_worth_a_hint(), ("tow setup", "put the bar into tmux's status line")),
        (seats.is_empty(), ("tow new", "start an agent in this folder")),
        (has_archive, ("tow search WORDS", "find what was said and done")),
        (true, ("tow --help", "all commands")),
    ];
    hints.into_iter().filter_map(|(applies, hint)| applies.then_some(hint)).collect()
}
