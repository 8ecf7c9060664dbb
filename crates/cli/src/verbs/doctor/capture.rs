//! Doctor check of capturing: each agent's current session, compared with what the archive has of it.
//!
//! Looks at sizes and times, and opens no transcript.

use super::check::Check;
use crate::scope::Scope;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use towline_agents::Agent;
use towline_core::time::Timestamp;
use towline_engine::runtime::text::size;
use towline_engine::runtime::variable;
use towline_engine::status::probe::written_at;
use towline_store::archive::SessionQuery;
use towline_store::{Archive, StoreError};

const PATIENCE: Duration = Duration::from_millis(500);

/// A turn that still runs is captured at its end; what was written longer ago should be there.
const CAPTURED_WITHIN_MS: i64 = 60_000;

pub fn all(scope: &Scope) -> Vec<Check> {
    // The check of the archive reports one that is missing or cannot be read.
    let Ok(Some(archive)) = Archive::read(&scope.env.home, PATIENCE) else { return vec![] };
    Agent::ALL.into_iter().filter_map(|agent| of_one(scope, agent, &archive).ok().flatten()).collect()
}

fn of_one(scope: &Scope, agent: Agent, archive: &Archive) -> Result<Option<Check>, StoreError> {
    let Some(path) = current(agent) else { return Ok(None) };
    let bytes = fs::metadata(&path).map_or(0, |meta| meta.len());
    let read = archive.source(&path.to_string_lossy())?.map_or(0, |source| source.reading.offset);
    let asked =
        SessionQuery { project: None, agent: Some(agent.name()), since: Timestamp(0), behind: None, most: 1 };
    let last = archive.find_sessions(&asked)?.pop();
    let last = last.map_or_else(
        || "none was captured yet".to_owned(),
        |last| format!("the last captured one is {}", last.short),
    );
    let (name, session) = (format!("{} capture", agent.name()), short(&path));
    let is_recent = written_at(&path).is_some_and(|at| scope.env.now.since_ms(at) < CAPTURED_WITHIN_MS);
    Ok(Some(match bytes.saturating_sub(read) {
        0 => Check::good(name, format!("the current session {session} is captured")),
        left if is_recent => Check::good(
            name,
            format!("the current session {session} is being written, {} are not captured yet", size(left)),
        ),
        left => Check::warning(
            name,
            format!("{} of the current session {session} are not captured; {last}", size(left)),
            "tow data import; if it stays so, its folder is excluded (`tow config get privacy.exclude_projects`)",
        ),
    }))
}

/// The transcript of the session that runs this command, or else the one written last.
fn current(agent: Agent) -> Option<PathBuf> {
    let files = agent.main_transcripts(&agent.folder(&variable)?);
    let id = variable(agent.session_variable());
    let is_it = |path: &&PathBuf| id.as_deref().is_some_and(|id| stem(path).ends_with(id));
    let newest = || files.iter().max_by_key(|path| written_at(path).unwrap_or(Timestamp(0)));
    files.iter().find(is_it).or_else(newest).cloned()
}

/// As sessions are called everywhere: the end of the id, with which the name of the file ends.
fn short(path: &Path) -> String {
    let stem = stem(path);
    let skipped = stem.chars().count().saturating_sub(8);
    stem.chars().skip(skipped).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
