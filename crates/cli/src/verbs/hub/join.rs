//! `tow hub join`: adds this machine to a team.
//!
//! Shares nothing by itself. Writes the configuration only after the hub has accepted the machine.

use super::common::PATIENCE;
use super::whereabouts::Whereabouts;
use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use toml_edit::Value;
use towline_core::escape::escape_for_terminal;
use towline_engine::runtime::Failure;
use towline_engine::runtime::env::host_name;
use towline_engine::sync::{NoLink, machine, note_joined, open_hands};
use towline_hub::Machine;

const EXAMPLES: &str = "\
Examples:
  tow hub join postgres://ann@hub.example/towline --team crew
  tow hub join postgres://ann@hub.example/towline --team crew --ca ~/crew-ca.pem
  tow hub join postgres://ann@127.0.0.1:5433/towline --team me --plain

The password is looked for in this order, each time that it is needed, and kept nowhere:
  1. what hub.password_command prints:  tow config set hub.password_command '[\"secret-tool\", \"lookup\", \"service\", \"towline\"]'
  2. the variable that hub.password_env names (PGPASSWORD)
  3. PGPASSFILE, or ~/.pgpass:          hub.example:5432:towline:ann:…   (chmod 600)";

/// Add this machine to a team.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// postgres://USER@HOST:5432/DATABASE, never with a password.
    url: String,
    /// The team, as `tow hub init` named it.
    #[arg(long, value_name = "NAME")]
    team: String,
    /// The machine's name; its host name if not given.
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    #[command(flatten)]
    whereabouts: Whereabouts,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let wanted = arguments.whereabouts.wanted(scope, Some(&arguments.url))?;
    let name = arguments.machine.clone().unwrap_or_else(host_name);
    let machine = Machine { name, ..machine(&scope.env)? };
    let mut hub = open_hands(&scope.env, &wanted, PATIENCE)?;
    let membership = hub.join(&arguments.team, &machine).map_err(NoLink::from)?;
    let set = |text: &str| Some(Value::from(text));
    let ca = Some(wanted.ca.as_str()).filter(|ca| !ca.is_empty()).map(Value::from);
    towline_engine::runtime::config::edit::change(
        &scope.env,
        &[
            ("hub.url", set(&wanted.url)),
            ("hub.team", set(&arguments.team)),
            ("hub.tls", set(wanted.tls.name())),
            ("hub.ca", ca),
        ],
    )?;
    note_joined(&scope.env, &membership, &machine)?;
    let all = json!({"team": arguments.team, "person": membership.person, "machine": machine.name});
    let [team, person, name] =
        [&arguments.team, &membership.person, &machine.name].map(|text| escape_for_terminal(text));
    let line = format!(
        "{name} is now a machine of {person} in the team {team}; nothing is shared yet\nnext: `tow hub share PROJECT`"
    );
    scope.out.say(arguments.json, &all, &line);
    Ok(())
}
