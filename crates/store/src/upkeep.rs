//! Keeps the data folder small: checkpoints, sealing, expiry. Runs while no agent waits for it.
//!
//! Every part may be interrupted and repeated at any point; none of them removes data within the retention period.

use crate::home::{DataFolder, size};
use crate::lock::ProjectionLock;
use crate::{Result, Store, StoreError, UpkeepKind, journal};
use towline_core::id::Uid;
use towline_core::time::Timestamp;

/// A WAL beyond this size makes every open slower, since the first connection to open it reads all of it.
const WAL_NEEDS_UPKEEP: u64 = 256 * 1024;

/// Beyond this size the process that applies checkpoints the WAL although an agent waits: upkeep has not run.
const WAL_MUST_SHRINK: u64 = 8 * 1024 * 1024;

const SEAL_AT: u64 = 4 * 1024 * 1024;
const EXPIRE_EVERY_MS: i64 = 6 * 3600 * 1000;
const DAY_MS: i64 = 86_400_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    pub events_days: u32,
    pub journal_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpkeepReport {
    /// Whether expiry was due and ran.
    pub was_time_to_expire: bool,
    pub expired_events: usize,
    pub expired_journal_bytes: u64,
}

/// Whether upkeep should run soon.
pub fn is_due(store: &Store, now: Timestamp) -> Result<bool> {
    Ok(size(&store.home.write_ahead_log()) > WAL_NEEDS_UPKEEP
        || journal::unsealed_bytes(&store.home) > SEAL_AT
        || store.has_due_job(now)?)
}

/// Keeps the WAL from growing without bound even if upkeep never runs.
pub fn shrink_if_huge(store: &Store) -> Result<()> {
    if size(&store.home.write_ahead_log()) > WAL_MUST_SHRINK { checkpoint(store) } else { Ok(()) }
}

/// Checkpoints and truncates the WAL, without waiting for readers that block it.
/// The journal is synced first: after a power cut the database must not be ahead of the journal.
pub fn checkpoint(store: &Store) -> Result<()> {
    journal::sync(&store.home).map_err(|source| StoreError::Folder { path: store.home.journal(), source })?;
    store.db.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))?;
    Ok(())
}

/// Seals the journal if it is large enough to be worth it.
pub fn seal_if_large(home: &DataFolder, lock: &ProjectionLock) -> Result<()> {
    if journal::unsealed_bytes(home) <= SEAL_AT {
        return Ok(());
    }
    journal::seal(home, lock).map_err(|source| StoreError::Folder { path: home.journal(), source })
}

pub fn run_jobs(store: &Store, retention: Retention, now: Timestamp) -> Result<UpkeepReport> {
    let mut done = UpkeepReport::default();
    while let Some(job) = store.lease(now, now.plus_ms(60_000))? {
        match job.kind {
            Some(UpkeepKind::Expire) => done = expire(store, retention, now)?,
            // A job of a newer version: left to it, and postponed so that we do not lease it again.
            None => {
                store.retry(&job, now.plus_ms(EXPIRE_EVERY_MS), "unknown to this version")?;
                continue;
            }
        }
        store.finish(&job)?;
    }
    Ok(done)
}

/// Schedules the next expiry. `uid` is the job's id if it is not queued yet.
pub fn plan_expiry(store: &Store, uid: Uid, now: Timestamp) -> Result<()> {
    store.queue(uid, UpkeepKind::Expire, "all", now.plus_ms(EXPIRE_EVERY_MS))
}

fn expire(store: &Store, retention: Retention, now: Timestamp) -> Result<UpkeepReport> {
    let before = now.plus_ms(-(i64::from(retention.events_days) * DAY_MS));
    let transaction = store.db.unchecked_transaction()?;
    let expired_events = store.expire_events(before)?;
    store.bound_faults()?;
    transaction.commit()?;
    store.db.execute_batch("pragma incremental_vacuum(1000)")?;
    let expired_journal_bytes =
        journal::expire(&store.home, store.applied_position(&store.segments()?)?, retention.journal_bytes)
            .map_err(|source| StoreError::Folder { path: store.home.journal(), source })?;
    Ok(UpkeepReport { was_time_to_expire: true, expired_events, expired_journal_bytes })
}
