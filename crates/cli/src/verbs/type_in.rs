//! `tow type`: types what is queued for a pane, and exits. Started by the process that queues an intent.
//!
//! Prints nothing: the result of each intent is in its row, and `tow typing list` shows it. A failure of the whole
//! run is recorded as a fault for `tow doctor`.

use crate::scope::Scope;
use clap::Args;
use towline_core::fault::FaultKind;
use towline_engine::background::typist;
use towline_engine::runtime::Failure;
use towline_engine::runtime::env::leave_folder;
use towline_engine::runtime::faults::record_here;

const EXAMPLES: &str = "\
Example:
  tow type tmux:4242:%3     what is started when something is to be typed; `tow typing list` shows what came of it";

/// Type what is queued for a pane.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The seat's key.
    seat: String,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    leave_folder();
    if scope.env.home.journal().exists()
        && let Err(failure) = typist::type_pending(&scope.env, &arguments.seat)
    {
        let detail = format!("nothing could be typed: {}", failure.what);
        record_here(&scope.env, FaultKind::Store, detail);
    }
    Ok(())
}
