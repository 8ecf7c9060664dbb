//! `tow memory undo`: reverts the last change of a memory.
//!
//! One step per call. A forgotten memory is gone and cannot be restored.

use super::change;
use crate::scope::Scope;
use clap::Args;
use towline_engine::curate::MemoryChange;
use towline_engine::runtime::Failure;

const EXAMPLES: &str = "\
Examples:
  tow memory undo m12            the last of: edited, pinned, replaced, found again, released
  tow show m12            what became of it, step by step";

/// Revert the last change of memories.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Memory ids, such as m12.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    change::run(scope, &arguments.ids, &MemoryChange::Undo, arguments.json)
}
