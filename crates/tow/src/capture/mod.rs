//! Capturing: from where a file was read last to its end, in steps that are each written whole.
//!
//! It does not matter who does it, how often, or where one is killed: what was written is known by its offset, and what
//! is read again by the agent's own names. A file is only ever read; memory does not grow with it.

mod lines;
mod many;
mod rules;
mod steps;

pub use many::{Imported, import};
pub use rules::Wishes;
use steps::Steps;

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};
use towline_agents::Agent;
use towline_core::time::Timestamp;
use towline_store::archive::{Source, Taken};
use towline_store::lock::{ArchiveLock, pauses};
use towline_store::{Archive, StoreError};

use crate::edge::Edge;

/// How long one capture waits for another: whoever comes first does the work of both.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error("could not read the transcript {path}")]
    Read { path: PathBuf, source: io::Error },
    #[error("could not keep what was captured")]
    Store(#[from] StoreError),
}

/// A file of an agent's, and the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    pub agent: Agent,
    pub path: PathBuf,
}

/// Captures what is new in these files. `None` if somebody else has been at it for too long.
pub fn capture(edge: &Edge, wishes: &Wishes, files: &[Transcript]) -> Result<Option<Taken>, CaptureError> {
    let Some(archive) = open(edge, PATIENCE)? else { return Ok(None) };
    let mut all = Taken::default();
    for file in files {
        all = all.plus(capture_one(&archive, wishes, file, edge.now)?);
    }
    archive.archive.tidy()?;
    Ok(Some(all))
}

/// The archive, and the right to write it.
pub struct Writable {
    pub archive: Archive,
    _lock: ArchiveLock,
}

/// `None` if somebody else writes it for longer than the patience.
pub fn open(edge: &Edge, patience: Duration) -> Result<Option<Writable>, StoreError> {
    let folder = |source| StoreError::Folder { path: edge.home.folder().to_owned(), source };
    edge.home.create().map_err(folder)?;
    let Some(lock) = ArchiveLock::take_within(&edge.home, pauses(patience)).map_err(folder)? else {
        return Ok(None);
    };
    let archive = Archive::open(&edge.home, &lock, PATIENCE, edge.uid())?;
    Ok(Some(Writable { archive, _lock: lock }))
}

/// One file, with those of the helpers that worked in its session.
fn capture_one(
    writable: &Writable,
    wishes: &Wishes,
    file: &Transcript,
    now: Timestamp,
) -> Result<Taken, CaptureError> {
    let mut all = take_in(writable, wishes, file, now)?;
    for path in file.agent.helpers_of(&file.path) {
        all = all.plus(take_in(writable, wishes, &Transcript { agent: file.agent, path }, now)?);
    }
    Ok(all)
}

fn take_in(
    writable: &Writable,
    wishes: &Wishes,
    file: &Transcript,
    now: Timestamp,
) -> Result<Taken, CaptureError> {
    let mut all = Taken::default();
    let mut source = known(&writable.archive, file)?;
    let unreadable = |source| CaptureError::Read { path: file.path.clone(), source };
    let Some(mut steps) = Steps::open(file, &mut source, wishes).map_err(unreadable)? else { return Ok(all) };
    while let Some(step) = steps.next().map_err(unreadable)? {
        source.reading = step.reading;
        all = all.plus(writable.archive.take_in(&mut source, step.rows, now)?);
    }
    Ok(all)
}

/// What is known of the file; its path is the name it goes by.
fn known(archive: &Archive, file: &Transcript) -> Result<Source, StoreError> {
    let path = whole(&file.path);
    let path = path.to_string_lossy();
    let found = archive.source(&path)?.filter(|source| source.agent == file.agent.name());
    Ok(found.unwrap_or_else(|| Source::fresh(file.agent.name(), &path)))
}

fn whole(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests;
