//! `tow wake`: waits for the end of usage limits, and then continues the work. Started by hooks.
//!
//! Prints nothing, and takes no arguments: settings come from the configuration, the limits from the store.

use crate::scope::Scope;
use clap::Args;
use towline_engine::background::waking;
use towline_engine::runtime::Failure;
use towline_engine::runtime::env::leave_folder;

const EXAMPLES: &str = "\
Example:
  tow wake     what a hook starts when a usage limit is met; `tow typing list` shows what came of it";

/// Wait for the end of usage limits, and go on then.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {}

pub fn run(scope: &Scope, _: &Arguments) -> Result<(), Failure> {
    leave_folder();
    waking::watch(&scope.env)
}
