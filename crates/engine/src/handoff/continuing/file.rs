//! The handoff file of a folder, which counts by being there if the user wants that.
//!
//! Reads the file and never changes it. It belongs to the first session that began after it was written.

use super::hop::kept;
use crate::runtime::Config;
use crate::status::probe::written_at;
use std::fs;
use std::path::Path;
use towline_agents::Agent;
use towline_core::compose::Handoff;
use towline_core::continuing::form;
use towline_core::id::SessionKey;
use towline_core::inherit::InheritRule;
use towline_core::session::Session;
use towline_core::time::Timestamp;
use towline_store::{Store, StoreError};

/// A file taken up by a session.
pub struct TakenFile {
    pub handoff: Handoff,
    /// The last session that was there when it was written.
    pub writer: Option<SessionKey>,
    pub notice: String,
}

/// The file that this session, at its first prompt, takes up.
pub fn taken_file(
    config: &Config,
    store: &Store,
    session: &Session,
) -> Result<Option<TakenFile>, StoreError> {
    let folder = session.folder.as_deref().filter(|_| config.continuing.file_by_presence);
    let Some(folder) = folder.filter(|_| session.turns == 1) else { return Ok(None) };
    let files = Agent::ALL.into_iter().filter_map(Agent::handoff_file);
    let present = files.filter_map(|name| Some((name, present_file(folder, name)?)));
    let Some((name, (text, at))) = present.max_by_key(|(_, (_, at))| *at) else { return Ok(None) };
    if at > session.started_at || store.way_of(&session.key)? == Some(InheritRule::Fresh) {
        return Ok(None);
    }
    let others: Vec<Session> = store
        .sessions()?
        .into_iter()
        .filter(|other| other.key != session.key && other.folder.as_deref() == Some(folder))
        .collect();
    if others.iter().any(|other| other.started_at > at && other.prompted_at.is_some()) {
        return Ok(None);
    }
    let writer = others.iter().filter(|other| other.started_at <= at).max_by_key(|other| other.last_event_at);
    Ok(form::read_present(kept(&text).as_str()).ok().filter(|read| read.goes_on).map(|read| TakenFile {
        handoff: read.handoff,
        writer: writer.map(|writer| writer.key.clone()),
        notice: format!("towline: this session was given the handoff in {name}."),
    }))
}

/// The text of a handoff file of at most usual size, and when it was written.
pub fn present_file(folder: &str, name: &str) -> Option<(String, Timestamp)> {
    let path = Path::new(folder).join(name);
    let is_small = |meta: &fs::Metadata| meta.is_file() && meta.len() <= 4 * form::LONGEST_BYTES as u64;
    // Before it is opened: reading a pipe would not end.
    fs::metadata(&path).ok().filter(is_small)?;
    Some((fs::read_to_string(&path).ok()?, written_at(&path)?))
}
