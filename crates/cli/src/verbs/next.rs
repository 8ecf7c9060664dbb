//! `tow next`: jumps to the agent that has waited for you longest.
//!
//! Does the same as `tow goto --next`, and is short enough for a key binding.

use super::goto;
use crate::scope::Scope;
use clap::Args;
use towline_engine::ingest::goto::longest_waiting;
use towline_engine::ingest::live::{self, Glance};
use towline_engine::runtime::Failure;
use towline_engine::status::tmux::conf::current_server;

const EXAMPLES: &str = "\
Examples:
  tow next
  bind-key N run-shell -b 'tow next --message'     in ~/.tmux.conf, or set @towline-key-jump";

/// Go to the agent that has waited for you longest.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// If no agent waits, say so in tmux's status line (for key bindings).
    #[arg(long)]
    message: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let seats = live::seats(&scope.env, Glance::Thorough)?;
    let server = current_server().filter(|_| arguments.message);
    match (longest_waiting(&seats), server) {
        (None, Some(server)) => server.say(goto::NOBODY_WAITS),
        (Some(_), _) | (None, None) => return goto::next(scope, &seats),
    }
    Ok(())
}
