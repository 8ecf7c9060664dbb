//! `tow wake`: waits for the end of usage limits, and sees to it that work goes on then. Started by hooks.
//!
//! Prints nothing, and takes nothing: what is wanted is in the configuration, what is waited for in the store.

use crate::edge::leave_folder;
use crate::failure::Failure;
use crate::scope::Scope;
use crate::waking;
use clap::Args;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Example:
  tow wake     what a hook starts when a usage limit is met; `tow typed` shows what came of it";

/// Wait for the end of usage limits, and go on then.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {}

pub fn run(scope: &Scope, _: &Arguments) -> Result<ExitCode, Failure> {
    leave_folder();
    waking::watch(&scope.edge)?;
    Ok(ExitCode::SUCCESS)
}
