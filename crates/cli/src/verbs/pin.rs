//! `tow memory pin`: pins memories, which every session of the project then receives.
//!
//! Pins only memories that models may receive.

use super::change;
use crate::scope::Scope;
use clap::Args;
use towline_engine::curate::MemoryChange;
use towline_engine::runtime::Failure;

const EXAMPLES: &str = "\
Examples:
  tow memory pin m12 m15
  tow memory pin --off m12
  tow memory list --pinned      those that are";

/// Pin memories: every session of their project receives them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Memory ids, such as m12.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Unpin them instead.
    #[arg(long)]
    off: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let change = if arguments.off { MemoryChange::Unpin } else { MemoryChange::Pin };
    change::run(scope, &arguments.ids, &change, arguments.json)
}
