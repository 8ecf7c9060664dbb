//! `tow hub leave`: removes this machine from its team.
//!
//! Deletes no local rows, neither own nor received ones. Rows sent to the hub stay there, unless `--withdraw`
//! takes them back first.

use super::common::{PATIENCE, not_changed};
use super::withdraw::{carry_out, counted};
use crate::output::complain;
use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use towline_core::escape::escape_for_terminal;
use towline_core::id::Uid;
use towline_engine::memory::remember::open;
use towline_engine::runtime::{Failure, settings};
use towline_engine::sync::{Link, NoLink, forget_hub, machine};

const EXAMPLES: &str = "\
Examples:
  tow hub leave
  tow hub leave --dry-run
  tow hub leave --withdraw              all that you gave of projects that are shared here comes back first
  tow hub leave --withdraw --dry-run    how many rows that are

Without --withdraw, what was shared stays with the team, and a hub that cannot be reached is left all the same. With it, the hub
is left when all came back: stopped half-way, `tow hub sync` goes on.";

/// Take this machine out of its team.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// First take back what you shared: the other machines drop it.
    #[arg(long)]
    withdraw: bool,
    /// Show what would be done.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let wanted = settings(&scope.env).hub;
    if !wanted.is_joined() {
        return Err(NoLink::NotJoined.into());
    }
    let name = escape_for_terminal(&wanted.team);
    let (line, json) = match (arguments.withdraw, arguments.dry_run) {
        (true, true) => {
            let counted = counted(scope, &projects(scope)?)?;
            let (rows, kinds) = (counted.rows(), counted.told());
            (
                format!("{rows} rows would be taken back, and the team {name} left{kinds}"),
                json!({"left": null, "dry_run": true, "withdraw": true, "rows": rows, "kinds": counted.json()}),
            )
        }
        (true, false) => {
            begin_withdrawal(scope)?;
            let rows = carry_out(scope, arguments.json)?.withdrawn;
            (
                format!("left the team {name}; {rows} rows were taken back"),
                json!({"left": wanted.team, "hub_told": true, "withdraw": true, "rows": rows}),
            )
        }
        (false, true) => (format!("would leave the team {name}"), json!({"left": null, "dry_run": true})),
        (false, false) => {
            let is_told = tell_hub(scope);
            forget_hub(&scope.env)?;
            (
                format!("left the team {name}; what was shared stays with it"),
                json!({"left": wanted.team, "hub_told": is_told}),
            )
        }
    };
    scope.out.say(arguments.json, &json, &line);
    Ok(())
}

/// The projects that are shared or being withdrawn.
fn projects(scope: &Scope) -> Result<Vec<Uid>, Failure> {
    let writing = open(&scope.env)?;
    let shared = writing.archive.shared_projects().map_err(not_changed)?.into_iter();
    let leaving = writing.archive.leaving_projects().map_err(not_changed)?.into_iter();
    Ok(shared.map(|project| project.id).chain(leaving.map(|project| project.id)).collect())
}

fn begin_withdrawal(scope: &Scope) -> Result<(), Failure> {
    let writing = open(&scope.env)?;
    let archive = &writing.archive;
    let begin = || {
        let shared = archive.shared_projects()?;
        shared.iter().try_for_each(|project| archive.begin_withdrawal(project, scope.env.now))?;
        archive.request_leave()
    };
    archive.in_transaction(begin).map_err(not_changed)
}

/// Only warns on failure: a machine must be able to leave a hub that no longer exists.
fn tell_hub(scope: &Scope) -> bool {
    let tell = || -> Result<(), NoLink> {
        let mut link = Link::open(&scope.env, &machine(&scope.env)?, PATIENCE)?;
        Ok(link.hub.remove_machine(&link.membership)?)
    };
    match tell() {
        Ok(()) => true,
        Err(error) => {
            complain(&format!("the hub was not told: {}\n", escape_for_terminal(&error.message())));
            false
        }
    }
}
