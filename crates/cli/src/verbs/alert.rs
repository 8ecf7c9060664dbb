//! `tow alert`: waits until unseen agents are due, notifies, and ends when none is left. Started by hooks.
//!
//! Prints nothing and takes no arguments: it reads the configuration and the store.

use crate::scope::Scope;
use clap::Args;
use towline_engine::background::alert;
use towline_engine::runtime::Failure;
use towline_engine::runtime::env::leave_folder;

const EXAMPLES: &str = "\
Example:
  tow alert     what a hook starts; `tow config notify` shows what it would do";

/// Notify you of agents that stay unseen for too long.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {}

pub fn run(scope: &Scope, _: &Arguments) -> Result<(), Failure> {
    leave_folder();
    if scope.env.home.journal().exists() {
        alert::watch(&scope.env)?;
    }
    Ok(())
}
