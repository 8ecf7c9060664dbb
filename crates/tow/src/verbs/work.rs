//! `tow work`: does what nobody should wait for, then exits.
//!
//! Started by hooks when there is something to do; at most one at a time. Never stays.

use crate::cli::Scope;
use crate::config::layered;
use crate::failure::Failure;
use clap::Args;
use std::process::ExitCode;
use std::time::Duration;
use towline_store::lock::{FoldLock, WorkLock, pauses};
use towline_store::{Pace, Store, StoreError, upkeep};

const EXAMPLES: &str = "\
Examples:
  tow work            fold what is left in the journal, tidy up, say what was done
  tow work --json     the same for scripts";

/// Fold the journal, tidy the data folder, do the jobs that are due.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Say nothing.
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object.
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
}

/// What there was to do.
#[derive(Debug, Default, serde::Serialize)]
struct Report {
    folded_events: usize,
    expired_events: usize,
    expired_journal_bytes: u64,
    /// Somebody else is at it.
    busy: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let folder = |error: std::io::Error| {
        Failure::new(&StoreError::Folder { path: scope.edge.home.folder().to_owned(), source: error })
            .hint("Run `tow doctor` to see who may write there.")
    };
    scope.edge.home.create().map_err(folder)?;
    let report = match WorkLock::try_take(&scope.edge.home).map_err(folder)? {
        Some(_lock) => work(scope).map_err(|error| Failure::new(&error).hint("Run `tow doctor`."))?,
        None => Report { busy: true, ..Report::default() },
    };
    if arguments.json {
        scope.out.line(&serde_json::to_string(&report).unwrap_or_default());
    } else if !arguments.quiet {
        scope.out.line(&describe(&report));
    }
    Ok(ExitCode::SUCCESS)
}

/// The fold lock is held for each part alone, so that hooks get their turn in between.
fn work(scope: &Scope) -> Result<Report, StoreError> {
    let home = &scope.edge.home;
    let user = std::fs::read_to_string(&scope.edge.config_file).unwrap_or_default();
    let retention = layered(&user).config.retention();
    let mut report = Report::default();
    loop {
        let Some(lock) = lock(scope)? else { return Ok(Report { busy: true, ..report }) };
        let (store, folded) = Store::open_and_fold(home, &lock, &pace(scope, &|| false))?;
        report.folded_events += folded.events;
        if !folded.caught_up {
            continue;
        }
        upkeep::seal_if_large(home, &lock)?;
        let done = upkeep::run_jobs(&store, retention, scope.edge.now)?;
        report.expired_events = done.expired_events;
        report.expired_journal_bytes = done.expired_journal_bytes;
        upkeep::checkpoint(&store)?;
        return Ok(report);
    }
}

fn lock(scope: &Scope) -> Result<Option<FoldLock>, StoreError> {
    let home = &scope.edge.home;
    FoldLock::take_within(home, pauses(Duration::from_secs(10)))
        .map_err(|source| StoreError::Folder { path: home.folder().to_owned(), source })
}

fn pace<'a>(scope: &Scope, has_time: &'a dyn Fn() -> bool) -> Pace<'a> {
    Pace { has_time, now: scope.edge.now, new_machine: scope.edge.uid(), patience: Duration::from_secs(10) }
}

fn describe(report: &Report) -> String {
    if report.busy {
        return "another `tow work` or a fold is under way".to_owned();
    }
    format!(
        "folded {} events, forgot {} old ones, freed {} KB of journal",
        report.folded_events,
        report.expired_events,
        report.expired_journal_bytes / 1024
    )
}
