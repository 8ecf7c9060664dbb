//! `tow hub leave`: removes this machine from its team.
//!
//! Deletes no local rows, neither own nor received ones. Rows sent to the hub stay there, unless `--withdraw`
//! takes them back first.

use super::common::{PATIENCE, not_changed};
use super::withdraw::{ProgressAudience, carry_out, counted};
use crate::output::complain;
use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
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
    let told = match (arguments.withdraw, arguments.dry_run) {
        (true, true) => would_withdraw(scope, &wanted.team)?,
        (true, false) => withdraw(scope, arguments, &wanted.team)?,
        (false, true) => LeaveReport {
            line: format!("would leave the team {}", escape_for_terminal(&wanted.team)),
            json: json!({"left": null, "dry_run": true}),
        },
        (false, false) => leave(scope, &wanted.team)?,
    };
    scope.out.line(&if arguments.json { told.json.to_string() } else { told.line });
    Ok(())
}

/// The result, as text and as JSON.
struct LeaveReport {
    line: String,
    json: Value,
}

fn leave(scope: &Scope, team: &str) -> Result<LeaveReport, Failure> {
    let is_told = tell_hub(scope);
    forget_hub(&scope.env)?;
    Ok(LeaveReport {
        line: format!("left the team {}; what was shared stays with it", escape_for_terminal(team)),
        json: json!({"left": team, "hub_told": is_told}),
    })
}

fn would_withdraw(scope: &Scope, team: &str) -> Result<LeaveReport, Failure> {
    let writing = open(&scope.env)?;
    let shared =
        writing.archive.shared_projects().map_err(not_changed)?.into_iter().map(|project| project.id);
    let leaving =
        writing.archive.leaving_projects().map_err(not_changed)?.into_iter().map(|project| project.id);
    let projects: Vec<Uid> = shared.chain(leaving).collect();
    drop(writing);
    let counted = counted(scope, &projects)?;
    let (rows, kinds) = (counted.rows(), counted.told());
    Ok(LeaveReport {
        line: format!(
            "{rows} rows would be taken back, and the team {} left{kinds}",
            escape_for_terminal(team)
        ),
        json: json!({"left": null, "dry_run": true, "withdraw": true, "rows": rows, "kinds": counted.json()}),
    })
}

fn withdraw(scope: &Scope, arguments: &Arguments, team: &str) -> Result<LeaveReport, Failure> {
    let writing = open(&scope.env)?;
    let archive = &writing.archive;
    let begin = || {
        let shared = archive.shared_projects()?;
        shared.iter().try_for_each(|project| archive.begin_withdrawal(project, scope.env.now))?;
        archive.request_leave()
    };
    archive.in_transaction(begin).map_err(not_changed)?;
    drop(writing);
    let audience = ProgressAudience::of(arguments.json);
    let rows = carry_out(scope, audience)?.withdrawn;
    Ok(LeaveReport {
        line: format!("left the team {}; {rows} rows were taken back", escape_for_terminal(team)),
        json: json!({"left": team, "hub_told": true, "withdraw": true, "rows": rows}),
    })
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
