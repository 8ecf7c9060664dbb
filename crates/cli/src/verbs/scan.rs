//! `tow session scan`: finds running agents without our hooks.
//!
//! Looks at processes and changes nothing; the other commands show the same agents.

use super::doctor::is_any_agent_hooked;
use crate::scope::Scope;
use clap::Args;
use towline_core::escape::{escape_for_terminal, pad};
use towline_core::shown::SeatView;
use towline_engine::ingest::live::{self, Glance};
use towline_engine::runtime::Failure;

const EXAMPLES: &str = "\
Examples:
  tow session scan
  tow session scan --json | jq '.strays[].pane'

An agent is found here if it was started before `tow install`, if its hooks are off or not trusted yet, or if it has
not been given a prompt yet.";

/// Find agents that run without our hooks.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let seats = live::seats(&scope.env, Glance::Thorough)?;
    let hooked = seats.iter().filter(|seat| seat.session.is_some()).count();
    let strays: Vec<&SeatView> = seats.iter().filter(|seat| seat.session.is_none()).collect();
    if arguments.json {
        let rows: Vec<_> = strays.iter().map(|stray| row(stray)).collect();
        scope.out.json(&serde_json::json!({"strays": rows}));
        return Ok(());
    }
    for stray in &strays {
        let place = stray.pane.as_deref().unwrap_or(&stray.seat);
        let state = if stray.by_screen { stray.state_name() } else { "" };
        let line = format!(
            "{} {} {} {state}",
            pad(&stray.agent, 8),
            escape_for_terminal(&stray.project_and_branch()),
            escape_for_terminal(place)
        );
        scope.out.line(line.trim_end());
    }
    scope.out.line(match (strays.len(), hooked, is_any_agent_hooked()) {
        (0, 0, true) => "no agent is running",
        (0, 0, false) => "no agent is running, and none would be hooked: run `tow setup`",
        (_, _, false) => {
            "no agent has our hooks, so nothing more is heard of any: run `tow setup` and restart them"
        }
        (0, _, true) => "every agent that runs is hooked",
        _ => "nothing was heard of these yet: if a prompt changes nothing, run `tow doctor` and restart them",
    });
    Ok(())
}

fn row(stray: &SeatView) -> serde_json::Value {
    serde_json::json!({
        "agent": stray.agent, "seat": stray.seat, "pane": stray.pane, "project": stray.project, "branch": stray.branch,
        "state": stray.by_screen.then(|| stray.state_name()),
    })
}
