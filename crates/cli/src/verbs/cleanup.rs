//! `tow session cleanup`: ends sessions that can no longer be probed, and removes state files of dead tmux servers.
//!
//! Ends only sessions that are gone, or that cannot be probed and were silent for a day. Deletes no history.

use crate::scope::Scope;
use clap::Args;
use std::fs;
use towline_core::arbiter::ProcessProbe;
use towline_core::event::{EventKind, ObservedChange};
use towline_core::session::Session;
use towline_engine::ingest::{bar, live};
use towline_engine::runtime::{Failure, record};
use towline_engine::status::push;
use towline_engine::status::read_marks::Look;

const EXAMPLES: &str = "\
Examples:
  tow session cleanup --dry-run       what would go
  tow session cleanup --silent-hours 4

An agent whose process has ended leaves by itself at the next refresh; this is for what cannot be looked at.";

/// Remove sessions and files whose process is gone.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// End a session whose process cannot be probed after this long without an event.
    #[arg(long, value_name = "HOURS", default_value_t = 24)]
    silent_hours: u32,
    /// Show what would be removed, change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let sessions = silent(scope, arguments)?;
    let files = push::stale_files(&scope.env.home);
    if !arguments.dry_run {
        end(scope, &sessions)?;
        for file in &files {
            let _ = fs::remove_file(file);
        }
        bar::refresh(&scope.env, Look::Nowhere)?;
    }
    let names: Vec<String> = sessions.iter().map(|session| session.key.to_string()).collect();
    if arguments.json {
        let done = serde_json::json!({"dry_run": arguments.dry_run, "sessions": names, "files": files});
        scope.out.json(&done);
        return Ok(());
    }
    let verb = if arguments.dry_run { "would end" } else { "ended" };
    names.iter().for_each(|name| scope.out.line(&format!("{verb} {name}")));
    let verb = if arguments.dry_run { "would remove" } else { "removed" };
    files.iter().for_each(|file| scope.out.line(&format!("{verb} {}", file.display())));
    if names.is_empty() && files.is_empty() {
        scope.out.line("there is nothing to clean up");
    }
    Ok(())
}

/// Sessions to end. `seated_sessions` has already ended those whose process is gone.
fn silent(scope: &Scope, arguments: &Arguments) -> Result<Vec<Session>, Failure> {
    let longest = i64::from(arguments.silent_hours) * 3_600_000;
    let is_silent = |session: &Session| scope.env.now.since_ms(session.last_event_at) >= longest;
    let sitting = live::seated_sessions(&scope.env)?.into_iter();
    let unknown =
        sitting.filter(|(_, place)| towline_engine::status::probe::process(place) == ProcessProbe::Unknown);
    Ok(unknown.map(|(session, _)| session).filter(is_silent).collect())
}

fn end(scope: &Scope, sessions: &[Session]) -> Result<(), Failure> {
    let gone = |session: &Session| {
        let happening =
            EventKind::Observed { what: ObservedChange::Gone, as_of: session.last_event_at, until: None };
        record::event(&scope.env, &session.key, happening)
    };
    record::accept(&scope.env, sessions.iter().map(gone))
}
