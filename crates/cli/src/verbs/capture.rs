//! `tow capture`: reads new transcript lines into the archive. Started by hooks; users run `tow data import`.
//!
//! Runs in the background: it can wait for the agent to write what the hook announced, and distil memories.
//! Prints nothing: errors are recorded as faults for `tow doctor`.

use crate::scope::Scope;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use towline_core::fault::FaultKind;
use towline_engine::capture::{Transcript, Wishes};
use towline_engine::handoff::bookmarks::{Looked, look};
use towline_engine::memory::distil::{self, Distilled};
use towline_engine::memory::enrich;
use towline_engine::runtime::archive::Writable;
use towline_engine::runtime::config::JournalSync;
use towline_engine::runtime::descriptions::writer_named;
use towline_engine::runtime::env::leave_folder;
use towline_engine::runtime::faults::record_here;
use towline_engine::runtime::spawn::at_low_priority;
use towline_engine::runtime::{Env, Failure, chain, record, settings, spawn};
use towline_engine::{capture, sync};
use towline_store::archive::TakenRows;

/// Capture new lines of an agent's transcripts.
#[derive(Debug, Args)]
pub struct Arguments {
    agent: Option<String>,
    files: Vec<PathBuf>,
    /// First record the state of the code at bookmarks that were just set.
    #[arg(long)]
    place: bool,
    /// Do not wait for the agent to write what its hook announced.
    #[arg(long)]
    at_once: bool,
}

impl Arguments {
    fn transcripts(&self, env: &Env) -> Result<Vec<Transcript>, Failure> {
        let Some(name) = &self.agent else { return Ok(vec![]) };
        let unknown =
            || Failure::input(format!("there is no agent `{name}`")).hint("Run `tow data import --help`.");
        let agent = writer_named(env, name).ok_or_else(unknown)?;
        Ok(self.files.iter().map(|path| Transcript { agent: agent.clone(), path: path.clone() }).collect())
    }
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let files = arguments.transcripts(&scope.env)?;
    leave_folder();
    let looked = if arguments.place { look(&scope.env) } else { vec![] };
    let env = &scope.env;
    let distilled = at_low_priority(
        || taken_in(env, arguments, &files).and_then(|open| distilled(env, open)),
        &mut || {},
    );
    Looked::append_all(looked, &scope.env);
    if settings(&scope.env).journal_sync == JournalSync::Turn {
        record::sync(&scope.env);
    }
    if !files.is_empty() {
        enrich::nudge(&scope.env);
        sync::nudge(&scope.env);
    }
    match distilled {
        Ok(done) if done.is_drained => {}
        Ok(_) => spawn::start_detached(env),
        Err(detail) => record_here(env, FaultKind::Store, detail),
    }
    Ok(())
}

/// Returns the open archive if something was captured.
fn taken_in(env: &Env, arguments: &Arguments, files: &[Transcript]) -> Result<Option<Writable>, String> {
    let wishes = Wishes::load(env).map_err(|failure| failure.what)?;
    let captured = match arguments.at_once {
        true => capture::capture(env, &wishes, files),
        false => capture::capture_settled(env, &wishes, files),
    };
    let captured = captured.map_err(|error| chain(&error))?;
    Ok(captured.filter(|it| it.taken != TakenRows::default()).map(|it| it.writable))
}

/// How long this process distils captured turns; `tow data work` does the rest.
const DISTILLING: Duration = Duration::from_secs(3);

fn distilled(env: &Env, open: Option<Writable>) -> Result<Distilled, String> {
    let begun = env.elapsed();
    let goes_on = || env.elapsed().saturating_sub(begun) < DISTILLING;
    distil::pending(env, &settings(env).distil, open, &goes_on).map_err(|error| chain(&error))
}
