//! `tow status`: what every agent is doing, as a table or as JSON.
//!
//! Draws the list once; `--watch` opens the monitor, or prints the changes. Decides nothing.

mod changes;
mod fleet;
mod table;

use crate::monitor::{Channel, MonitorOptions, SeatFilter, SessionFilter, play, require_terminal};
use crate::output::Tone;
use crate::scope::Scope;
use crate::verbs::doctor::is_any_agent_hooked;
use crate::verbs::install::is_found;
use clap::Args;
use std::process::ExitCode;
use std::time::Duration;
use towline_agents::Agent;
use towline_core::continuing::{Hop, HopStage};
use towline_core::escape::escape_for_terminal;
use towline_core::inherit::HOUR_MS;
use towline_core::shown::SeatView;
use towline_core::time::Timestamp;
use towline_core::typing::TypingObstacle;
use towline_engine::handoff::continuing::{failure_line, overdue};
use towline_engine::handoff::typing::paused;
use towline_engine::ingest::live::{self, Glance};
use towline_engine::runtime::descriptions::Descriptions;
use towline_engine::runtime::{Failure, variable};
use towline_monitor::EndedRows;
use towline_render::status_json;
use towline_store::{HopFilter, Store};

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
    #[command(flatten)]
    filter: SeatFilter,
    /// Keep the list on the screen, as `tow monitor`; with --json, print an object after every change.
    #[arg(long)]
    watch: bool,
    /// Show the agents on all of your machines, as last reported to the hub.
    #[arg(long, conflicts_with_all = ["watch", "state", "project", "agent"])]
    fleet: bool,
    /// How to notify you while watching that an agent is done or waits; by default, as the terminal can.
    #[arg(long, requires = "watch", conflicts_with = "json")]
    notify: Option<Channel>,
}

/// How long the user waits for a writer's lock.
const PATIENCE: Duration = Duration::from_millis(300);

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    arguments.filter.check()?;
    if arguments.fleet {
        fleet::run(scope, arguments.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.watch {
        return watch(scope, arguments);
    }
    let all = live::seats(&scope.env, Glance::Thorough)?;
    let seats: Vec<SeatView> = all.iter().filter(|seat| arguments.filter.fits(seat)).cloned().collect();
    if arguments.json {
        scope.out.json(&status_json(&seats));
    } else if seats.is_empty() && arguments.filter.is_narrow() {
        scope.out.line(&arguments.filter.nobody(scope, &all)?);
    } else {
        show(scope, &seats)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the agents, a pause of typing, and continuations.
pub fn show(scope: &Scope, seats: &[SeatView]) -> Result<(), Failure> {
    print(scope, seats);
    say_pause(scope);
    say_hops(scope)
}

/// Keeps the list on the screen, or prints its changes.
fn watch(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.json {
        changes::print_changes(scope, &arguments.filter)?;
        return Ok(ExitCode::SUCCESS);
    }
    let instead = "Run `tow status`, or `tow status --watch --json` for a script.";
    require_terminal("tow status --watch", instead)?;
    let filter = SessionFilter { session: None, seats: arguments.filter.clone() };
    let channel = arguments.notify.unwrap_or_else(|| Channel::of_terminal(&variable));
    play(scope, MonitorOptions { filter, ended: EndedRows::Hidden, channel })
}

/// Reminds of a pause, because users forget it.
fn say_pause(scope: &Scope) {
    if let Some(pause) = paused(&scope.env.home, scope.env.now) {
        scope.out.line(&scope.out.tint(Tone::Warning, &TypingObstacle::Paused(pause).to_string()));
    }
}

/// Lists continuations under way, and those that failed.
fn say_hops(scope: &Scope) -> Result<(), Failure> {
    let Some(store) = Store::read(&scope.env.home, PATIENCE)? else { return Ok(()) };
    for hop in overdue(&scope.env, store.open_hops()?) {
        let (session, stage) = (hop.session.short(), hop.stage.name());
        scope.out.line(&format!("the work of {session} goes on in a fresh session ({stage})"));
    }
    let ended = store.hops(&HopFilter { limit: 20, ..HopFilter::default() })?;
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

fn print(scope: &Scope, seats: &[SeatView]) {
    if seats.is_empty() {
        let is_any_here = Agent::ALL.into_iter().any(is_found);
        let is_any_described = || !is_any_here && Descriptions::load(&scope.env).present().next().is_some();
        return scope.out.line(&match is_any_agent_hooked() || is_any_described() {
            true => "no agent is running".to_owned(),
            false if is_any_here => {
                "Towline is not set up yet: no agent is hooked. Run `tow setup`.".to_owned()
            }
            false => {
                let names = Agent::ALL.map(Agent::title).join(" or ");
                format!(
                    "Towline is not set up yet: no agent was found. Install {names}, then run `tow setup`."
                )
            }
        });
    }
    for line in table::table(seats, scope.env.now, scope.out.style()) {
        scope.out.line(line.trim_end());
    }
}
