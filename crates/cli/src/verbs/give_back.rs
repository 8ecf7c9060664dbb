//! `tow give-back`: waits beside `tow monitor`, and restores the terminal if that process is killed.
//!
//! Started only by our full-screen programs, which pass it the terminal; it is of no use to users.

use crate::monitor::keep;
use crate::scope::Scope;
use clap::Args;
use towline_engine::runtime::Failure;

const EXAMPLES: &str = "\
Example:
  tow give-back     what `tow monitor` starts";

/// Restore the terminal of a killed `tow monitor`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {}

pub fn run(_: &Scope, _: &Arguments) -> Result<(), Failure> {
    keep().map_err(|error| Failure::about("could not keep the terminal", &error))
}
