//! `tow memory supersede`: marks a memory as no longer valid, and names its replacement.
//!
//! Erases nothing: the memory is shown as replaced, no session receives it, and `tow memory undo` restores it.

use super::change;
use crate::scope::Scope;
use clap::Args;
use towline_engine::curate::MemoryChange;
use towline_engine::runtime::Failure;

const EXAMPLES: &str = "\
Examples:
  tow memory supersede m12 --by m15
  tow memory supersede m12 --because \"we moved to Valkey\"
  tow memory undo m12                     it holds again";

/// Mark a memory as no longer valid.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Memory id, such as m12.
    #[arg(value_name = "ID")]
    id: String,
    /// The memory that replaces it.
    #[arg(long, value_name = "ID")]
    by: Option<String>,
    /// The reason.
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let change = MemoryChange::Supersede { by: arguments.by.clone(), because: arguments.because.clone() };
    change::run(scope, std::slice::from_ref(&arguments.id), &change, arguments.json)
}
