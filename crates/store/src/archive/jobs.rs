//! Work for later on what was captured: asked for once, leased, and ended together with what came of it.
//!
//! A job is leased, not taken: whoever dies with it gives it back by the lease's end, and with it what was set aside for
//! its call. Nothing is done twice: only the last lease can end a job, in the transaction that keeps what came of it.

use super::memories::NewMemory;
use super::read::unknown;
use super::spending::{Spent, day};
use super::summaries::KeptSummary;
use super::{Archive, Conversation, TurnRow};
use crate::StoreError;
use rusqlite::{OptionalExtension, Row, params};
use towline_core::id::{SessionKey, Uid};
use towline_core::memory::Maker;
use towline_core::time::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobKind {
    /// Put what a turn taught into words, by a model.
    Distil,
}

impl JobKind {
    pub fn name(self) -> &'static str {
        match self {
            JobKind::Distil => "distil",
        }
    }

    fn named(name: &str) -> Option<JobKind> {
        [JobKind::Distil].into_iter().find(|kind| kind.name() == name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    Waiting,
    Done,
    /// Failed too often; a person can have it tried again.
    Dead,
    /// A person wants it left.
    Dropped,
}

impl JobState {
    pub const ALL: [JobState; 4] = [JobState::Waiting, JobState::Done, JobState::Dead, JobState::Dropped];

    pub fn name(self) -> &'static str {
        match self {
            JobState::Waiting => "waiting",
            JobState::Done => "done",
            JobState::Dead => "dead",
            JobState::Dropped => "dropped",
        }
    }

    pub fn named(name: &str) -> Option<JobState> {
        JobState::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// Work on a turn that is to be asked for.
#[derive(Clone, Copy, Debug)]
pub struct NewJob<'a> {
    pub kind: JobKind,
    pub of: &'a Conversation,
    pub turn: &'a TurnRow,
    pub at: Timestamp,
}

/// A job that this process may do until its lease ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    id: i64,
    lease: i64,
    pub uid: Uid,
    pub conversation: i64,
    pub turn: u32,
    /// How often it has failed by itself.
    pub attempts: u32,
    /// Up to when the turn had gone.
    pub covers: Timestamp,
}

impl Job {
    /// What people call it by.
    pub fn number(&self) -> i64 {
        self.id
    }
}

/// What came of a job.
#[derive(Clone, Debug)]
pub struct Came {
    pub memories: Vec<NewMemory>,
    pub summary: Option<KeptSummary>,
    pub provider: String,
    pub spent: Spent,
    pub at: Timestamp,
}

/// What keeps a job from being done now.
#[derive(Clone, Debug)]
pub struct Abandoned<'a> {
    pub error: &'a str,
    pub provider: &'a str,
    pub spent: Spent,
    pub at: Timestamp,
    pub again_at: Timestamp,
    /// Counts as one of the job's own failures, of which it may have so many; `None` where another's fault it was.
    pub most_attempts: Option<u32>,
}

/// A job as people are shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptJob {
    pub number: i64,
    /// `None` for a kind that only a newer version knows.
    pub kind: Option<JobKind>,
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
    /// Among those that wait: leased by somebody now.
    pub running: u64,
}

/// A turn that went on much longer than what was looked at is looked at again; asking twice is asking once.
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

const IS_OURS: &str = "select 1 from jobs where id = ?1 and lease = ?2 and state = 'waiting'";

const RESERVE: &str =
    "update jobs set reserved = ?3, reserved_day = ?4 where id = ?1 and lease = ?2 and state = 'waiting'";

const FINISH: &str = "
    update jobs set state = 'done', ended_at = ?2, covers = ?3, leased_until = null, reserved = 0, reserved_day = null,
        error = null
    where id = ?1";

/// One that failed by itself is dead only if the provider has answered others since it first failed.
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
const LEAVE: &str = "
    update jobs set state = 'dropped', ended_at = ?2, reserved = 0, reserved_day = null, leased_until = null
    where id = ?1 and state in ('waiting', 'dead')";

const KEPT: &str = "
    select j.id, j.kind, j.state, c.agent || ':' || c.session, j.turn, j.made_at, j.due_at, j.attempts, j.leased_until,
        j.error, j.ended_at
    from jobs j left join conversations c on c.id = j.conversation";

const COUNTS: &str = "
    select state, count(*), sum(state = 'waiting' and ifnull(leased_until, 0) > ?1) from jobs group by state";

/// Memories of a turn that nobody touched: they give way to what is told better.
const UNTOUCHED: &str = "
    select m.id from memories m where m.conversation = ?1 and m.turn = ?2 and m.maker <> 'person'
        and m.superseded_at is null and m.pinned_at is null and not exists
        (select 1 from memory_trace t where t.memory = m.id and t.what not in ('made', 'found again'))";

impl Archive {
    /// Asks for work on a turn. False where it was asked for before.
    pub fn make_job(&self, new: NewJob<'_>) -> Result<bool, StoreError> {
        let (kind, turn) = (new.kind.name(), new.turn.ordinal.to_string());
        let uid = Uid::derived(new.turn.at, &["job", kind, &new.of.session.to_string(), &turn]);
        let row = params![uid.0, kind, new.of.id, new.turn.ordinal, new.turn.until.0, new.at.0];
        Ok(self.db.prepare_cached(MAKE)?.execute(row)? > 0)
    }

    pub fn has_due_job(&self, now: Timestamp) -> Result<bool, StoreError> {
        Ok(self.db.prepare_cached(DUE)?.exists([now.0])?)
    }

    /// The job of this kind that is due longest, leased until `until`.
    pub fn lease_job(
        &self,
        kind: JobKind,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<Job>, StoreError> {
        let job = |row: &Row<'_>| {
            Ok(Job {
                id: row.get(0)?,
                lease: row.get(1)?,
                uid: Uid(row.get(2)?),
                conversation: row.get(3)?,
                turn: row.get(4)?,
                attempts: row.get(5)?,
                covers: Timestamp(row.get(6)?),
            })
        };
        let mut statement = self.db.prepare_cached(LEASE)?;
        Ok(statement.query_map((now.0, until.0, kind.name()), job)?.next().transpose()?)
    }

    /// What the job is about; `None` where that is gone by now.
    pub fn subject(&self, job: &Job) -> Result<Option<(Conversation, TurnRow)>, StoreError> {
        let Some(of) = self.conversation_at(job.conversation)? else { return Ok(None) };
        let turn = self.turns(&of, job.turn, job.turn)?.into_iter().next();
        Ok(turn.map(|turn| (of, turn)))
    }

    /// Sets tokens aside for the job's call. False where the lease was lost.
    pub(super) fn set_aside_for(&self, job: &Job, tokens: u64, now: Timestamp) -> Result<bool, StoreError> {
        let row = (job.id, job.lease, tokens.cast_signed(), day(now));
        Ok(self.db.prepare_cached(RESERVE)?.execute(row)? > 0)
    }

    /// Ends the job and keeps what came of it, as one. The numbers of the memories; `None` where somebody else has the job.
    pub fn finish_job(&self, job: &Job, came: &Came) -> Result<Option<Vec<i64>>, StoreError> {
        self.as_one(|| {
            if !self.is_ours(job)? {
                return Ok(None);
            }
            let kept = came.memories.iter().map(|new| self.keep_once(new)).collect::<Result<Vec<_>, _>>()?;
            if let Some(best) = kept.first() {
                self.tell_better((job, came.at), *best, &kept)?;
            }
            if let (Some(summary), Some(of)) = (&came.summary, self.conversation_at(job.conversation)?) {
                self.put_newer_summary(&of, summary)?;
            }
            self.db.prepare_cached(FINISH)?.execute((job.id, came.at.0, job.covers.0))?;
            let kept_number = u64::try_from(kept.len()).unwrap_or(0);
            self.pay(&came.provider, came.spent, (kept_number, came.at))?;
            Ok(Some(kept))
        })
    }

    /// What is known word by word is not kept twice.
    fn keep_once(&self, new: &NewMemory) -> Result<i64, StoreError> {
        if let Some(known) = self.same_memory(&new.content, new.project)? {
            self.found_memory_again(known, new.at)?;
            return Ok(known);
        }
        self.add_memory(new)
    }

    fn tell_better(&self, (job, at): (&Job, Timestamp), best: i64, kept: &[i64]) -> Result<(), StoreError> {
        let mut statement = self.db.prepare_cached(UNTOUCHED)?;
        let rows = statement.query_map((job.conversation, job.turn), |row| row.get::<_, i64>(0))?;
        let worse = rows.collect::<Result<Vec<_>, _>>()?;
        for number in worse.into_iter().filter(|number| !kept.contains(number)) {
            self.supersede_memory(number, Some(best), (at, "told better"))?;
        }
        Ok(())
    }

    /// A person's own words, and an account of more turns, stay.
    fn put_newer_summary(&self, of: &Conversation, summary: &KeptSummary) -> Result<(), StoreError> {
        match self.summary(of)? {
            Some(known) if known.turn > summary.turn || known.maker == Maker::Person => Ok(()),
            Some(_) | None => self.put_summary(of, summary),
        }
    }

    /// It failed: it waits for its next time, or is dead. `None` where somebody else has the job.
    pub fn abandon_job(&self, job: &Job, why: &Abandoned<'_>) -> Result<Option<JobState>, StoreError> {
        self.as_one(|| {
            if !self.is_ours(job)? {
                return Ok(None);
            }
            self.db.prepare_cached(ABANDON)?.execute(params![
                job.id,
                why.again_at.0,
                why.error,
                why.most_attempts,
                why.at.0,
                why.provider
            ])?;
            self.pay(why.provider, why.spent, (0, why.at))?;
            let state = "select state from jobs where id = ?1";
            let state: String = self.db.prepare_cached(state)?.query_row([job.id], |row| row.get(0))?;
            Ok(JobState::named(&state))
        })
    }

    /// Nothing was tried: it waits as before, at least until then.
    pub fn give_job_back(&self, job: &Job, until: Timestamp) -> Result<(), StoreError> {
        self.db.prepare_cached(GIVE_BACK)?.execute((job.id, job.lease, until.0))?;
        Ok(())
    }

    fn is_ours(&self, job: &Job) -> Result<bool, StoreError> {
        Ok(self.db.prepare_cached(IS_OURS)?.exists((job.id, job.lease))?)
    }

    /// Has these tried again at once. How many there were to try.
    pub fn retry_jobs(&self, numbers: &[i64], now: Timestamp) -> Result<usize, StoreError> {
        self.each_job(RETRY, numbers, now)
    }

    /// Leaves these for good. How many there were to leave.
    pub fn drop_jobs(&self, numbers: &[i64], now: Timestamp) -> Result<usize, StoreError> {
        self.each_job(LEAVE, numbers, now)
    }

    fn each_job(&self, statement: &str, numbers: &[i64], now: Timestamp) -> Result<usize, StoreError> {
        self.as_one(|| {
            let mut statement = self.db.prepare_cached(statement)?;
            let mut changed = 0;
            for number in numbers {
                changed += statement.execute((number, now.0))?;
            }
            Ok(changed)
        })
    }

    /// In the order in which they were asked for, the newest first.
    pub fn jobs(&self, states: &[JobState], most: u32) -> Result<Vec<KeptJob>, StoreError> {
        let names: Vec<String> = states.iter().map(|state| format!("'{}'", state.name())).collect();
        let query = format!("{KEPT} where j.state in ({}) order by j.id desc limit ?1", names.join(", "));
        let mut statement = self.db.prepare_cached(&query)?;
        Ok(statement.query_map([most], kept_job)?.collect::<Result<_, _>>()?)
    }

    pub fn job(&self, number: i64) -> Result<Option<KeptJob>, StoreError> {
        let query = format!("{KEPT} where j.id = ?1");
        Ok(self.db.prepare_cached(&query)?.query_row([number], kept_job).optional()?)
    }

    pub fn job_counts(&self, now: Timestamp) -> Result<JobCounts, StoreError> {
        let mut counts = JobCounts::default();
        let mut statement = self.db.prepare_cached(COUNTS)?;
        let row =
            |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?));
        for row in statement.query_map([now.0], row)? {
            let (state, number, running) = row?;
            let number = number.cast_unsigned();
            match JobState::named(&state) {
                Some(JobState::Waiting) => {
                    (counts.waiting, counts.running) = (number, running.cast_unsigned());
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

fn kept_job(row: &Row<'_>) -> rusqlite::Result<KeptJob> {
    let time = |column| row.get::<_, Option<i64>>(column).map(|at| at.map(Timestamp));
    Ok(KeptJob {
        number: row.get(0)?,
        kind: JobKind::named(&row.get::<_, String>(1)?),
        state: JobState::named(&row.get::<_, String>(2)?).ok_or_else(|| unknown(2))?,
        session: row.get::<_, Option<String>>(3)?.and_then(|key| SessionKey::parse(&key).ok()),
        turn: row.get(4)?,
        made_at: Timestamp(row.get(5)?),
        due_at: Timestamp(row.get(6)?),
        attempts: row.get(7)?,
        leased_until: time(8)?,
        error: row.get(9)?,
        ended_at: time(10)?,
    })
}

#[cfg(test)]
mod tests;
