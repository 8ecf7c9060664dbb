//! Counts the processes that an event starts: zero when nothing changes, one when something does.
//!
//! Counts with strace on real hooks in a real pane.

use towline_agents::Agent;

use super::agent::Order;
use super::crew::{Crew, State};
use super::refresh::USUAL_TRANSCRIPT;
use super::strace::{self, Started};
use crate::bench::report::{Judgement, Table};
use crate::bench::setup::Setup;
use crate::outcome::Result;

/// Occasion, event, and the number of processes that it may start. One turn: each event finds the session as
/// the one before left it.
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

/// Plays the turn, then refreshes the bar twice.
pub fn measured(setup: &Setup) -> Result<(Table, Vec<Judgement>)> {
    let crew = Crew::start(setup, &[State::Completed], USUAL_TRANSCRIPT)?;
    // Maintenance runs after a number of writes of any kind: do it beforehand.
    crew.run_tow(&["work", "--quiet"])?;
    let (mut rows, mut judgements) = (Vec::new(), Vec::new());
    let mut count = |what: &str, may_start: usize, Started { processes, programs }: Started| {
        let names = if programs.is_empty() { "–".to_owned() } else { programs.join(", ") };
        rows.push(vec![what.to_owned(), processes.to_string(), names, may_start.to_string()]);
        let holds = processes == may_start && programs.len() == may_start;
        judgements.push(Judgement { holds, text: format!("{what}: {processes} started ({may_start})") });
    };
    for (what, event, may_start) in OCCASIONS {
        let payload = setup.recordings.payload(Agent::Claude, event)?;
        let agent = &crew.agents[0];
        agent.carry_out(&Order::Trace(&payload.with("notification_type", "auth_success")))?;
        count(what, may_start, strace::started(&agent.trace())?);
    }
    let refresh = ["bar", "--refresh"];
    crew.run_tow(&refresh)?;
    count("refresh of the bar, nothing changed", 0, strace::started_by(&crew.tow(&refresh))?);
    let columns = ["what happens", "processes", "programs", "may be"];
    Ok((Table::new("What is started", &columns, rows), judgements))
}
