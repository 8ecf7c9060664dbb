//! An agent's current session, compared with what the archive holds of it.
//!
//! Looks at the size of a transcript and opens none; a session in a database is rendered. Captures nothing.

use super::opened::{Opened, last_write};
use super::steps::is_read;
use super::{CaptureError, Transcript, known};
use std::fs;
use std::path::{Path, PathBuf};
use towline_agents::{Agent, database_session, session_in};
use towline_core::time::Timestamp;
use towline_store::Archive;
use towline_store::foreign::rows;

/// The session that runs this command, or else the one written last.
pub struct CurrentSession {
    /// As sessions are called everywhere: the end of the id.
    pub name: String,
    pub uncaptured_bytes: u64,
    pub written_at: Option<Timestamp>,
}

/// `None` if the agent has no session.
pub fn current_session(
    agent: Agent,
    archive: &Archive,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<CurrentSession>, CaptureError> {
    let own = variable(agent.session_variable());
    let path = match agent.database(variable) {
        Some(database) => in_database(&database, own)?,
        None => agent.folder(variable).and_then(|folder| in_files(agent, &folder, own.as_deref())),
    };
    let Some(path) = path else { return Ok(None) };
    let uncaptured_bytes = uncaptured(archive, &Transcript { agent: agent.into(), path: path.clone() })?;
    Ok(Some(CurrentSession { name: name(&path), uncaptured_bytes, written_at: written_at(&path) }))
}

fn in_database(database: &Path, own: Option<String>) -> Result<Option<PathBuf>, CaptureError> {
    if !database.exists() {
        return Ok(None);
    }
    let unreadable =
        |error| CaptureError::Read { path: database.to_owned(), source: std::io::Error::other(error) };
    let session = match own {
        Some(own) => Some(own),
        None => rows::latest_session(database).map_err(unreadable)?,
    };
    Ok(session.map(|session| session_in(database, &session)))
}

fn in_files(agent: Agent, folder: &Path, own: Option<&str>) -> Option<PathBuf> {
    let files = agent.main_transcripts(folder);
    let is_own = |path: &&PathBuf| own.is_some_and(|id| stem(path).ends_with(id));
    let newest = || files.iter().max_by_key(|path| written_at(path));
    files.iter().find(is_own).or_else(newest).cloned()
}

fn uncaptured(archive: &Archive, file: &Transcript) -> Result<u64, CaptureError> {
    let reading = known(archive, file)?.reading;
    if database_session(&file.path).is_none() {
        let bytes = fs::metadata(&file.path).map_or(0, |meta| meta.len());
        return Ok(bytes.saturating_sub(reading.offset));
    }
    let unreadable = |source| CaptureError::Read { path: file.path.clone(), source };
    let opened = Opened::at(&file.path).map_err(unreadable)?;
    if is_read(&opened, &reading).map_err(unreadable)? {
        return Ok(0);
    }
    let bytes = opened.size().map_err(unreadable)?;
    // Lines that are fewer than before are others, and all of them are read again.
    Ok(bytes.checked_sub(reading.offset).filter(|left| *left > 0).unwrap_or(bytes))
}

fn written_at(path: &Path) -> Option<Timestamp> {
    let nanoseconds = match database_session(path) {
        Some((database, _)) => last_write(&database).ok()?,
        None => super::opened::nanoseconds(&fs::metadata(path).ok()?),
    };
    Some(Timestamp(nanoseconds / 1_000_000))
}

/// The name of a file ends with the id.
fn name(path: &Path) -> String {
    let id = database_session(path).map_or_else(|| stem(path), |(_, session)| session.to_owned());
    let skipped = id.chars().count().saturating_sub(8);
    id.chars().skip(skipped).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
