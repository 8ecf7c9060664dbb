//! Warns an agent before a tool touches a file: one line with the file's known gotcha, once per session.
//!
//! Off by default; then agents do not call us before they touch files, which costs nothing. Never refuses a
//! call; a lookup that would have to wait is skipped.

use crate::memory::model::within;
use crate::runtime::calendar::clock;
use crate::runtime::{Config, Env, env, privacy, projects};
use std::path::Path;
use std::time::Duration;
use towline_agents::settings::{EditRefusal, Target};
use towline_agents::{Agent, PendingFiles};
use towline_core::compose::{MemorySectionKind, fence};
use towline_core::memory::choose::{CurrentWork, MemoryFormatter, choose_for_file};
use towline_core::memory::{Memory, MemoryType};
use towline_core::reply::Reply;
use towline_store::archive::{Archive, MemoryFilter, MemoryQuery};
use towline_store::{StoreError, warned};

/// An agent waits.
const PATIENCE: Duration = Duration::from_millis(100);
/// A patch may touch many files.
const FILES: usize = 5;
const NEWEST: u32 = 20;

/// The agent's hook settings. They contain the file hook only if the user enabled gotchas.
pub fn target(config: &Config, agent: Agent, folder: &Path, tow: &Path) -> Result<Target, EditRefusal> {
    if config.memory.gotchas { agent.target_with_files(folder, tow) } else { agent.target(folder, tow) }
}

/// The warning for the model before a tool touches these files.
pub fn warning(env: &Env, config: &Config, wanted: &PendingFiles) -> Result<Reply, StoreError> {
    let Some(folder) = wanted.folder.as_deref() else { return Ok(Reply::default()) };
    if privacy::is_excluded(config, folder) || config.inherits_nothing(folder) {
        return Ok(Reply::default());
    }
    let Some(archive) = Archive::open_snapshot(&env.home, PATIENCE)? else { return Ok(Reply::default()) };
    let files: Vec<&str> = wanted.paths.iter().take(FILES).map(|path| within(path, Some(folder))).collect();
    let memories = known(&archive, config, folder, &files)?;
    let told = warned::with(&env.home, &wanted.session);
    let new = memories.into_iter().filter(|memory| !told.contains(&memory.number)).collect();
    let Some((number, line)) = best(env, new, &files) else { return Ok(Reply::default()) };
    // If the note fails, the warning is repeated.
    let _ = warned::note(&env.home, &wanted.session, number);
    let context = vec![fence::around(&format!("Known of a file that is about to be touched: {line}"))];
    Ok(Reply { context, ..Reply::default() })
}

fn known(
    archive: &Archive,
    config: &Config,
    folder: &str,
    files: &[&str],
) -> Result<Vec<Memory>, StoreError> {
    let project = archive.project(&projects::traces(config, Path::new(folder)))?;
    let kind = MemoryType::parse("gotcha");
    let mut found = vec![];
    if project.is_none() {
        return Ok(found);
    }
    for file in files {
        let asked = MemoryQuery {
            project,
            kind: kind.as_ref(),
            file: Some(file),
            only: MemoryFilter::Standing,
            limit: NEWEST,
            ..MemoryQuery::default()
        };
        found.extend(archive.memories(&asked)?);
    }
    Ok(found)
}

/// The most relevant memory, worded as for a session's context.
fn best(env: &Env, memories: Vec<Memory>, files: &[&str]) -> Option<(i64, String)> {
    let numbers: Vec<(i64, String)> =
        memories.iter().map(|memory| (memory.number, format!("{} ", memory.name()))).collect();
    // Pinned memories are left to the first prompt.
    let memories = memories.into_iter().filter(|memory| memory.pinned_at.is_none()).collect();
    let here = CurrentWork {
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        ..CurrentWork::default()
    };
    let program = env::program();
    let wording =
        MemoryFormatter { program: &program, prompt: "", clock: &|at| clock(at, env.now), stale: &|_| None };
    let chosen = choose_for_file(memories, &[], &here, wording);
    let fitting = chosen.parts.into_iter().find(|part| part.kind == MemorySectionKind::Memories)?;
    let line = fitting.items.into_iter().next()?;
    let number = numbers.iter().find(|(_, name)| line.starts_with(name))?.0;
    Some((number, line))
}
