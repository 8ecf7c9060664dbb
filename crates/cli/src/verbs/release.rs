//! `tow memory release`: releases memories that were held back from models.
//!
//! Only a user may do this, after reading the memory.

use super::change;
use crate::scope::Scope;
use clap::Args;
use towline_engine::curate::MemoryChange;
use towline_engine::runtime::Failure;

const EXAMPLES: &str = "\
Examples:
  tow memory list --held-back      what is held back, and
  tow show m12                  why
  tow memory release m12               give it to models from now on
  tow memory hold m12                  hold it back again";

/// Release memories that were held back from models.
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
    change::run(scope, &arguments.ids, &MemoryChange::Release, arguments.json)
}
