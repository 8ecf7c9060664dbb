//! `tow hub leave`: this machine no longer belongs to a team.
//!
//! What it has learnt stays here, and so does what came from others. What it gave stays with the others.

use super::PATIENCE;
use crate::failure::Failure;
use crate::hub::{Link, NoLink, machine};
use crate::output::complain;
use crate::remember::open;
use crate::scope::Scope;
use crate::tell::settings;
use crate::verbs::config;
use clap::Args;
use serde_json::json;
use std::process::ExitCode;
use towline_core::escape::for_terminal;
use towline_store::StoreError;

const EXAMPLES: &str = "\
Examples:
  tow hub leave
  tow hub leave --dry-run

What was shared stays with the team. A hub that cannot be reached is left all the same.";

/// Take this machine out of its team.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Say what would be done.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let wanted = settings(&scope.edge).hub;
    if !wanted.is_joined() {
        return Err(NoLink::NotJoined.into());
    }
    let team = for_terminal(&wanted.team);
    if arguments.dry_run {
        scope.out.line(&format!("would leave the team {team}"));
        return Ok(ExitCode::SUCCESS);
    }
    let is_told = tell_hub(scope);
    open(scope)?.archive.leave_hub().map_err(failed)?;
    config::change(scope, &[("hub.url", None), ("hub.team", None)])?;
    if arguments.json {
        let all = json!({"left": wanted.team, "hub_told": is_told});
        scope.out.line(&all.to_string());
    } else {
        scope.out.line(&format!("left the team {team}; what was shared stays with it"));
    }
    Ok(ExitCode::SUCCESS)
}

/// A machine of a hub that is gone must be able to leave it.
fn tell_hub(scope: &Scope) -> bool {
    let tell = || -> Result<(), NoLink> {
        let mut link = Link::open(&scope.edge, &machine(&scope.edge)?, PATIENCE)?;
        Ok(link.hub.leave(&link.membership)?)
    };
    match tell() {
        Ok(()) => true,
        Err(error) => {
            complain(&format!("the hub was not told: {}\n", for_terminal(&error.told())));
            false
        }
    }
}

fn failed(error: StoreError) -> Failure {
    Failure::about("could not change what is shared", &error).hint("Run `tow doctor`.")
}
