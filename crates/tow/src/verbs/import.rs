//! `tow import`: takes in all that the agents have written so far.
//!
//! Only reads their files. Runs as often as one likes: what is known already is not read again.

use crate::capture::{self, Imported, Transcript, Wishes};
use crate::edge::variable;
use crate::failure::Failure;
use crate::output::{Tone, plain};
use crate::progress::{size, span};
use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::Duration;
use towline_agents::Agent;

const EXAMPLES: &str = "\
Examples:
  tow import                 everything that is found
  tow import --dry-run       what would be read, and how much
  tow import --jobs 1        with one reader, to leave the machine to others
  tow import --rebuild       keep the archive aside and make a new one of what the agents still have

It may be stopped at any time and run again. The agents' own files are only read.";

/// Take in what the agents have written so far: all their transcripts.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Only what this program wrote.
    #[arg(value_name = "FROM")]
    from: Option<String>,
    /// Show what would be read, keep nothing.
    #[arg(long)]
    dry_run: bool,
    /// Move the archive aside and begin a new one.
    #[arg(long, conflicts_with = "dry_run")]
    rebuild: bool,
    /// How many files are read at once; as many as the machine has cores if not given.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let files = found(arguments)?;
    if arguments.dry_run {
        return Ok(show_plan(scope, arguments, &files));
    }
    let wishes = Wishes::load(&scope.edge)?;
    let failed = |error: &dyn std::error::Error| {
        Failure::new(error).hint("Run `tow doctor`, then `tow import` again.")
    };
    if arguments.rebuild {
        capture::set_aside(&scope.edge).map_err(|error| failed(&error))?;
    }
    let writable = capture::open(&scope.edge, Duration::from_secs(60)).map_err(|error| failed(&error))?;
    let Some(writable) = writable else {
        return Err(
            Failure::input("another import is under way").hint("Wait for it, then run `tow import` again.")
        );
    };
    let readers =
        arguments.jobs.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let imported =
        capture::import(&scope.edge, &writable, &wishes, (files, readers)).map_err(|error| failed(&error))?;
    report(scope, arguments, &imported);
    Ok(ExitCode::SUCCESS)
}

fn found(arguments: &Arguments) -> Result<Vec<Transcript>, Failure> {
    let agents: Vec<Agent> = match &arguments.from {
        None => Agent::ALL.to_vec(),
        Some(name) => vec![Agent::named(name).ok_or_else(|| unknown(name))?],
    };
    let of = |agent: Agent| {
        let paths = agent.folder(&variable).map(|folder| agent.transcripts(&folder)).unwrap_or_default();
        paths.into_iter().map(move |path| Transcript { agent, path })
    };
    Ok(agents.into_iter().flat_map(of).collect())
}

fn unknown(name: &str) -> Failure {
    let known: Vec<_> = Agent::ALL.iter().map(|agent| agent.name()).collect();
    Failure::input(format!("nothing is known to import from `{}`", plain(name)))
        .hint(format!("Give one of: {}.", known.join(", ")))
}

fn show_plan(scope: &Scope, arguments: &Arguments, files: &[Transcript]) -> ExitCode {
    let bytes: u64 =
        files.iter().filter_map(|file| std::fs::metadata(&file.path).ok()).map(|meta| meta.len()).sum();
    if arguments.json {
        scope.out.line(&json!({"dry_run": true, "files": files.len(), "bytes": bytes}).to_string());
    } else {
        scope.out.line(&format!("would read {} files, {}; nothing was kept", files.len(), size(bytes)));
    }
    ExitCode::SUCCESS
}

fn report(scope: &Scope, arguments: &Arguments, imported: &Imported) {
    let Imported { files, changed, bytes, taken, unreadable } = imported;
    if arguments.json {
        let unreadable: Vec<_> = unreadable
            .iter()
            .map(|(path, why)| json!({"path": path.to_string_lossy(), "why": why}))
            .collect();
        let done = json!({
            "files": files, "changed": changed, "bytes": bytes, "turns": taken.turns, "bodies": taken.bodies,
            "details": taken.details, "homeless": taken.homeless, "unreadable": unreadable,
            "milliseconds": scope.edge.elapsed_ms(),
        });
        return scope.out.line(&done.to_string());
    }
    let spent = scope.edge.elapsed();
    scope.out.line(&format!(
        "{files} files, {changed} with something new: {} read in {} ({}/s), {} turns, {} bodies, {} details",
        size(*bytes),
        span(spent),
        size((*bytes as f64 / spent.as_secs_f64().max(0.001)) as u64),
        taken.turns,
        taken.bodies,
        taken.details
    ));
    for (path, why) in unreadable {
        let line = format!("could not read {}: {why}", plain(&path.to_string_lossy()));
        scope.out.line(&scope.out.tint(Tone::Warning, &line));
    }
}
