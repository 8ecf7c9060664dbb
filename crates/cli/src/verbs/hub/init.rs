//! `tow hub init`: creates or migrates the hub's schema, or prints the SQL for it.
//!
//! Needs no superuser: the login that owns the schema is its administrator.

use super::common::{PATIENCE, without};
use super::whereabouts::Whereabouts;
use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use towline_core::escape::escape_for_terminal;
use towline_engine::runtime::Failure;
use towline_engine::sync::{NoLink, open_hands};
use towline_hub::{HubClient, HubStatus, InitOptions, InitOutcome};

const EXAMPLES: &str = "\
Examples:
  tow hub init postgres://owner@hub.example/towline --team crew --as ann
  tow hub init postgres://owner@hub.example/towline      again after an update: migrates
  tow hub init --print-sql > hub.sql                     for an administrator who runs it by psql
  tow hub init --partitions 64 postgres://owner@hub.example/towline

Whoever runs it needs the right to create a schema in that database, and nothing more. It can be run again at any time.
`--team` founds the first team, with this login as its administrator under the name that `--as` gives.";

/// Create or migrate the hub's schema in a database.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// postgres://USER@HOST:5432/DATABASE, never with a password; the configured one if not given.
    url: Option<String>,
    /// Print the SQL instead of connecting.
    #[arg(long, conflicts_with_all = ["team", "json"])]
    print_sql: bool,
    /// How many partitions the rows are divided into, by team. Cannot be changed later.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    partitions: u16,
    /// Create this team.
    #[arg(long, value_name = "NAME", requires = "person")]
    team: Option<String>,
    /// Your name in the team.
    #[arg(long = "as", value_name = "PERSON", requires = "team", id = "person")]
    person: Option<String>,
    #[command(flatten)]
    whereabouts: Whereabouts,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let schema = InitOptions { partitions: arguments.partitions };
    if arguments.print_sql {
        scope.out.text(&HubClient::sql(&schema));
        return Ok(());
    }
    let wanted = arguments.whereabouts.wanted(scope, arguments.url.as_deref())?;
    let mut hub = open_hands(&scope.env, &wanted, PATIENCE)?;
    let done = hub.init(&schema).map_err(NoLink::from)?;
    let standing = hub.server_status().map_err(NoLink::from)?;
    if let (Some(team), Some(person)) = (&arguments.team, &arguments.person) {
        hub.found_team(team, person).map_err(NoLink::from)?;
    }
    tell(scope, arguments, &done, &standing);
    Ok(())
}

fn tell(scope: &Scope, arguments: &Arguments, done: &InitOutcome, standing: &HubStatus) {
    let without = without(standing);
    if arguments.json {
        let all =
            json!({"version": done.now, "was": done.before, "without": without, "team": arguments.team});
        return scope.out.json(&all);
    }
    let now = done.now;
    scope.out.line(&match done.before {
        None => format!("made the hub's schema, version {now}"),
        Some(before) if before < now => format!("migrated the hub's schema from {before} to {now}"),
        Some(_) => format!("the hub's schema is version {now} already"),
    });
    for name in &without {
        scope.out.line(&format!("without {name}: search does without it"));
    }
    if let (Some(team), Some(person)) = (&arguments.team, &arguments.person) {
        let (team, person) = (escape_for_terminal(team), escape_for_terminal(person));
        scope.out.line(&format!(
            "the team {team} is there, and you are {person}; add others by `tow hub members add`"
        ));
    }
    scope.out.line("next: `tow hub join URL --team TEAM` on each machine");
}
