//! Prunes the archive's change list up to the slowest reader's cursor.
//!
//! Never drops a change that a reader still needs. Inactive readers (rules off, no model, no index) do not
//! count: one that returns and finds its cursor pruned rebuilds from scratch.

use crate::index;
use crate::memory::distil;
use crate::memory::model::READER;
use crate::runtime::{Env, archive, settings};
use crate::status::proposals;
use std::time::Duration;
use towline_store::{Archive, StoreError};

const PATIENCE: Duration = Duration::from_secs(2);

/// Drops the changes that all readers have passed. Does not wait long for another writer: it runs again.
pub fn drop_read(env: &Env) -> Result<(), StoreError> {
    let Some(archive) = Archive::read(&env.home, PATIENCE)? else { return Ok(()) };
    proposals::note(env, &archive);
    let read = read_by_all(env, &archive)?;
    if read <= archive.last_pruned_change()? {
        return Ok(());
    }
    drop(archive);
    let Some(writable) = archive::open(env, PATIENCE)? else { return Ok(()) };
    // Read again under the lock: a reader may have restarted meanwhile.
    let read = read_by_all(env, &writable.archive)?;
    writable.archive.forget_changes_up_to(read)?;
    writable.archive.tidy()
}

/// How many changes may queue for an unreachable hub or receiver of telemetry. Beyond that, the hub receives everything
/// shared anew.
const MOST_FOR_HUB: i64 = 100_000;

/// The hub's cursor; `None` if nothing is shared or too much is queued.
fn hub(archive: &Archive) -> Result<Option<i64>, StoreError> {
    let is_shared = !archive.shared_projects()?.is_empty();
    let place = if is_shared { archive.read_up_to("hub")? } else { None };
    let last = archive.last_change()?;
    Ok(place.filter(|place| last - place <= MOST_FOR_HUB))
}

/// The first cursor of the export of telemetry that was not left behind by too much: then all sessions are looked at.
fn telemetry(archive: &Archive) -> Result<Option<i64>, StoreError> {
    let last = archive.last_change()?;
    let places = [archive.read_up_to("otlp")?, archive.read_up_to("otlp sums")?];
    Ok(places.into_iter().flatten().filter(|place| last - place <= MOST_FOR_HUB).min())
}

/// The last change that no reader needs.
fn read_by_all(env: &Env, archive: &Archive) -> Result<i64, StoreError> {
    let config = settings(env);
    let rules = if config.distil.rules { distil::read_up_to(archive)? } else { None };
    let model = if config.enrich.is_on() { archive.read_up_to(READER)? } else { None };
    let telemetry = if config.otlp.is_on() { telemetry(archive)? } else { None };
    let readers = [index::read_up_to(&env.home), rules, model, hub(archive)?, telemetry];
    Ok(readers.into_iter().flatten().min().unwrap_or(0))
}
