//! Work for later, kept until it is done.
//!
//! A job is leased, not taken: whoever dies with it gives it back by the lease's end.

use crate::{Store, StoreError};
use towline_core::id::Uid;
use towline_core::time::Timestamp;

/// Asking twice for the same work is asking once, for the earlier time.
const QUEUE: &str = "
    insert into jobs (uid, kind, subject, due_at, attempts) values (?1, ?2, ?3, ?4, 0)
    on conflict (kind, subject) do update set due_at = min(due_at, excluded.due_at)";

const DUE: &str = "select 1 from jobs where due_at <= ?1 and ifnull(leased_until, 0) <= ?1 limit 1";

const LEASE: &str = "
    update jobs set leased_until = ?2, attempts = attempts + 1
    where id = (select id from jobs where due_at <= ?1 and ifnull(leased_until, 0) <= ?1 order by due_at, id limit 1)
    returning id, kind, subject, attempts";

const FINISH: &str = "delete from jobs where id = ?1";
const RETRY: &str = "update jobs set leased_until = null, due_at = ?2, last_error = ?3 where id = ?1";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobKind {
    /// Forget what retention says.
    Expire,
}

impl JobKind {
    fn name(self) -> &'static str {
        match self {
            JobKind::Expire => "expire",
        }
    }

    fn named(name: &str) -> Option<JobKind> {
        [JobKind::Expire].into_iter().find(|kind| kind.name() == name)
    }
}

/// A job that this process may do until its lease ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    id: i64,
    /// `None` for a kind that only a newer version knows.
    pub kind: Option<JobKind>,
    pub subject: String,
    pub attempts: u32,
}

impl Store {
    pub fn queue(&self, uid: Uid, kind: JobKind, subject: &str, due_at: Timestamp) -> Result<(), StoreError> {
        self.db.prepare_cached(QUEUE)?.execute((uid.0, kind.name(), subject, due_at.0))?;
        Ok(())
    }

    pub fn has_due_job(&self, now: Timestamp) -> Result<bool, StoreError> {
        Ok(self.db.prepare_cached(DUE)?.exists([now.0])?)
    }

    /// The job that is due longest, leased until `until`.
    pub fn lease(&self, now: Timestamp, until: Timestamp) -> Result<Option<Job>, StoreError> {
        let mut statement = self.db.prepare_cached(LEASE)?;
        let job = |row: &rusqlite::Row<'_>| {
            let kind = JobKind::named(&row.get::<_, String>(1)?);
            Ok(Job { id: row.get(0)?, kind, subject: row.get(2)?, attempts: row.get(3)? })
        };
        let leased = statement.query_map((now.0, until.0), job)?.next().transpose()?;
        Ok(leased)
    }

    pub fn finish(&self, job: &Job) -> Result<(), StoreError> {
        self.db.prepare_cached(FINISH)?.execute([job.id])?;
        Ok(())
    }

    /// Gives the job back, to be tried again at `again_at`.
    pub fn retry(&self, job: &Job, again_at: Timestamp, error: &str) -> Result<(), StoreError> {
        self.db.prepare_cached(RETRY)?.execute((job.id, again_at.0, error))?;
        Ok(())
    }
}
