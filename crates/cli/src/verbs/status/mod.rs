//! `tow status`: what every agent is doing, as a table or as JSON.
//!
//! Draws the list that every surface draws, once or continuously. Decides nothing.

mod fleet;
mod table;
mod watch;

use crate::output::Tone;
use crate::scope::Scope;
use clap::Args;
use std::process::ExitCode;
use std::time::Duration;
use towline_core::continuing::{Hop, HopStage};
use towline_core::escape::escape_for_terminal;
use towline_core::inherit::HOUR_MS;
use towline_core::session::SessionState;
use towline_core::shown::SeatView;
use towline_core::time::Timestamp;
use towline_core::typing::TypingObstacle;
use towline_engine::handoff::continuing::{failure_line, overdue};
use towline_engine::handoff::typing::paused;
use towline_engine::ingest::live;
use towline_engine::ingest::live::Glance;
use towline_engine::runtime::failure::Failure;
use towline_render::status_json;
use towline_store::{HopFilter, Store, StoreError};

const EXAMPLES: &str = "\
Examples:
  tow status                      everything, what waits for you first
  tow status --state blocked      only what is blocked
  tow status --project app        only one project
  tow status --watch              keep it before you; ? shows the keys
  tow status --fleet              on all of your machines that have joined a hub
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
    /// Keep the list on the screen; with --json, print an object after every change.
    #[arg(long)]
    watch: bool,
    /// Show the agents on all of your machines, as last reported to the hub.
    #[arg(long, conflicts_with_all = ["watch", "state", "project", "agent"])]
    fleet: bool,
    /// How to notify you while watching that an agent is done or waits; by default, as the terminal can.
    #[arg(long, requires = "watch", conflicts_with = "json")]
    notify: Option<watch::Channel>,
}

/// How long the user waits for a writer's lock.
const PATIENCE: Duration = Duration::from_millis(300);

const NOBODY: &str = "no agent sits anywhere";

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(state) = arguments.state.as_deref().filter(|state| !SessionState::SITTING.contains(state)) {
        let hint = format!("States are: {}.", SessionState::SITTING.join(", "));
        return Err(Failure::input(format!("there is no state `{state}`")).hint(hint));
    }
    if arguments.fleet {
        return fleet::run(scope, arguments.json);
    }
    if arguments.watch {
        return watch::run(scope, arguments);
    }
    let mut seats = live::seats(&scope.env, Glance::Thorough)?;
    seats.retain(|seat| fits(seat, arguments));
    if arguments.json {
        scope.out.line(&status_json(&seats).to_string());
    } else {
        print(scope, &seats);
        say_pause(scope);
        say_hops(scope)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reminds of a pause, because users forget it.
fn say_pause(scope: &Scope) {
    if let Some(pause) = paused(&scope.env.home, scope.env.now) {
        scope.out.line(&scope.out.tint(Tone::Warning, &TypingObstacle::Paused(pause).to_string()));
    }
}

/// Lists continuations under way, and those that failed.
fn say_hops(scope: &Scope) -> Result<(), Failure> {
    let failed = |error: StoreError| Failure::new(&error).hint("Run `tow doctor`.");
    let Some(store) = Store::read(&scope.env.home, PATIENCE).map_err(failed)? else { return Ok(()) };
    for hop in overdue(&scope.env, store.open_hops().map_err(failed)?) {
        let (session, stage) = (hop.session.short(), hop.stage.name());
        scope.out.line(&format!("the work of {session} goes on in a fresh session ({stage})"));
    }
    let ended = store.hops(&HopFilter { limit: 20, ..HopFilter::default() }).map_err(failed)?;
    for hop in ended.iter().filter(|hop| is_worth_saying(hop, scope.env.now)) {
        scope.out.line(&scope.out.tint(Tone::Warning, &escape_for_terminal(&failure_line(hop))));
    }
    Ok(())
}

/// Failed continuations are shown until the user was notified, and for an hour.
fn is_worth_saying(hop: &Hop, now: Timestamp) -> bool {
    let has_ended = matches!(hop.stage, HopStage::Failed | HopStage::Stopped) && hop.given.is_none();
    has_ended && (hop.told_at.is_none() || now.since_ms(hop.moved_at) < HOUR_MS)
}

fn fits(seat: &SeatView, arguments: &Arguments) -> bool {
    let is = |wanted: &Option<String>, found: Option<&str>| wanted.is_none() || wanted.as_deref() == found;
    is(&arguments.state, Some(seat.state.name()))
        && is(&arguments.project, seat.project.as_deref())
        && is(&arguments.agent, Some(&seat.agent))
}

fn print(scope: &Scope, seats: &[SeatView]) {
    if seats.is_empty() {
        return scope.out.line(NOBODY);
    }
    for line in table::table(seats, scope.env.now, scope.out.columns()) {
        scope.out.line(line.tinted(&scope.out).trim_end());
    }
}
