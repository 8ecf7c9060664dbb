//! Trims a session: reverts its turns, injects the memory, and verifies both in the session's own file.
//!
//! Never trusts the server's reply alone, and always reports which half is done.

use super::{Cut, Survey};
use crate::handoff::agent_server::{Client, ServerError};
use crate::runtime::chain;
use std::fs;
use std::path::{Path, PathBuf};
use towline_agents::history;
use towline_agents::server::ThreadStatus;

/// Result of one half.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Half {
    /// Verified in the file.
    Done,
    NotDone {
        why: String,
    },
    /// The server accepted it, but the file does not show it.
    #[serde(rename = "not_confirmed")]
    Unconfirmed {
        why: String,
    },
}

/// Result of both halves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub reverted: Half,
    pub injected: Half,
    /// The file in which the session continues.
    pub path: Option<PathBuf>,
}

impl Outcome {
    pub fn is_done(&self) -> bool {
        (&self.reverted, &self.injected) == (&Half::Done, &Half::Done)
    }
}

/// Trims a session that passed all checks. A session loaded for this is unloaded again.
pub fn carry_out(client: &mut Client<'_>, survey: &Survey, cut: &Cut, memory: &str) -> Outcome {
    let id = &survey.thread.id;
    let is_loaded = match ready(client, survey) {
        Ok(is_loaded) => is_loaded,
        Err(why) => return nothing_done(why, survey),
    };
    let outcome = both(client, survey, cut, memory);
    if is_loaded {
        // On failure the session is unloaded when we disconnect.
        let _ = client.unload(id);
    }
    outcome
}

/// Checks again, since the user may have continued meanwhile. Returns whether the session was loaded.
fn ready(client: &mut Client<'_>, survey: &Survey) -> Result<bool, String> {
    let id = &survey.thread.id;
    let now = client.thread(id).map_err(|error| chain(&error))?;
    let turns = client.turns(id).map_err(|error| chain(&error))?;
    if now.path != survey.thread.path || turns != survey.turns {
        return Err("the session went on meanwhile".to_owned());
    }
    match now.status {
        ThreadStatus::Idle => Ok(false),
        ThreadStatus::NotLoaded => client.load(id).map(|_| true).map_err(|error| chain(&error)),
        ThreadStatus::Active | ThreadStatus::Other => Err("the session is at work".to_owned()),
    }
}

fn both(client: &mut Client<'_>, survey: &Survey, cut: &Cut, memory: &str) -> Outcome {
    let id = &survey.thread.id;
    let path = match client.revert_to(id, &cut.before) {
        Ok(thread) => thread.path,
        Err(error) => return taken_back_or_not(client, survey, &error),
    };
    let injected = client.inject(id, memory);
    let text = path.as_deref().and_then(|path| fs::read(path).ok()).unwrap_or_default();
    let reverted = reverted(survey, cut, path.as_deref(), &text);
    let injected = match injected {
        Err(error) => Half::NotDone { why: chain(&error) },
        Ok(()) if history::holds_injected(&text, memory) => Half::Done,
        Ok(()) => Half::Unconfirmed { why: format!("{} does not hold it", shown(path.as_deref())) },
    };
    Outcome { reverted, injected, path }
}

fn reverted(survey: &Survey, cut: &Cut, path: Option<&Path>, text: &[u8]) -> Half {
    let before = survey.beginnings.get(&cut.before).copied().unwrap_or(u64::MAX);
    let is_new = path.is_some() && path != survey.thread.path.as_deref();
    if is_new && history::is_reverted(text, &survey.thread.id, before) {
        return Half::Done;
    }
    Half::Unconfirmed { why: format!("{} does not show it", shown(path)) }
}

/// A missing reply does not tell whether the revert happened: ask the server for the session's current file.
fn taken_back_or_not(client: &mut Client<'_>, survey: &Survey, error: &ServerError) -> Outcome {
    let path = client.thread(&survey.thread.id).ok().and_then(|thread| thread.path);
    let why = chain(error);
    let reverted = match &path {
        Some(path) if Some(path) == survey.thread.path.as_ref() => Half::NotDone { why },
        Some(_) | None => Half::Unconfirmed { why },
    };
    Outcome { reverted, injected: Half::NotDone { why: "it was not tried".to_owned() }, path }
}

fn nothing_done(why: String, survey: &Survey) -> Outcome {
    let injected = Half::NotDone { why: "it was not tried".to_owned() };
    Outcome { reverted: Half::NotDone { why }, injected, path: survey.thread.path.clone() }
}

fn shown(path: Option<&Path>) -> String {
    path.map_or("the session's file".to_owned(), |path| path.display().to_string())
}
