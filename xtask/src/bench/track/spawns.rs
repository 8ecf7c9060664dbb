//! Counts the processes that an event starts: zero when nothing changes, one when something does.
//!
//! Counts with strace on real hooks in a real pane.

use super::crew::{Crew, State};
use super::refresh::USUAL_TRANSCRIPT;
use super::sitter::Order;
use super::strace::{self, Started};
use crate::bench::payload::{Agent, Payload};
use crate::bench::report::{Judgement, Table};
use crate::bench::setup::Setup;
use crate::outcome::Failure;

/// The processes started on one occasion.
pub struct Counted {
    what: &'static str,
    may_start: usize,
    started: Started,
}

/// Plays one turn; each event finds the session as the one before left it.
pub fn count(setup: &Setup) -> Result<Vec<Counted>, Failure> {
    let crew = Crew::seated(setup, &[State::Completed], USUAL_TRANSCRIPT)?;
    // Maintenance runs after a number of writes of any kind: do it beforehand.
    crew.run_tow(&["work", "--quiet"])?;
    let mut counted = Vec::new();
    for (what, event, may_start) in OCCASIONS {
        let payload = payload(setup, event)?;
        let sitter = &crew.sitters[0];
        sitter.carry_out(&Order::Trace(&payload))?;
        counted.push(Counted { what, may_start, started: strace::started(&sitter.trace())? });
    }
    let refresh = ["bar", "--refresh"];
    crew.run_tow(&refresh)?;
    let started = strace::started_by(&crew.tow(&refresh))?;
    counted.push(Counted { what: "refresh of the bar, nothing changed", may_start: 0, started });
    Ok(counted)
}

/// Occasion, event, and the number of processes that it may start.
const OCCASIONS: [(&str, &str, usize); 9] = [
    ("second Stop of a turn", "Stop", 0),
    ("Notification of a kind that means nothing", "Notification", 0),
    ("UserPromptSubmit, completed → working", "UserPromptSubmit", 1),
    ("PostToolUse while working", "PostToolUse", 0),
    ("PreToolUse while working", "PreToolUse", 0),
    ("PermissionRequest, working → blocked", "PermissionRequest", 1),
    ("second PermissionRequest while blocked", "PermissionRequest", 0),
    ("PostToolUse, blocked → working", "PostToolUse", 1),
    ("Stop, working → completed", "Stop", 1),
];

fn payload(setup: &Setup, event: &str) -> Result<Payload, Failure> {
    Ok(setup.recordings.payload(Agent::Claude, event)?.with("notification_type", "auth_success"))
}

pub fn table(counted: &[Counted]) -> Table {
    let row = |one: &Counted| {
        let programs =
            if one.started.programs.is_empty() { "–".to_owned() } else { one.started.programs.join(", ") };
        vec![one.what.to_owned(), one.started.processes.to_string(), programs, one.may_start.to_string()]
    };
    let columns = ["what happens", "processes", "programs", "may be"];
    Table::new("What is started", &columns, counted.iter().map(row).collect())
}

pub fn judge(counted: &[Counted]) -> Vec<Judgement> {
    let judgement = |one: &Counted| {
        let Started { processes, programs } = &one.started;
        let text = format!("{}: {processes} started ({})", one.what, one.may_start);
        Judgement { holds: *processes == one.may_start && programs.len() == one.may_start, text }
    };
    counted.iter().map(judgement).collect()
}
