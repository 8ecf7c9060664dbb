//! `tow next`: jumps to the agent that has waited for you longest.
//!
//! The same as `tow goto --next`, short enough for a key.

use super::goto;
use crate::failure::Failure;
use crate::live::{self, Glance};
use crate::scope::Scope;
use clap::Args;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  tow next
  bind-key N run-shell -b 'tow next'     in ~/.tmux.conf";

/// Go to the agent that has waited for you longest.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {}

pub fn run(scope: &Scope, _: &Arguments) -> Result<ExitCode, Failure> {
    goto::next(scope, &live::seats(scope, Glance::Thorough)?)
}
