//! Captures what earlier captures left: they were killed, or another process held the archive for too long.
//!
//! Compares the transcripts of all sessions with events since the last complete check with what the archive holds of
//! them, so nothing has to be queued and nothing can be lost with a queue. For `tow data work` only: it waits long.

use super::catch_up::{Caught, grown, of_known_agent};
use super::opened::written;
use super::{CaptureError, Transcript, Wishes, capture_within, transcripts_of};
use crate::runtime::archive::open;
use crate::runtime::descriptions::Descriptions;
use crate::runtime::{Env, variable};
use std::fs;
use std::time::Duration;
use towline_core::time::Timestamp;
use towline_store::archive::SessionQuery;
use towline_store::home::open_or_make;
use towline_store::{Archive, Store, StoreError};

/// The fact that holds the time of the last complete check.
const CHECKED: &str = "transcripts checked";

/// How long to wait for an import or an erasure.
const PATIENCE: Duration = Duration::from_secs(600);
const READ_PATIENCE: Duration = Duration::from_secs(5);

/// More sessions of one agent than go on at once.
const GOING_ON: usize = 50;

/// Agents write their transcripts later than they call their hooks.
const ON_THEIR_WAY_MS: i64 = 10 * 60_000;
/// The capture that an event starts is done by then.
const CAPTURED_BY_THEN_MS: i64 = 60_000;
/// A check that found nothing is recorded only this often: recording writes the archive.
const RECORDED_EVERY_MS: i64 = 60 * 60_000;

/// Captures all transcripts that have grown. `Behind` if the archive stayed locked; the next run tries again.
pub fn capture_overdue(env: &Env, wishes: &Wishes) -> Result<Caught, CaptureError> {
    let begun = env.later().now;
    let archive = Archive::read(&env.home, READ_PATIENCE)?;
    let checked = archive.as_ref().map_or(Ok(Timestamp(0)), last_check)?;
    let store = Store::read(&env.home, READ_PATIENCE)?;
    // The own captures of these sessions are under way, unless one gave up.
    let gave_up = fs::remove_file(env.home.capture_request()).is_ok();
    let until = if gave_up { begun } else { begun.plus_ms(-CAPTURED_BY_THEN_MS) };
    let since = checked.plus_ms(-ON_THEIR_WAY_MS);
    let heard = store.as_ref().map(|store| store.transcripts_heard(since, until)).transpose()?;
    let heard = heard.into_iter().flatten().filter_map(of_known_agent);
    let described = archive.as_ref().map(|archive| described(env, archive, since)).transpose()?;
    let all = heard.chain(described.into_iter().flatten()).collect();
    let grown = grown(archive.as_ref(), all);
    drop((store, archive));
    // One lock per file: others may write in between.
    for file in &grown {
        if capture_within(env, wishes, std::slice::from_ref(file), PATIENCE)?.is_none() {
            defer(env);
            return Ok(Caught::Behind);
        }
    }
    if !grown.is_empty() || begun.0 - checked.0 > RECORDED_EVERY_MS {
        return record_check(env, begun);
    }
    Ok(Caught::Up)
}

/// The transcripts of agents by description that were written since: no hook tells of them. Only of agents of which the
/// user has imported a session.
fn described(env: &Env, archive: &Archive, since: Timestamp) -> Result<Vec<Transcript>, StoreError> {
    let mut found = vec![];
    for described in &Descriptions::load(env).all {
        let asked = SessionQuery {
            project: None,
            agent: Some(described.description.name()),
            since: Timestamp(0),
            behind: None,
            most: 1,
        };
        let Some(writer) = described.writer().filter(|_| described.description.capabilities().transcript)
        else {
            continue;
        };
        if !archive.find_sessions(&asked)?.is_empty() {
            let mut files = transcripts_of(&writer, &variable).files;
            if writer.tables().is_some() {
                // All are as new as their database. Those that go on have the newest rows.
                files.drain(..files.len().saturating_sub(GOING_ON));
            }
            let is_new = |at: i64| at / 1_000_000 >= since.0;
            found.extend(files.into_iter().filter(|file| written(&file.path).is_ok_and(is_new)));
        }
    }
    Ok(found)
}

/// Asks the next `capture_overdue` for transcripts that were just written, too. If this fails, they follow a minute later.
pub(super) fn defer(env: &Env) {
    let _asked = open_or_make(&env.home.capture_request());
}

fn last_check(archive: &Archive) -> Result<Timestamp, StoreError> {
    let recorded = archive.fact(CHECKED)?.and_then(|text| text.parse().ok());
    Ok(Timestamp(recorded.unwrap_or(0)))
}

fn record_check(env: &Env, at: Timestamp) -> Result<Caught, CaptureError> {
    if !env.home.archive().exists() {
        return Ok(Caught::Up);
    }
    let Some(writable) = open(env, PATIENCE)? else { return Ok(Caught::Behind) };
    writable.archive.set_fact(CHECKED, &at.0.to_string())?;
    Ok(Caught::Up)
}
