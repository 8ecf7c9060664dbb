//! Reads the state of a session's work: its to-do list and what fails, as capture left it with the session's files.
//!
//! Reads no transcript and judges nothing: `core::work` keeps the state.

use serde::Deserialize;
use towline_core::work::WorkState;
use towline_store::archive::Conversation;
use towline_store::{Archive, StoreError};

/// The part of a file's parser state that is read here.
#[derive(Deserialize)]
struct ParserState {
    gatherer: GathererState,
}

#[derive(Deserialize)]
struct GathererState {
    #[serde(default)]
    work: WorkState,
}

/// The state as of what was captured; a file of a subagent has none.
pub fn work_of(archive: &Archive, conversation: &Conversation) -> Result<WorkState, StoreError> {
    let states = archive.reader_states(conversation)?;
    let works = states.iter().filter_map(|state| serde_json::from_str::<ParserState>(state).ok());
    Ok(works.map(|state| state.gatherer.work).find(|work| !work.is_empty()).unwrap_or_default())
}
