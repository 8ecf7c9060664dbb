//! Runs pending model jobs, one after the other: lease, ask, check, store.
//!
//! The archive is open only between provider calls, never during one. A kill loses nothing: a job finishes in
//! the same transaction as its results, or becomes due again when its lease expires.

use super::answer::{Checked, checked};
use super::gather::gather;
use super::provider::{AskError, ModelAnswer, Provider};
use super::request::{Request, Shape};
use crate::memory::outside;
use towline_core::capture::FileAccess;
use towline_core::id::Uid;
use towline_core::memory::suspicion::{Suspicion, quarantine_reason};
use towline_core::memory::{ConfidencePercent, MemoryAuthor, MemoryTrust};
use towline_core::time::Timestamp;
use towline_store::archive::{
    CallCost, Conversation, DistilJob, DistilJobKind, JobFailure, JobResults, JobState, KeptSummary,
    NewMemory, ProviderFailure, TurnRow,
};
use towline_store::{Archive, StoreError};

/// Access to the archive, held briefly with the write lock.
pub trait Opened {
    fn archive(&self) -> &Archive;
}

/// The configuration of one run.
pub struct Draining<'a> {
    pub provider: &'a dyn Provider,
    /// Opens the archive; `None` if another process holds it for too long.
    pub open: &'a dyn Fn() -> Result<Option<Box<dyn Opened>>, StoreError>,
    pub now: &'a dyn Fn() -> Timestamp,
    /// Whether calls of a tool are left out.
    pub skipped: &'a dyn Fn(&str) -> bool,
    pub daily_tokens: u64,
    pub per_memory_tokens: u64,
    pub attempts: u32,
    /// The longest time of one call; a lease lasts longer.
    pub patience_ms: i64,
    pub most_jobs: usize,
}

/// The outcome of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    pub done: usize,
    pub kept: usize,
    pub failed: usize,
    pub dead: usize,
    pub spent: CallCost,
    /// The provider had failed and answers again.
    pub recovered: bool,
    pub left: Left,
}

/// Why the run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Left {
    /// No job is due.
    #[default]
    Nothing,
    /// More jobs are due than one run takes.
    More,
    /// The day's token budget is spent.
    Budget,
    /// The provider is paused after failures.
    Trouble(ProviderFailure),
    /// Another process holds the archive.
    Busy,
}

/// Consecutive failures after which a provider is paused, even if the requests were at fault.
const ENOUGH: u32 = 3;
const MINUTE_MS: i64 = 60_000;
const LONGEST_PAUSE_MS: i64 = 60 * MINUTE_MS;
const LONGEST_WAIT_MS: i64 = 6 * 60 * MINUTE_MS;

pub fn drain(with: &Draining<'_>) -> Result<Drained, StoreError> {
    let shape = Shape::new(with.per_memory_tokens, with.provider.adds_tokens());
    let mut drained = Drained::default();
    for _ in 0..with.most_jobs {
        let Some(opened) = (with.open)()? else { return Ok(Drained { left: Left::Busy, ..drained }) };
        let next = next(with, &shape, opened.archive())?;
        drop(opened);
        let asked = match next {
            NextStep::Ask(asked) => asked,
            NextStep::Settled => {
                drained.done += 1;
                continue;
            }
            NextStep::Leave(left) => return Ok(Drained { left, ..drained }),
        };
        let answer = with.provider.ask(&asked.request);
        let Some(opened) = (with.open)()? else { return Ok(Drained { left: Left::Busy, ..drained }) };
        settle(with, opened.archive(), &asked, answer, &mut drained)?;
    }
    Ok(Drained { left: Left::More, ..drained })
}

/// A request with its job and its turn.
struct JobRequest {
    job: DistilJob,
    of: Conversation,
    turn: TurnRow,
    request: Request,
    files: Vec<(String, FileAccess)>,
    commit: Option<String>,
    cost: u64,
    project: Option<i64>,
}

enum NextStep {
    Ask(Box<JobRequest>),
    /// The job's turn is gone or reverted, so it was finished without a call.
    Settled,
    Leave(Left),
}

fn next(with: &Draining<'_>, shape: &Shape, archive: &Archive) -> Result<NextStep, StoreError> {
    let now = (with.now)();
    let health = archive.health(with.provider.name())?;
    if let (true, Some(trouble)) = (health.again_at > now, &health.trouble) {
        return Ok(NextStep::Leave(Left::Trouble(trouble.clone())));
    }
    let lease_until = now.plus_ms(with.patience_ms + 2 * MINUTE_MS);
    let Some(job) = archive.lease_job(DistilJobKind::Distil, now, lease_until)? else {
        return Ok(NextStep::Leave(nothing_due(health.trouble)));
    };
    let subject = archive.subject(&job)?.filter(|(_, turn)| !turn.reverted);
    let Some((of, turn)) = subject else {
        let provider = with.provider.name().to_owned();
        let came =
            JobResults { memories: vec![], summary: None, provider, spent: CallCost::default(), at: now };
        archive.finish_job(&job, &came)?;
        return Ok(NextStep::Settled);
    };
    let asked = asked(with, shape, archive, job, of, turn)?;
    // A provider that used more tokens before may do so again.
    let tokens = asked.request.most_tokens.max(health.dearest);
    if !archive.reserve(&asked.job, tokens, with.daily_tokens, now)? {
        archive.give_job_back(&asked.job, now)?;
        return Ok(NextStep::Leave(Left::Budget));
    }
    Ok(NextStep::Ask(Box::new(asked)))
}

/// The provider's trouble persists while no job is due.
fn nothing_due(trouble: Option<ProviderFailure>) -> Left {
    let is_providers = |trouble: &ProviderFailure| {
        trouble.failures >= ENOUGH || !["refused", "prose", "invalid"].contains(&trouble.cause.as_str())
    };
    trouble.filter(is_providers).map_or(Left::Nothing, Left::Trouble)
}

fn asked(
    with: &Draining<'_>,
    shape: &Shape,
    archive: &Archive,
    mut job: DistilJob,
    of: Conversation,
    turn: TurnRow,
) -> Result<JobRequest, StoreError> {
    let material = gather(archive, &of, &turn, with.skipped)?;
    let usage = archive.usage(&of, turn.ordinal..=turn.ordinal)?;
    let cost =
        usage.iter().map(|model| model.tokens.input + model.tokens.cache_write + model.tokens.output).sum();
    job.covers = turn.until;
    let mut request = shape.request(&material);
    let reached = outside::before(archive, &of, turn.ordinal)?;
    let reached = outside::lower(reached, outside::look(archive, &of, &turn)?);
    request.digest.trust = reached.into_iter().fold(request.digest.trust, MemoryTrust::and);
    Ok(JobRequest {
        request,
        commit: material.commits.last().map(|commit| commit.hash.clone()),
        files: material.files,
        project: archive.project_of(&of)?,
        cost,
        job,
        of,
        turn,
    })
}

/// Stores the results, or records the failure.
fn settle(
    with: &Draining<'_>,
    archive: &Archive,
    asked: &JobRequest,
    answer: ModelAnswer,
    drained: &mut Drained,
) -> Result<(), StoreError> {
    let now = (with.now)();
    let spent = spent(asked, &answer);
    let found = answer.said.and_then(|text| checked(&text, &asked.files));
    drained.spent = plus(drained.spent, spent);
    match found {
        Ok(found) => {
            let came = came(with, asked, found, spent, now);
            if let Some(kept) = archive.finish_job(&asked.job, &came)? {
                drained.done += 1;
                drained.kept += kept.len();
            }
            drained.recovered |= archive.provider_answered(with.provider.name(), now)?.is_some();
        }
        Err(why) => {
            let state = fail(with, archive, asked, &why, spent, now)?;
            drained.failed += 1;
            drained.dead += usize::from(state == Some(JobState::Dead));
        }
    }
    Ok(())
}

/// Counts the request's own size if the provider reports no usage: a late answer is charged all the same.
fn spent(asked: &JobRequest, answer: &ModelAnswer) -> CallCost {
    let estimate = asked.request.most_tokens - u64::from(asked.request.most_output);
    match &answer.said {
        Ok(_) if answer.input == 0 => CallCost { calls: 1, input: estimate, output: answer.output },
        Err(AskError::TimedOut) => CallCost { calls: 1, input: estimate, output: 0 },
        Ok(_) | Err(_) => CallCost { calls: 1, input: answer.input, output: answer.output },
    }
}

fn plus(one: CallCost, other: CallCost) -> CallCost {
    CallCost {
        calls: one.calls + other.calls,
        input: one.input + other.input,
        output: one.output + other.output,
    }
}

fn came(
    with: &Draining<'_>,
    asked: &JobRequest,
    found: Checked,
    spent: CallCost,
    at: Timestamp,
) -> JobResults {
    let maker = MemoryAuthor::Model(with.provider.model().to_owned());
    let trust = asked.request.digest.trust;
    let memory = |(number, content): (usize, towline_core::memory::MemoryContent)| NewMemory {
        quarantine: quarantine_reason(&content, trust).map(Suspicion::why).map(str::to_owned),
        // Derived from job and position, so storing the same answer again creates no second memory.
        uid: uid(asked, number),
        content,
        project: asked.project,
        session: Some(asked.of.session.clone()),
        turn: Some(asked.turn.ordinal),
        branch: asked.of.branch.clone(),
        commit: asked.commit.clone(),
        maker: maker.clone(),
        trust,
        confidence: ConfidencePercent::percent(confidence(trust)),
        cost: asked.cost,
        at,
        valid_from: asked.turn.until,
    };
    let summary = found.summary.map(|summary| KeptSummary {
        summary,
        session: asked.of.session.clone(),
        turn: asked.turn.ordinal,
        maker: maker.clone(),
        trust,
        at,
    });
    let memories = found.memories.into_iter().enumerate().map(memory).collect();
    JobResults { memories, summary, provider: with.provider.name().to_owned(), spent, at }
}

fn uid(asked: &JobRequest, number: usize) -> Uid {
    let (job, covers) = (asked.job.uid.to_string(), asked.job.covers.0.to_string());
    Uid::derived(asked.turn.until, &["distilled", &job, &covers, &number.to_string()])
}

/// External content is less certain.
fn confidence(trust: MemoryTrust) -> u8 {
    match trust {
        MemoryTrust::Person | MemoryTrust::Agent => 70,
        MemoryTrust::Team | MemoryTrust::Tool => 65,
        MemoryTrust::Web => 50,
    }
}

/// A failure counts against the job if the job may have caused it, and always against the provider.
fn fail(
    with: &Draining<'_>,
    archive: &Archive,
    asked: &JobRequest,
    why: &AskError,
    spent: CallCost,
    at: Timestamp,
) -> Result<Option<JobState>, StoreError> {
    let provider = with.provider.name();
    let is_own = why.may_be_the_questions();
    let wait = doubled(MINUTE_MS, asked.job.attempts, LONGEST_WAIT_MS);
    let state = archive.abandon_job(
        &asked.job,
        &JobFailure {
            error: &why.to_string(),
            provider,
            spent,
            at,
            again_at: if is_own || *why == AskError::TimedOut { at.plus_ms(wait) } else { at },
            most_attempts: is_own.then_some(with.attempts),
        },
    )?;
    let failures = archive.health(provider)?.trouble.map_or(0, |trouble| trouble.failures);
    let again_at = again_at(why, failures, at);
    archive.provider_failed(provider, why.cause(), &why.to_string(), at, again_at)?;
    Ok(state)
}

/// The time at which the provider may be asked again.
fn again_at(why: &AskError, failures_before: u32, at: Timestamp) -> Timestamp {
    let pause = at.plus_ms(doubled(MINUTE_MS, failures_before, LONGEST_PAUSE_MS));
    match why {
        AskError::Quota { until: Some(until), .. } => (*until).max(pause),
        AskError::RateLimited { after_s: Some(after), .. } => at.plus_ms(i64::from(*after).min(3600) * 1000),
        AskError::Quota { until: None, .. }
        | AskError::RateLimited { after_s: None, .. }
        | AskError::NotLoggedIn(_)
        | AskError::Unavailable(_)
        | AskError::Misconfigured(_)
        | AskError::TimedOut => pause,
        AskError::Refused(_) | AskError::NotJson(_) | AskError::Invalid(_) => {
            if failures_before + 1 < ENOUGH { at } else { pause }
        }
    }
}

/// Exponential backoff with a limit.
fn doubled(first_ms: i64, times: u32, most_ms: i64) -> i64 {
    first_ms.saturating_mul(1_i64.checked_shl(times.min(30)).unwrap_or(i64::MAX)).min(most_ms)
}
