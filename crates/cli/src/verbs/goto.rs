//! `tow goto`: switches to an agent's pane and marks it as seen.
//!
//! Types nothing and does not disturb the agent.

use super::bar;
use crate::scope::Scope;
use clap::Args;
use std::process::ExitCode;
use towline_agents::settings::quote;
use towline_core::shown::{SeatLight, SeatView};
use towline_engine::ingest::live;
use towline_engine::ingest::live::Glance;
use towline_engine::runtime::env::variable;
use towline_engine::runtime::failure::Failure;
use towline_engine::status::push::server_of;
use towline_engine::status::read_marks;
use towline_engine::status::read_marks::Look;
use towline_terminal::tmux::TmuxServer;

const EXAMPLES: &str = "\
Examples:
  tow goto %3           the agent in this tmux pane
  tow goto 01a1dd       the session whose id begins so
  tow goto --next       the one that has waited for you longest";

/// Go to the pane of an agent.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A pane, or the beginning of a session's id.
    #[arg(required_unless_present = "next")]
    seat: Option<String>,
    /// The agent that has waited longest.
    #[arg(long, conflicts_with = "seat")]
    next: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let seats = live::seats(&scope.env, Glance::Thorough)?;
    match &arguments.seat {
        Some(wanted) => go(scope, choose(&seats, wanted)?),
        None => next(scope, &seats),
    }
}

/// The seat with this pane or session id prefix. Of panes with the same name, the current tmux server's wins.
pub fn choose<'a>(seats: &'a [SeatView], wanted: &str) -> Result<&'a SeatView, Failure> {
    let fits = |seat: &&SeatView| {
        let id = seat.session.as_deref().and_then(|session| session.split_once(':')).map(|(_, id)| id);
        seat.pane.as_deref() == Some(wanted)
            || id.is_some_and(|id| id.starts_with(wanted))
            || seat.name() == wanted
            || seat.seat == wanted
    };
    let here = variable("TMUX").as_deref().and_then(TmuxServer::parse);
    let mut found: Vec<&SeatView> = seats.iter().filter(fits).collect();
    if found.len() > 1 && found.iter().any(|seat| server_of(&seat.seat) == here) {
        found.retain(|seat| server_of(&seat.seat) == here);
    }
    match found.as_slice() {
        [] => {
            Err(Failure::input(format!("no agent sits at `{wanted}`"))
                .hint("Run `tow status` for all seats."))
        }
        [seat] => Ok(seat),
        several => {
            let names: Vec<&str> = several.iter().map(|seat| seat.name()).collect();
            let what = format!("`{wanted}` is the beginning of several: {}", names.join(", "));
            Err(Failure::input(what)
                .hint("Give more of the id, or the seat as `tow status --json` names it."))
        }
    }
}

pub fn next(scope: &Scope, seats: &[SeatView]) -> Result<ExitCode, Failure> {
    match longest_waiting(seats) {
        Some(seat) => go(scope, seat),
        None => {
            scope.out.line(NOBODY_WAITS);
            Ok(ExitCode::SUCCESS)
        }
    }
}

pub const NOBODY_WAITS: &str = "nobody waits for you";

/// Seats are sorted by urgency: the first that needs the user has waited longest.
pub fn longest_waiting(seats: &[SeatView]) -> Option<&SeatView> {
    let waits = |seat: &&SeatView| {
        matches!(seat.light(), SeatLight::Blocked | SeatLight::Stopped | SeatLight::Completed)
    };
    seats.iter().find(waits)
}

/// Switches to the seat's pane and marks it as seen.
pub fn go(scope: &Scope, seat: &SeatView) -> Result<ExitCode, Failure> {
    let (Some(pane), Some(server)) = (&seat.pane, server_of(&seat.seat)) else {
        let what = format!("{} does not sit in a tmux pane", seat.name());
        return Err(Failure::input(what).hint(format!("It sits at {}.", seat.seat)));
    };
    if !server.show(pane) {
        let what = format!("pane {pane} is not there any more");
        return Err(Failure::input(what).hint("Run `tow status` for all seats."));
    }
    if server.lookers(pane).is_empty() {
        let what = format!("pane {pane} is chosen, but nobody is attached to see it");
        let attach = format!("tmux -S {} attach", quote(&server.socket));
        return Err(Failure::input(what).hint(format!("Run `{attach}`.")));
    }
    read_marks::see(&scope.env, seat)?;
    bar::refresh(scope, Look::Nowhere)
}
