//! What keeps the data folder small: checkpoints, sealing, expiry. Done where no agent waits for it.
//!
//! Every part may be interrupted and repeated at any point; none of them changes what is remembered within retention.

use crate::home::{Home, size};
use crate::journal;
use crate::lock::FoldLock;
use crate::{JobKind, Store, StoreError};
use towline_core::id::Uid;
use towline_core::time::Timestamp;

/// A write-ahead log beyond this makes every open slower, since each first opener reads it whole.
const WAL_WANTS_UPKEEP: u64 = 256 * 1024;

/// Beyond this it is checkpointed by whoever folds, though an agent waits: upkeep has not come.
const WAL_MUST_SHRINK: u64 = 8 * 1024 * 1024;

const SEAL_AT: u64 = 4 * 1024 * 1024;
const EXPIRE_EVERY_MS: i64 = 6 * 3600 * 1000;
const DAY_MS: i64 = 86_400_000;

/// How long things are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    pub events_days: u32,
    pub journal_bytes: u64,
}

/// What upkeep has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Whether it was time to forget what retention says.
    pub was_time_to_expire: bool,
    pub expired_events: usize,
    pub expired_journal_bytes: u64,
}

/// Whether somebody should run upkeep soon.
pub fn is_due(store: &Store, now: Timestamp) -> Result<bool, StoreError> {
    Ok(size(&store.home.write_ahead_log()) > WAL_WANTS_UPKEEP
        || journal::unsealed_bytes(&store.home) > SEAL_AT
        || store.has_due_job(now)?)
}

/// Keeps the log from growing without bound even if upkeep never runs.
pub fn shrink_if_huge(store: &Store) -> Result<(), StoreError> {
    if size(&store.home.write_ahead_log()) > WAL_MUST_SHRINK { checkpoint(store) } else { Ok(()) }
}

/// Writes the log back into the database and empties it. Readers that are in the way are not waited for.
/// The journal reaches the disk first: after a power cut the database must not know more than the journal.
pub fn checkpoint(store: &Store) -> Result<(), StoreError> {
    journal::sync(&store.home).map_err(|source| StoreError::Folder { path: store.home.journal(), source })?;
    store.db.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))?;
    Ok(())
}

/// Seals the journal if it is large enough to be worth it.
pub fn seal_if_large(home: &Home, lock: &FoldLock) -> Result<(), StoreError> {
    if journal::unsealed_bytes(home) <= SEAL_AT {
        return Ok(());
    }
    journal::seal(home, lock).map_err(|source| StoreError::Folder { path: home.journal(), source })
}

/// Does the jobs that are due.
pub fn run_jobs(store: &Store, retention: Retention, now: Timestamp) -> Result<Done, StoreError> {
    let mut done = Done::default();
    while let Some(job) = store.lease(now, now.plus_ms(60_000))? {
        match job.kind {
            Some(JobKind::Expire) => done = expire(store, retention, now)?,
            // A newer version's work: left to it, and not leased again while we are about.
            None => {
                store.retry(&job, now.plus_ms(EXPIRE_EVERY_MS), "unknown to this version")?;
                continue;
            }
        }
        store.finish(&job)?;
    }
    Ok(done)
}

/// Sees to it that expiry comes round. `uid` names the job if it is not queued yet.
pub fn plan_expiry(store: &Store, uid: Uid, now: Timestamp) -> Result<(), StoreError> {
    store.queue(uid, JobKind::Expire, "all", now.plus_ms(EXPIRE_EVERY_MS))
}

fn expire(store: &Store, retention: Retention, now: Timestamp) -> Result<Done, StoreError> {
    let before = now.plus_ms(-(i64::from(retention.events_days) * DAY_MS));
    let transaction = store.db.unchecked_transaction()?;
    let expired_events = store.expire_events(before)?;
    store.bound_faults()?;
    transaction.commit()?;
    store.db.execute_batch("pragma incremental_vacuum(1000)")?;
    let expired_journal_bytes =
        journal::expire(&store.home, store.folded(&store.segments()?)?, retention.journal_bytes)
            .map_err(|source| StoreError::Folder { path: store.home.journal(), source })?;
    Ok(Done { was_time_to_expire: true, expired_events, expired_journal_bytes })
}
