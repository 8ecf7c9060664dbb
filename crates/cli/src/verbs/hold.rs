//! `tow memory hold`: withholds a memory from every model until it is released.
//!
//! Deletes nothing: the user still finds the memory, and `tow memory release` makes it available again.

use super::change;
use crate::scope::Scope;
use clap::Args;
use towline_engine::curate::MemoryChange;
use towline_engine::runtime::Failure;

const EXAMPLES: &str = "\
Examples:
  tow memory hold m12                              no model is given it from now on
  tow memory hold m12 --because 'true only for the old server'
  tow memory list --held-back                  what is held back
  tow memory release m12                           give it to models again";

/// Keep memories from every model until they are released.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Which: m12.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let change = MemoryChange::Hold { because: arguments.because.clone() };
    change::run(scope, &arguments.ids, &change, arguments.json)
}
