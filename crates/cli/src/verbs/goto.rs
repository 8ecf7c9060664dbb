//! `tow goto`: switches to an agent's pane and marks it as seen.
//!
//! `engine::ingest::goto` switches; this prints.

use crate::scope::Scope;
use clap::Args;
use towline_core::shown::SeatView;
use towline_engine::ingest::live::Glance;
use towline_engine::ingest::{goto, live};
use towline_engine::runtime::Failure;

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

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let seats = live::seats(&scope.env, Glance::Thorough)?;
    match &arguments.seat {
        Some(wanted) => goto::go(&scope.env, goto::choose(&seats, wanted)?),
        None => next(scope, &seats),
    }
}

pub fn next(scope: &Scope, seats: &[SeatView]) -> Result<(), Failure> {
    match goto::longest_waiting(seats) {
        Some(seat) => goto::go(&scope.env, seat)?,
        None => scope.out.line(NOBODY_WAITS),
    }
    Ok(())
}

pub const NOBODY_WAITS: &str = "nobody waits for you";
