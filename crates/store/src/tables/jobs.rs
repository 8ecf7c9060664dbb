//! Upkeep jobs, kept until they are done.
//!
//! A job is leased, not removed: if its holder dies, the job is available again when the lease ends.

use crate::columns::{from_row, parsed_columns};
use crate::query::Query;
use crate::{Result, Store};
use towline_core::time::Timestamp;

/// Queueing the same job twice keeps the earlier time.
const QUEUE: &str = "
    insert into jobs (kind, subject, due_at, attempts) values (?1, ?2, ?3, 0)
    on conflict (kind, subject) do update set due_at = min(due_at, excluded.due_at)";

const DUE: &str = "select 1 from jobs where due_at <= ?1 and ifnull(leased_until, 0) <= ?1 limit 1";

const LEASE: &str = "
    update jobs set leased_until = ?2, attempts = attempts + 1
    where id = (select id from jobs where due_at <= ?1 and ifnull(leased_until, 0) <= ?1 order by due_at, id limit 1)
    returning id, kind, subject, attempts";

const FINISH: &str = "delete from jobs where id = ?1";
const RETRY: &str = "update jobs set leased_until = null, due_at = ?2, last_error = ?3 where id = ?1";

towline_core::named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum UpkeepKind as named {
        /// Delete data beyond the retention period.
        Expire = "expire",
    }
}

/// A job that this process may run until its lease ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpkeepJob {
    id: i64,
    /// `None` for a kind that only a newer version knows.
    pub kind: Option<UpkeepKind>,
    pub subject: String,
    pub attempts: u32,
}

from_row!(UpkeepJob { id, kind, subject, attempts });
parsed_columns! { Option<UpkeepKind> = lenient(UpkeepKind::named), }

impl Store {
    pub fn queue(&self, kind: UpkeepKind, subject: &str, due_at: Timestamp) -> Result<()> {
        self.db.run(QUEUE, (kind.name(), subject, due_at.0))
    }

    pub fn has_due_job(&self, now: Timestamp) -> Result<bool> {
        self.db.exists(DUE, [now.0])
    }

    /// Leases the job that has been due longest until `until`.
    pub fn lease(&self, now: Timestamp, until: Timestamp) -> Result<Option<UpkeepJob>> {
        self.db.first(LEASE, (now.0, until.0))
    }

    pub fn finish(&self, job: &UpkeepJob) -> Result<()> {
        self.db.run(FINISH, [job.id])
    }

    /// Returns the job, to be retried at `again_at`.
    pub fn retry(&self, job: &UpkeepJob, again_at: Timestamp, error: &str) -> Result<()> {
        self.db.run(RETRY, (job.id, again_at.0, error))
    }
}
