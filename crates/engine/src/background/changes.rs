//! Dropping what nobody asks for any more from the archive's list of changes: what all who read it have passed.
//!
//! Drops nothing that one of them still needs. Who reads nothing now (rules that are off, no model, no index) is not waited
//! for: when it comes again and finds its place gone, it begins anew.

use crate::index;
use crate::memory::distil;
use crate::memory::model::READER;
use crate::runtime::archive;
use crate::runtime::config::settings;
use crate::runtime::env::Env;
use std::time::Duration;
use towline_store::{Archive, StoreError};

const PATIENCE: Duration = Duration::from_secs(2);

/// Drops what all have read. Whoever writes the archive at this moment is not waited for long: the next time will do.
pub fn drop_read(env: &Env) -> Result<(), StoreError> {
    let Some(archive) = Archive::read(&env.home, PATIENCE)? else { return Ok(()) };
    let read = read_by_all(env, &archive)?;
    if read <= archive.changes_gone()? {
        return Ok(());
    }
    drop(archive);
    let Some(writable) = archive::open(env, PATIENCE)? else { return Ok(()) };
    // Asked again: one of them may have begun anew meanwhile.
    let read = read_by_all(env, &writable.archive)?;
    writable.archive.forget_changes_up_to(read)?;
    writable.archive.tidy()
}

/// How many changes may wait for a hub that cannot be reached. Beyond that it is told anew of all that is shared.
const MOST_FOR_HUB: i64 = 100_000;

/// How far a hub was told; `None` where nothing is shared, or too much waits.
fn hub(archive: &Archive) -> Result<Option<i64>, StoreError> {
    let is_shared = !archive.shared_projects()?.is_empty();
    let place = if is_shared { archive.read_up_to("hub")? } else { None };
    let last = archive.last_change()?;
    Ok(place.filter(|place| last - place <= MOST_FOR_HUB))
}

/// The last change that nobody needs.
fn read_by_all(env: &Env, archive: &Archive) -> Result<i64, StoreError> {
    let config = settings(env);
    let rules = if config.distil.rules { distil::read_up_to(archive)? } else { None };
    let model = if config.enrich.is_on() { archive.read_up_to(READER)? } else { None };
    let readers = [index::read_up_to(&env.home), rules, model, hub(archive)?];
    Ok(readers.into_iter().flatten().min().unwrap_or(0))
}
