//! The job queue of the distiller: a job is made once per turn, leased, and finished together with its results.
//!
//! A worker that dies loses its lease when it expires, and with it the tokens reserved for the call. A job is never
//! finished twice: only the latest lease can finish it, in the transaction that stores the results.

use super::memories::NewMemory;
use super::spending::{CallCost, day};
use super::summaries::KeptSummary;
use super::{Archive, Conversation, TurnRow};
use crate::Result;
use crate::columns::{from_row, lenient_key, parsed_columns};
use crate::query::Query;
use rusqlite::params;
use towline_core::id::{SessionKey, Uid};
use towline_core::memory::MemoryAuthor;
use towline_core::time::Timestamp;

towline_core::named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum DistilJobKind as named {
        /// Distil a turn into memories, by a model.
        Distil = "distil",
    }
}

towline_core::named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum JobState as named {
        Waiting = "waiting",
        Done = "done",
        /// Failed too often; a user can retry it.
        Dead = "dead",
        /// Dropped by a user.
        Dropped = "dropped",
    }
}

#[derive(Clone, Copy, Debug)]
pub struct NewJob<'a> {
    pub kind: DistilJobKind,
    pub of: &'a Conversation,
    pub turn: &'a TurnRow,
    pub at: Timestamp,
}

/// A job that this process may work on until its lease expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistilJob {
    id: i64,
    lease: i64,
    pub uid: Uid,
    pub conversation: i64,
    pub turn: u32,
    /// Failures caused by the job itself.
    pub attempts: u32,
    /// The end of the turn when the job was made.
    pub covers: Timestamp,
}

impl DistilJob {
    pub fn number(&self) -> i64 {
        self.id
    }
}

#[derive(Clone, Debug)]
pub struct JobResults {
    pub memories: Vec<NewMemory>,
    pub summary: Option<KeptSummary>,
    pub provider: String,
    pub spent: CallCost,
    pub at: Timestamp,
}

/// Why a job was given up for now.
#[derive(Clone, Debug)]
pub struct JobFailure<'a> {
    pub error: &'a str,
    pub provider: &'a str,
    pub spent: CallCost,
    pub at: Timestamp,
    pub again_at: Timestamp,
    /// The job's own failure, and how many of those it may have; `None` if the job is not to blame.
    pub most_attempts: Option<u32>,
}

/// A job as shown to users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRow {
    pub number: i64,
    /// `None` for a kind of a newer version.
    pub kind: Option<DistilJobKind>,
    pub state: JobState,
    pub session: Option<SessionKey>,
    pub turn: Option<u32>,
    pub made_at: Timestamp,
    pub due_at: Timestamp,
    pub attempts: u32,
    pub leased_until: Option<Timestamp>,
    pub error: Option<String>,
    pub ended_at: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobCounts {
    pub waiting: u64,
    pub done: u64,
    pub dead: u64,
    pub dropped: u64,
    /// Waiting jobs that are leased now.
    pub running: u64,
}

/// A finished turn that went on for more than 30 s is queued again; queueing twice is a no-op.
const MAKE: &str = "
    insert into jobs (uid, kind, conversation, turn, covers, made_at, due_at, attempts, lease, reserved, state)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?6, 0, 0, 0, 'waiting')
    on conflict (kind, conversation, turn) do update set covers = excluded.covers, due_at = excluded.due_at,
        state = 'waiting', attempts = 0, failed_at = null, error = null, ended_at = null, leased_until = null
    where jobs.state = 'done' and excluded.covers > jobs.covers + 30000";

const LEASE: &str = "
    update jobs set lease = lease + 1, leased_until = ?2, reserved = 0, reserved_day = null
    where id = (select id from jobs where state = 'waiting' and due_at <= ?1 and +kind = ?3
        and ifnull(leased_until, 0) <= ?1 order by due_at, id limit 1)
    returning id, lease, uid, conversation, turn, attempts, covers";

const DUE: &str = "
    select 1 from jobs where state = 'waiting' and due_at <= ?1 and ifnull(leased_until, 0) <= ?1 limit 1";

const HOLDS_LEASE: &str = "select 1 from jobs where id = ?1 and lease = ?2 and state = 'waiting'";

const RESERVE: &str =
    "update jobs set reserved = ?3, reserved_day = ?4 where id = ?1 and lease = ?2 and state = 'waiting'";

const FINISH: &str = "
    update jobs set state = 'done', ended_at = ?2, covers = ?3, leased_until = null, reserved = 0, reserved_day = null,
        error = null
    where id = ?1";

/// A job is dead after too many failures of its own, but only if the provider has answered others since the first one.
const ABANDON: &str = "
    update jobs set leased_until = null, reserved = 0, reserved_day = null, due_at = ?2, error = ?3,
        attempts = attempts + (?4 is not null), failed_at = ifnull(failed_at, ?5),
        state = iif(?4 is not null and attempts + 1 >= ?4
            and (select answered_at from providers where name = ?6) > ifnull(failed_at, ?5), 'dead', state),
        ended_at = iif(?4 is not null and attempts + 1 >= ?4
            and (select answered_at from providers where name = ?6) > ifnull(failed_at, ?5), ?5, ended_at)
    where id = ?1";

const GIVE_BACK: &str = "
    update jobs set leased_until = null, reserved = 0, reserved_day = null, due_at = max(due_at, ?3)
    where id = ?1 and lease = ?2 and state = 'waiting'";

const RETRY: &str = "
    update jobs set state = 'waiting', attempts = 0, failed_at = null, due_at = ?2, ended_at = null
    where id = ?1 and (state = 'dead' or state = 'dropped' or state = 'waiting' and ifnull(leased_until, 0) <= ?2)";
const DROP: &str = "
    update jobs set state = 'dropped', ended_at = ?2, reserved = 0, reserved_day = null, leased_until = null
    where id = ?1 and state in ('waiting', 'dead')";

const JOB: &str = "
    select j.id, j.kind, j.state, c.agent || ':' || c.session, j.turn, j.made_at, j.due_at, j.attempts, j.leased_until,
        j.error, j.ended_at
    from jobs j left join conversations c on c.id = j.conversation";

const COUNTS: &str = "
    select state, count(*), sum(state = 'waiting' and ifnull(leased_until, 0) > ?1) from jobs group by state";

/// Memories of a turn that no user changed: better ones supersede them.
const UNTOUCHED: &str = "
    select m.id from memories m where m.conversation = ?1 and m.turn = ?2 and m.maker <> 'person'
        and m.superseded_at is null and m.pinned_at is null and not exists
        (select 1 from memory_trace t where t.memory = m.id and t.what not in ('made', 'found again'))";

impl Archive {
    /// Queues work on a turn. False if it is queued already.
    pub fn make_job(&self, new: NewJob<'_>) -> Result<bool> {
        let (kind, turn) = (new.kind.name(), new.turn.ordinal.to_string());
        let uid = Uid::derived(new.turn.at, &["job", kind, &new.of.session.to_string(), &turn]);
        let row = params![uid.0, kind, new.of.id, new.turn.ordinal, new.turn.until.0, new.at.0];
        Ok(self.db.change(MAKE, row)? > 0)
    }

    pub fn has_due_job(&self, now: Timestamp) -> Result<bool> {
        self.db.exists(DUE, [now.0])
    }

    /// Leases the job of this kind that has been due longest, until `until`.
    pub fn lease_job(
        &self,
        kind: DistilJobKind,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<DistilJob>> {
        self.db.first(LEASE, (now.0, until.0, kind.name()))
    }

    /// The conversation and the turn of a job; `None` if they were deleted.
    pub fn subject(&self, job: &DistilJob) -> Result<Option<(Conversation, TurnRow)>> {
        let Some(conversation) = self.conversation_at(job.conversation)? else { return Ok(None) };
        let turn = self.turns(&conversation, job.turn, job.turn)?.into_iter().next();
        Ok(turn.map(|turn| (conversation, turn)))
    }

    /// Reserves tokens for the job's call. False if the lease was lost.
    pub(super) fn reserve_tokens(&self, job: &DistilJob, tokens: u64, now: Timestamp) -> Result<bool> {
        let row = (job.id, job.lease, tokens.cast_signed(), day(now));
        Ok(self.db.change(RESERVE, row)? > 0)
    }

    /// Finishes the job and stores its results in one transaction. Returns the memory numbers; `None` if the lease was
    /// lost.
    pub fn finish_job(&self, job: &DistilJob, results: &JobResults) -> Result<Option<Vec<i64>>> {
        self.in_transaction(|| {
            if !self.holds_lease(job)? {
                return Ok(None);
            }
            let kept =
                results.memories.iter().map(|new| self.store_once(new)).collect::<Result<Vec<_>, _>>()?;
            self.supersede_untouched(job, &kept, results.at)?;
            if let Some(summary) = &results.summary {
                self.put_newer_summary(job.conversation, summary)?;
            }
            self.db.change(FINISH, (job.id, results.at.0, job.covers.0))?;
            let kept_number = u64::try_from(kept.len()).unwrap_or(0);
            self.record_cost(&results.provider, results.spent, kept_number, results.at)?;
            Ok(Some(kept))
        })
    }

    /// A memory with the same words is counted, not stored twice.
    fn store_once(&self, new: &NewMemory) -> Result<i64> {
        if let Some(existing) = self.find_same_memory(&new.content, new.project)? {
            self.found_memory_again(existing, new.at)?;
            return Ok(existing);
        }
        self.add_memory(new)
    }

    fn supersede_untouched(&self, job: &DistilJob, kept: &[i64], at: Timestamp) -> Result<()> {
        let Some(best) = kept.first() else { return Ok(()) };
        let superseded = self.db.all::<i64>(UNTOUCHED, (job.conversation, job.turn))?;
        for number in superseded.into_iter().filter(|number| !kept.contains(number)) {
            self.replace_memory(number, *best, at, "told better")?;
        }
        Ok(())
    }

    /// Keeps a summary written by a user, and one that covers more turns.
    fn put_newer_summary(&self, row: i64, summary: &KeptSummary) -> Result<()> {
        let Some(conversation) = self.conversation_at(row)? else { return Ok(()) };
        match self.summary(&conversation)? {
            Some(existing) if existing.turn > summary.turn || existing.maker == MemoryAuthor::Person => {
                Ok(())
            }
            Some(_) | None => self.put_summary(&conversation, summary),
        }
    }

    /// Records a failure: the job waits for its next attempt, or is dead. `None` if the lease was lost.
    pub fn abandon_job(&self, job: &DistilJob, why: &JobFailure<'_>) -> Result<Option<JobState>> {
        self.in_transaction(|| {
            if !self.holds_lease(job)? {
                return Ok(None);
            }
            self.db.change(
                ABANDON,
                params![job.id, why.again_at.0, why.error, why.most_attempts, why.at.0, why.provider],
            )?;
            self.record_cost(why.provider, why.spent, 0, why.at)?;
            self.db.first("select state from jobs where id = ?1", [job.id])
        })
    }

    /// Returns an untried job to the queue, due no earlier than `until`.
    pub fn give_job_back(&self, job: &DistilJob, until: Timestamp) -> Result<()> {
        self.db.run(GIVE_BACK, (job.id, job.lease, until.0))
    }

    fn holds_lease(&self, job: &DistilJob) -> Result<bool> {
        self.db.exists(HOLDS_LEASE, (job.id, job.lease))
    }

    /// Retries these jobs at once. Returns how many changed.
    pub fn retry_jobs(&self, numbers: &[i64], now: Timestamp) -> Result<usize> {
        self.each_job(RETRY, numbers, now)
    }

    /// Drops these jobs. Returns how many changed.
    pub fn drop_jobs(&self, numbers: &[i64], now: Timestamp) -> Result<usize> {
        self.each_job(DROP, numbers, now)
    }

    fn each_job(&self, statement: &str, numbers: &[i64], now: Timestamp) -> Result<usize> {
        self.in_transaction(|| {
            let mut changed = 0;
            for number in numbers {
                changed += self.db.change(statement, (number, now.0))?;
            }
            Ok(changed)
        })
    }

    /// The newest first.
    pub fn jobs(&self, states: &[JobState], most: u32) -> Result<Vec<JobRow>> {
        let names: Vec<String> = states.iter().map(|state| format!("'{}'", state.name())).collect();
        let query = format!("{JOB} where j.state in ({}) order by j.id desc limit ?1", names.join(", "));
        self.db.all(&query, [most])
    }

    pub fn job(&self, number: i64) -> Result<Option<JobRow>> {
        let query = format!("{JOB} where j.id = ?1");
        self.db.first(&query, [number])
    }

    pub fn job_counts(&self, now: Timestamp) -> Result<JobCounts> {
        let mut counts = JobCounts::default();
        for (state, number, running) in self.db.all::<(String, u64, u64)>(COUNTS, [now.0])? {
            match JobState::named(&state) {
                Some(JobState::Waiting) => {
                    (counts.waiting, counts.running) = (number, running);
                }
                Some(JobState::Done) => counts.done = number,
                Some(JobState::Dead) => counts.dead = number,
                Some(JobState::Dropped) => counts.dropped = number,
                None => {}
            }
        }
        Ok(counts)
    }
}

from_row!(DistilJob { id, lease, uid, conversation, turn, attempts, covers });
from_row! { JobRow {
    number, kind, state, session: lenient_key, turn, made_at, due_at, attempts, leased_until,
    error, ended_at
} }
parsed_columns! { Option<DistilJobKind> = lenient(DistilJobKind::named), JobState = parse(JobState::named), }

#[cfg(test)]
mod tests;
