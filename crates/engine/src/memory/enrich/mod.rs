//! Extracts memories with the configured model: creates jobs from captured turns, which `tow data work` runs.
//!
//! No command waits for it. A failure only costs time: jobs remain, memories made by rules serve meanwhile,
//! and the user is notified once.

mod notice;
mod providers;
mod queue;

pub use notice::session_start_notice;
pub use providers::provider;
pub use queue::{JobList, JobSelection, drop_jobs, jobs, retry_jobs};
pub use towline_store::archive::{JobRow, JobState};

use crate::memory::model::{Drained, Draining, Left, Opened, READER, drain, make_jobs};
use crate::runtime::archive::Writable;
use crate::runtime::config::Enrich;
use crate::runtime::{Env, archive, settings, spawn};
use std::time::Duration;
use towline_core::id::SessionKey;
use towline_core::session::SessionState;
use towline_core::time::Timestamp;
use towline_store::{Archive, Store, StoreError};

/// How long a worker waits for another writer of the archive.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(500);

/// The number of jobs per run, before upkeep takes over again.
const AT_ONCE: usize = 20;

impl Opened for Writable {
    fn archive(&self) -> &Archive {
        &self.archive
    }
}

/// Creates missing jobs and runs some that are due. Returns `None` if no model is configured.
pub fn run(env: &Env) -> Result<Option<Drained>, StoreError> {
    let config = settings(env);
    let wanted = config.enrich;
    if !wanted.is_on() || !env.home.archive().exists() {
        return Ok(None);
    }
    let Some(writable) = archive::open(env, PATIENCE)? else {
        return Ok(Some(Drained { left: Left::Busy, ..Drained::default() }));
    };
    make(env, &writable.archive)?;
    drop(writable);
    let provider = provider(env, &wanted);
    let drained = drain(&Draining {
        provider: &*provider,
        open: &|| Ok(archive::open(env, PATIENCE)?.map(|writable| Box::new(writable) as Box<dyn Opened>)),
        now: &|| env.later().now,
        skipped: &|tool| config.distil.skips(tool),
        daily_tokens: wanted.daily_tokens,
        per_memory_tokens: wanted.per_memory_tokens,
        attempts: wanted.attempts,
        patience_ms: i64::from(wanted.timeout_s) * 1000,
        most_jobs: AT_ONCE,
    })?;
    notice::note(env, &wanted, &*provider, &drained);
    Ok(Some(drained))
}

/// A session's last turn is unfinished while hooks report it as working; without hooks it counts as finished.
fn make(env: &Env, archive: &Archive) -> Result<usize, StoreError> {
    let store = Store::read(&env.home, LOOK).ok().flatten();
    let is_working = |key: &SessionKey| {
        let session = store.as_ref().and_then(|store| store.session(key).ok().flatten());
        session
            .is_some_and(|session| matches!(session.state, SessionState::Working | SessionState::Blocked(_)))
    };
    make_jobs(archive, env.later().now, &is_working)
}

/// Whether changes or due jobs are waiting. Reads only.
pub fn waits(env: &Env) -> bool {
    let look = || -> Result<bool, StoreError> {
        let Some(archive) = Archive::read(&env.home, LOOK)? else { return Ok(false) };
        let is_new = archive.read_up_to(READER)?.unwrap_or(0) < archive.last_change()?;
        Ok(is_new || archive.has_due_job(env.later().now)?)
    };
    settings(env).enrich.is_on() && look().unwrap_or(false)
}

/// Starts a detached worker for jobs that a capture may have created.
pub fn nudge(env: &Env) {
    if settings(env).enrich.is_on() {
        spawn::start_detached(env);
    }
}

/// The state of the configured model, for display.
pub struct Standing {
    pub wanted: Enrich,
    pub counts: towline_store::archive::JobCounts,
    pub health: towline_store::archive::ProviderHealth,
    pub budget: towline_store::archive::DayBudget,
    /// Memories created from today's tokens.
    pub kept_today: u64,
}

/// The current state; `None` without an archive.
pub fn standing(env: &Env) -> Result<Option<Standing>, StoreError> {
    let wanted = settings(env).enrich.into_inner();
    let Some(archive) = Archive::read(&env.home, LOOK)? else { return Ok(None) };
    let today = today(env.now);
    let days = archive.spending(20)?;
    Ok(Some(Standing {
        counts: archive.job_counts(env.now)?,
        health: archive.health(wanted.provider.name())?,
        budget: archive.budget(env.now)?,
        kept_today: days.iter().filter(|day| day.day == today).map(|day| day.kept).sum(),
        wanted,
    }))
}

fn today(now: Timestamp) -> String {
    now.to_utc()[..10].to_owned()
}
