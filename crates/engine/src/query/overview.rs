//! Queries of the viewer that no command answers: relations of a session, projects, summaries, faults, counts.
//!
//! Only reads, and waits for no lock longer than a web page may.

use super::past::{project_called, unreadable_data};
use crate::ingest::live;
use crate::runtime::{Env, Failure};
use std::path::Path;
use std::time::Duration;
use towline_core::fault::FaultRecord;
use towline_core::id::SessionKey;
use towline_core::memory::{Memory, number};
pub use towline_store::archive::{ArchiveCounts, ContextPoint, Conversation, KeptSummary, ProjectCounts};
use towline_store::{Archive, DataFolder, InheritanceFilter, Store};
pub use towline_store::{FaultRow, Inheritance};

/// How long a read waits for a database lock.
const PATIENCE: Duration = Duration::from_millis(500);

/// Limit of inheritance steps that are followed.
const MOST_STEPS: u32 = 100;

/// The inheritance links of a session's chain: to its predecessors, and to its successors.
#[derive(Debug, Default)]
pub struct InheritanceChain {
    pub from: Vec<Inheritance>,
    pub to: Vec<Inheritance>,
}

pub fn inheritance(env: &Env, key: &SessionKey) -> Result<InheritanceChain, Failure> {
    let mut chain = InheritanceChain::default();
    let Some(store) = live::store(env)? else { return Ok(chain) };
    let (mut wanted, mut met) = (vec![key.clone()], vec![key.clone()]);
    while let Some(one) = wanted.pop().filter(|_| met.len() < MOST_STEPS as usize) {
        let filter =
            InheritanceFilter { session: Some(&one), limit: MOST_STEPS, ..InheritanceFilter::default() };
        for link in store.inheritances(&filter).map_err(unreadable_data)? {
            let Some(other) = other_end(&link, &one).filter(|other| !met.contains(other)) else { continue };
            met.push(other.clone());
            wanted.push(other);
            if link.heir == one { chain.from.push(link) } else { chain.to.push(link) }
        }
    }
    Ok(chain)
}

fn other_end(link: &Inheritance, one: &SessionKey) -> Option<SessionKey> {
    let from = link.from.clone()?;
    Some(if link.heir == *one { from } else { link.heir.clone() })
}

/// The context sizes of a session over time, and the model's current limit.
pub fn context_sizes(env: &Env, key: &SessionKey) -> Result<(Vec<ContextPoint>, Option<u64>), Failure> {
    let nothing = (vec![], None);
    let Some(archive) = Archive::read(&env.home, PATIENCE).map_err(unreadable_data)? else {
        return Ok(nothing);
    };
    let Some(of) = archive.conversation(key).map_err(unreadable_data)? else { return Ok(nothing) };
    let store = Store::read(&env.home, PATIENCE).map_err(unreadable_data)?;
    let session = store.map(|store| store.session(key)).transpose().map_err(unreadable_data)?.flatten();
    let window = session.and_then(|session| session.meter.last).map(|(fill, _)| fill.window);
    let points = archive.context_points(&of).map_err(unreadable_data)?;
    Ok((points, window))
}

/// The memories that exist, in the order requested.
pub fn memories(env: &Env, ids: &[&str]) -> Result<Vec<Memory>, Failure> {
    let Some(archive) = archive(env)? else { return Ok(vec![]) };
    let mut found = vec![];
    for number in ids.iter().filter_map(|id| number(id)) {
        found.extend(archive.memory(number).map_err(unreadable_data)?);
    }
    Ok(found)
}

/// The latest summaries, each with its session.
pub fn summaries(
    env: &Env,
    project: Option<&str>,
    limit: u32,
) -> Result<Vec<(KeptSummary, Option<Conversation>)>, Failure> {
    let Some(archive) = archive(env)? else { return Ok(vec![]) };
    let project = project.map(|name| project_row(&archive, name)).transpose()?;
    let found = archive.latest_summaries(project, limit).map_err(unreadable_data)?;
    let with_session = |summary: KeptSummary| {
        let of = archive.conversation(&summary.session).map_err(unreadable_data)?;
        Ok((summary, of))
    };
    found.into_iter().map(with_session).collect()
}

fn project_row(archive: &Archive, name: &str) -> Result<i64, Failure> {
    let known = archive.project_rows().map_err(unreadable_data)?;
    if let Some(project) = known.iter().find(|project| Path::new(&project.root) == Path::new(name)) {
        return Ok(project.row);
    }
    project_called(known, name)?.row().ok_or_else(|| Failure::input("that is no project"))
}

/// Faults that are still only in the journal, and those in the database.
#[derive(Debug, Default)]
pub struct Faults {
    pub pending: Vec<FaultRecord>,
    pub known: Vec<FaultRow>,
}

pub fn faults(env: &Env) -> Result<Faults, Failure> {
    let Some(store) = Store::read(&env.home, PATIENCE).map_err(unreadable_data)? else {
        return Ok(Faults::default());
    };
    let pending = store.unapplied_faults().map_err(unreadable_data)?;
    Ok(Faults { pending, known: store.faults().map_err(unreadable_data)? })
}

pub fn projects(env: &Env) -> Result<Vec<ProjectCounts>, Failure> {
    archive(env)?.map_or_else(|| Ok(vec![]), |archive| archive.project_counts().map_err(unreadable_data))
}

pub fn counts(env: &Env) -> Result<Option<ArchiveCounts>, Failure> {
    archive(env)?.map(|archive| archive.counts()).transpose().map_err(unreadable_data)
}

/// Sizes of the data folder's parts, in bytes.
#[derive(Debug)]
pub struct DataSizes {
    pub database: u64,
    pub archive: u64,
    pub journal: u64,
    pub index: u64,
    pub vectors: u64,
}

pub fn sizes(home: &DataFolder) -> DataSizes {
    let of = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
    let inside = |folder: &Path| -> u64 {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        files.map(|file| of(&file.path())).sum()
    };
    DataSizes {
        database: of(&home.database()) + of(&home.write_ahead_log()),
        archive: of(&home.archive()) + of(&home.archive_log()),
        journal: inside(&home.journal()),
        index: inside(&home.folder().join("index")),
        vectors: inside(&home.folder().join("vectors")),
    }
}

/// The archive, unless an older version wrote it last: it has no memory tables until the next writer migrates it.
fn archive(env: &Env) -> Result<Option<Archive>, Failure> {
    let archive = Archive::read(&env.home, PATIENCE).map_err(unreadable_data)?;
    Ok(archive.filter(|archive| archive.has_memory_tables().unwrap_or(false)))
}
