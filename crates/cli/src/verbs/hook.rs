//! The help text of `tow hook`.
//!
//! Runs nothing: an agent's call takes the fast path before arguments are parsed, and never gets here.

use crate::scope::Scope;
use clap::Args;
use towline_engine::runtime::Failure;

const EXAMPLES: &str = "\
The agent calls it with one JSON object on stdin; `tow install` registers it.
It always exits with 0 and prints one JSON object or nothing.
What went wrong is kept for `tow doctor`.

Example:
  tow hook AGENT < payload.json";

/// Take one event from an agent (the agents call this).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The agent's name.
    agent: Option<String>,
}

pub fn run(_: &Scope, _: &Arguments) -> Result<(), Failure> {
    Err(Failure::input("an agent's name is missing").hint("Run `tow hook --help`."))
}
