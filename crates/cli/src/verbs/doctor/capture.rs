//! Doctor check of capturing: each agent's current session, compared with what the archive has of it.
//!
//! Captures nothing, and never opens a transcript: the engine compares.

use super::check::Check;
use crate::scope::Scope;
use std::time::Duration;
use towline_agents::Agent;
use towline_core::time::Timestamp;
use towline_engine::capture::{CaptureError, CurrentSession, current_session};
use towline_engine::runtime::text::size;
use towline_engine::runtime::{chain, variable};
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
    let name = format!("{} capture", agent.name());
    let current = match current_session(agent, archive, &variable) {
        Ok(current) => current,
        Err(error @ CaptureError::Read { .. }) => {
            let next =
                format!("{} --version; if it is newer than in `docs/agents.md`, report it", agent.name());
            return Ok(Some(Check::warning(name, chain(&error), next)));
        }
        Err(_) => None,
    };
    let Some(current) = current else { return Ok(None) };
    let asked =
        SessionQuery { project: None, agent: Some(agent.name()), since: Timestamp(0), behind: None, most: 1 };
    let last = archive.find_sessions(&asked)?.pop();
    let last = last.map_or_else(
        || "none was captured yet".to_owned(),
        |last| format!("the last captured one is {}", last.short),
    );
    let CurrentSession { name: session, uncaptured_bytes, written_at } = current;
    let is_recent = written_at.is_some_and(|at| scope.env.now.since_ms(at) < CAPTURED_WITHIN_MS);
    Ok(Some(match uncaptured_bytes {
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
