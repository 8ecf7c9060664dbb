//! `tow reindex`: makes the search index anew from the archive.
//!
//! Nothing is lost by it: the archive is the truth, and the old index stays until the new one is begun.

use crate::back::unreadable;
use crate::failure::Failure;
use crate::finding::{FindError, forget_index, update};
use crate::progress::Progress;
use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use std::process::ExitCode;
use std::time::Duration;
use towline_store::Archive;

const EXAMPLES: &str = "\
Examples:
  tow reindex          make the search index anew
  tow reindex --json   the same for scripts";

/// Make the search index anew from what was captured and remembered.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const PATIENCE: Duration = Duration::from_secs(5);

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let home = &scope.edge.home;
    let documents = match Archive::read(home, PATIENCE).map_err(unreadable)? {
        Some(archive) => {
            forget_index(home).map_err(unreadable)?;
            let sizes = archive.sizes().map_err(unreadable)?;
            let mut progress = Progress::of_rows();
            let mut seen =
                |rows| progress.show_rows((rows, sizes.bodies + sizes.details), scope.edge.elapsed());
            let updated = update(home, &archive, &mut seen).map_err(failed)?;
            progress.finish();
            if updated.busy {
                return Err(Failure::input("somebody else writes the index").hint("Try again in a moment."));
            }
            updated.documents
        }
        None => 0,
    };
    if arguments.json {
        scope.out.line(&json!({"documents": documents}).to_string());
    } else {
        scope.out.line(&format!("indexed {documents} documents"));
    }
    Ok(ExitCode::SUCCESS)
}

fn failed(error: FindError) -> Failure {
    match error {
        FindError::Store(error) => unreadable(error),
        FindError::Index(error) => Failure::new(&error).hint("Run `tow doctor` to see who may write there."),
    }
}
