//! `tow give-back`: waits beside a program that draws on a terminal, and gives the terminal back if that one is killed.
//!
//! Started by such programs of ours, with what they share; there is nothing to run here for a person.

use crate::monitor::keep;
use crate::scope::Scope;
use clap::Args;
use std::process::ExitCode;
use towline_engine::runtime::failure::Failure;

const EXAMPLES: &str = "\
Example:
  tow give-back     what `tow monitor` starts";

/// Give a terminal back whose owner was killed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {}

pub fn run(_: &Scope, _: &Arguments) -> Result<ExitCode, Failure> {
    keep().map_err(|error| Failure::about("could not keep the terminal", &error))?;
    Ok(ExitCode::SUCCESS)
}
