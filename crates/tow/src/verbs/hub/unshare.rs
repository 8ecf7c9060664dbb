//! `tow hub unshare`: from now on nothing of a project goes, and nothing comes.
//!
//! What came from others stays here, and what went stays with them: single memories are taken back by `tow hub private`,
//! all that was forgotten goes everywhere.

use super::share::shared;
use crate::failure::Failure;
use crate::remember::open;
use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use std::process::ExitCode;
use towline_core::escape::for_terminal;
use towline_store::StoreError;
use towline_store::archive::SharedProject;

const EXAMPLES: &str = "\
Examples:
  tow hub unshare app
  tow hub unshare app --dry-run
  tow hub private m12               takes one memory back, while its project is still shared
  tow forget m12                    erases it here, at the hub and with everybody";

/// Stop sharing a project.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// By name, by its key, or by a folder in it.
    #[arg(value_name = "PROJECT")]
    project: String,
    /// Say what would be done.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let project = shared(scope, &arguments.project)?;
    if !arguments.dry_run {
        stop(scope, &project)?;
    }
    if arguments.json {
        let all = json!({"project": project.name, "key": project.key, "dry_run": arguments.dry_run});
        scope.out.line(&all.to_string());
        return Ok(ExitCode::SUCCESS);
    }
    let name = for_terminal(&project.name);
    scope.out.line(&match arguments.dry_run {
        true => format!("{name} would no longer be shared"),
        false => format!("{name} is no longer shared; what was given stays with the others"),
    });
    Ok(ExitCode::SUCCESS)
}

fn stop(scope: &Scope, project: &SharedProject) -> Result<(), Failure> {
    open(scope)?.archive.unshare_project(project.row).map(drop).map_err(failed)
}

fn failed(error: StoreError) -> Failure {
    Failure::about("could not change what is shared", &error).hint("Run `tow doctor`.")
}
