//! `tow doctor`: checks the set-up and the data, and names a fix for each finding.
//!
//! Applies and repairs nothing. It only creates a missing data folder, and clears faults on request.

mod agents;
mod archive;
mod capture;
mod check;
mod data;
mod described;
mod editor;
mod hub;
mod models;
mod otlp;
mod search;
mod space;
mod tmux;

pub use agents::is_any_agent_hooked;

use crate::output::Tone;
use crate::scope::Scope;
use archive::Depth;
use check::{Check, Status};
use clap::Args;
use std::process::ExitCode;
use towline_engine::runtime::text::plain_text;
use towline_engine::runtime::{Failure, Kind};
use towline_terminal::process::uncollected;

const EXAMPLES: &str = "\
Examples:
  tow doctor
  tow doctor --json | jq '.checks[] | select(.status != \"good\")'
  tow doctor --deep              check every page of a large archive, too
  tow doctor --forget-faults     they have been dealt with
  tow doctor --agent NAME        compare the description of an agent with what is found of it

Exits with 1 if anything is bad; warnings alone exit with 0.";

/// Check set-up and data, with the command that fixes each finding.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Check every page of the archive, however large it is.
    #[arg(long)]
    deep: bool,
    /// Check only the description of this agent: `agents/NAME.toml` beside the configuration, or one that is shipped.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["deep", "forget_faults"])]
    agent: Option<String>,
    /// Clear the faults that are listed.
    #[arg(long)]
    forget_faults: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let checks = match &arguments.agent {
        Some(name) => described::of(scope, name)?,
        None => everything(scope, arguments)?,
    };
    let is_bad = checks.iter().any(|check| check.status == Status::Bad);
    if arguments.json {
        let report =
            serde_json::json!({"ok": !is_bad, "version": env!("CARGO_PKG_VERSION"), "checks": checks});
        scope.out.json(&report);
    } else {
        print(scope, &checks);
    }
    Ok(if is_bad { Kind::Failed.exit_code() } else { ExitCode::SUCCESS })
}

fn everything(scope: &Scope, arguments: &Arguments) -> Result<Vec<Check>, Failure> {
    let mut checks = vec![agents::program()];
    checks.extend(agents::all());
    checks.extend(described::unusable(scope));
    checks.extend(tmux::all(scope));
    checks.extend(data::all(scope));
    checks.push(archive::check(scope, if arguments.deep { Depth::EveryPage } else { Depth::IfSmall }));
    checks.push(space::check(scope));
    checks.extend(capture::all(scope));
    checks.push(models::check(scope));
    checks.push(search::check(scope));
    checks.extend(hub::check(scope));
    checks.extend(otlp::check(scope));
    checks.extend(editor::check());
    checks.extend(uncollected_processes());
    if arguments.forget_faults {
        data::forget_faults(scope)?;
    }
    Ok(checks)
}

/// A few may be ending just now.
const MOST_ENDING: usize = 3;

fn uncollected_processes() -> Option<Check> {
    let count = Some(uncollected()).filter(|count| *count > MOST_ENDING)?;
    let detail = format!("{count} ended processes of tow are not collected: process 1 here is no init");
    Some(Check::warning("processes", detail, "start the container with an init, such as `docker run --init`"))
}

fn print(scope: &Scope, checks: &[Check]) {
    let width = checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    for check in checks {
        let (tone, mark) = match check.status {
            Status::Good => (Tone::Good, "ok  "),
            Status::Warning => (Tone::Warning, "warn"),
            Status::Bad => (Tone::Bad, "bad "),
        };
        let name = format!("{:width$}", check.name);
        scope.out.line(&format!("{} {name}  {}", scope.out.tint(tone, mark), plain_text(&check.detail)));
        if let Some(mend) = &check.mend {
            let what = if check.status == Status::Good { "next" } else { "fix" };
            let line = scope.out.tint(Tone::Faint, &format!("{what}: {}", plain_text(mend)));
            scope.out.line(&format!("     {:width$}  {line}", ""));
        }
    }
}
