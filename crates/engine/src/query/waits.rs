//! How long agents waited for the user, by day, project and reason.
//!
//! Collects the waits; `core::ledger` sums them.

use crate::ingest::live;
use crate::runtime::{Env, Failure, calendar};
use towline_core::ledger::{Ledger, Wait, ledger};
use towline_core::session::SessionState;
use towline_core::time::Timestamp;
use towline_store::Store;

#[derive(Clone, Debug)]
pub struct WaitsRequest {
    /// Number of days, today included.
    pub days: u32,
    pub project: Option<String>,
    pub agent: Option<String>,
}

#[derive(Debug)]
pub struct WaitsReport {
    pub ledger: Ledger,
    /// How many of the waits are still open.
    pub open: usize,
    /// Whether anything was ever recorded.
    pub is_recorded: bool,
}

pub fn waits(env: &Env, request: &WaitsRequest) -> Result<WaitsReport, Failure> {
    let days = calendar::last_days(env.now, request.days);
    let since = days.first().map_or(env.now, |day| day.begins);
    let store = live::store(env)?;
    let (waits, open) = match &store {
        Some(store) => collect(env.now, store, request, since)?,
        None => (vec![], 0),
    };
    Ok(WaitsReport { ledger: ledger(&waits, &days), open, is_recorded: store.is_some() })
}

/// Finished waits come from the store's table, open ones from the current agents; an open wait ends now.
fn collect(
    now: Timestamp,
    store: &Store,
    request: &WaitsRequest,
    since: Timestamp,
) -> Result<(Vec<Wait>, usize), Failure> {
    let is = |wanted: &Option<String>, found: Option<&str>| wanted.is_none() || wanted.as_deref() == found;
    let fits =
        |agent: &str, project: Option<&str>| is(&request.agent, Some(agent)) && is(&request.project, project);
    let mut waits = vec![];
    for known in store.waits(since)? {
        if fits(&known.agent, known.project.as_deref()) {
            let (began_at, ended_at) = (known.began_at, known.ended_at);
            waits.push(Wait { project: known.project, reason: known.reason, began_at, ended_at });
        }
    }
    let finished = waits.len();
    for seat in live::seats_of(store)? {
        if let SessionState::Blocked(reason) = seat.state
            && fits(&seat.agent, seat.project.as_deref())
        {
            let (began_at, reason) = (seat.since, reason.name().to_owned());
            waits.push(Wait { project: seat.project, reason, began_at, ended_at: now });
        }
    }
    let open = waits.len() - finished;
    Ok((waits, open))
}
