//! `tow status`: what every agent is doing, as a table or as JSON.
//!
//! Draws the list that every surface draws; text from anywhere is made harmless before it is shown.

use crate::edge::variable;
use crate::failure::Failure;
use crate::live::{self, Glance};
use crate::output::Tone;
use crate::scope::Scope;
use clap::Args;
use std::process::ExitCode;
use towline_core::escape::{fit, for_terminal, pad};
use towline_core::shown::{Light, Shown, age};

const EXAMPLES: &str = "\
Examples:
  tow status                      everything, what waits for you first
  tow status --state blocked      only what is blocked
  tow status --project app        only one project
  tow status --json | jq '.seats[] | select(.state == \"blocked\") | .pane'";

/// Show what every agent is doing and which one waits for you.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Only this state: idle, working, blocked, completed, interrupted, limited.
    #[arg(long)]
    state: Option<String>,
    /// Only this project.
    #[arg(long)]
    project: Option<String>,
    /// Only this agent.
    #[arg(long)]
    agent: Option<String>,
}

const STATES: [&str; 6] = ["idle", "working", "blocked", "completed", "interrupted", "limited"];

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(state) = arguments.state.as_deref().filter(|state| !STATES.contains(state)) {
        let hint = format!("States are: {}.", STATES.join(", "));
        return Err(Failure::input(format!("there is no state `{state}`")).hint(hint));
    }
    let mut seats = live::seats(scope, Glance::Thorough)?;
    seats.retain(|seat| fits(seat, arguments));
    if arguments.json {
        let rows: Vec<_> = seats.iter().map(row).collect();
        scope.out.line(&serde_json::json!({"seats": rows}).to_string());
    } else {
        print(scope, &seats);
    }
    Ok(ExitCode::SUCCESS)
}

fn fits(seat: &Shown, arguments: &Arguments) -> bool {
    let is = |wanted: &Option<String>, found: Option<&str>| wanted.is_none() || wanted.as_deref() == found;
    is(&arguments.state, Some(seat.state.name()))
        && is(&arguments.project, seat.project.as_deref())
        && is(&arguments.agent, Some(&seat.agent))
}

fn row(seat: &Shown) -> serde_json::Value {
    serde_json::json!({
        "seat": seat.seat,
        "agent": seat.agent,
        "session": seat.session,
        "state": seat.state.name(),
        "since": seat.since.to_utc(),
        "reason": seat.state.reason(),
        "project": seat.project,
        "branch": seat.branch,
        "prompt": seat.prompt,
        "context_percent": null,
        "model": seat.model,
        "pane": seat.pane,
        "seen": seat.seen,
    })
}

fn print(scope: &Scope, seats: &[Shown]) {
    if seats.is_empty() {
        return scope.out.line("no agent sits anywhere");
    }
    let columns = variable("COLUMNS").and_then(|columns| columns.parse().ok()).unwrap_or(100usize);
    for seat in seats {
        let place = seat.pane.as_deref().unwrap_or("-");
        let project = seat.project.as_deref().unwrap_or("?");
        let project =
            seat.branch.as_deref().map_or(project.to_owned(), |branch| format!("{project}/{branch}"));
        let waited = age(scope.edge.now.since_ms(seat.since));
        let prompt = for_terminal(seat.prompt.as_deref().unwrap_or(""));
        let state = scope.out.tint(tone(seat.light()), &pad(seat.state.name(), 11));
        let rest = format!(
            "{} {} {} {} {}",
            pad(&waited, 4),
            pad(&seat.agent, 7),
            pad(&for_terminal(place), 5),
            pad(&for_terminal(&project), 24),
            prompt
        );
        scope.out.line(&format!("{state} {}", fit(&rest, columns.saturating_sub(12)).trim_end()));
    }
}

fn tone(light: Light) -> Tone {
    match light {
        Light::Blocked => Tone::Bad,
        Light::Stopped => Tone::Warning,
        Light::Completed => Tone::Good,
        Light::Working | Light::Idle => Tone::Faint,
    }
}
