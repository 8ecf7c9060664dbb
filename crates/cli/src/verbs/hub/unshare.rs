//! `tow hub unshare`: stops sending and receiving rows of a project.
//!
//! Keeps received rows. Sent rows stay with the team, unless `--withdraw` removes them from the hub and the
//! other machines; `tow hub private` withdraws single memories.

use super::common::not_changed;
use super::share::shared;
use super::withdraw::{carry_out, counted};
use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use towline_core::escape::escape_for_terminal;
use towline_engine::memory::remember::open;
use towline_engine::runtime::Failure;
use towline_store::archive::{SharedProject, WithdrawingProject};

const EXAMPLES: &str = "\
Examples:
  tow hub unshare app
  tow hub unshare app --dry-run
  tow hub unshare app --withdraw --dry-run    how many rows would be taken back
  tow hub unshare app --withdraw    all that you gave of it, from any of your machines, leaves the hub and the others
  tow hub private m12               takes one memory back, while its project is still shared
  tow data forget m12                    erases it here, at the hub and with everybody

What is taken back stays on the machine that made it. Stopped half-way, `tow hub sync` goes on; `tow hub unshare app` once more
leaves it at that. Your other machines give what is new until the project is unshared there, too.";

/// Stop sharing a project.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// By name, by its key, or by a folder in it.
    #[arg(value_name = "PROJECT")]
    project: String,
    /// Take back what you shared: the other machines drop it.
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
    let (project, shared) = meant(scope, &arguments.project)?;
    let name = escape_for_terminal(&project.name);
    let (told, more) = match (arguments.withdraw, arguments.dry_run) {
        (false, true) => (format!("{name} would no longer be shared"), json!({})),
        (false, false) => {
            let writing = open(&scope.env)?;
            match shared {
                Some(_) => writing.archive.unshare_project(project.row).map(drop),
                None => writing.archive.end_leaving(&project),
            }
            .map_err(not_changed)?;
            (format!("{name} is no longer shared; what was given stays with the others"), json!({}))
        }
        (true, true) => {
            let counted = counted(scope, &[project.id])?;
            let (rows, kinds) = (counted.rows(), counted.told());
            let told =
                format!("{name} would no longer be shared, and {rows} rows would be taken back{kinds}");
            (told, json!({"withdraw": true, "rows": rows, "kinds": counted.json()}))
        }
        (true, false) => {
            if let Some(shared) = shared {
                open(&scope.env)?.archive.begin_withdrawal(&shared, scope.env.now).map_err(not_changed)?;
            }
            let rows = carry_out(scope, arguments.json)?.withdrawn;
            let told = format!("{name} is no longer shared; {rows} rows were taken back");
            (told, json!({"withdraw": true, "rows": rows}))
        }
    };
    let mut all = json!({"project": project.name, "key": project.key, "dry_run": arguments.dry_run});
    if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
        all.extend(more);
    }
    scope.out.say(arguments.json, &all, &told);
    Ok(())
}

/// Finds the project, with its settings if it is shared. One that is being withdrawn is found by its name or key only.
fn meant(scope: &Scope, called: &str) -> Result<(WithdrawingProject, Option<SharedProject>), Failure> {
    let leaving = open(&scope.env)?.archive.leaving_projects().map_err(not_changed)?;
    let is_it =
        |project: &WithdrawingProject| project.key == called || project.name.eq_ignore_ascii_case(called);
    match shared(scope, called) {
        Ok(shared) => {
            let SharedProject { row, id, key, name, since, .. } = shared.clone();
            Ok((WithdrawingProject { row, id, key, name, since }, Some(shared)))
        }
        Err(failure) => leaving.into_iter().find(is_it).map(|project| (project, None)).ok_or(failure),
    }
}
