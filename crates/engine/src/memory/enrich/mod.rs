//! Putting turns into words by a model, where the user has named one: jobs from what was captured, done by `tow work`.
//!
//! Nobody waits for it. Whatever fails here costs nothing but time: the jobs stay, the rules' memories serve meanwhile,
//! and the person is told once.

mod notice;
mod providers;

pub use notice::told_at_start;
pub use providers::provider;

use crate::memory::model::{Drained, Draining, Left, Opened, READER, drain, make_jobs};
use crate::runtime::archive;
use crate::runtime::archive::Writable;
use crate::runtime::config::Enrich;
use crate::runtime::config::settings;
use crate::runtime::env::Env;
use crate::runtime::spawn;
use std::time::Duration;
use towline_core::id::SessionKey;
use towline_core::session::State;
use towline_core::time::Timestamp;
use towline_store::{Archive, Store, StoreError};

/// How long a worker waits for whoever writes the archive.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(500);

/// How many jobs are done before upkeep comes round again.
const AT_ONCE: usize = 20;

impl Opened for Writable {
    fn archive(&self) -> &Archive {
        &self.archive
    }
}

/// Makes the jobs that are missing and does some of those that are due. `None` where no model is named.
pub fn run(env: &Env) -> Result<Option<Drained>, StoreError> {
    let config = settings(env);
    let wanted = config.enrich;
    if !wanted.is_on() || !env.home.archive().exists() {
        return Ok(None);
    }
    be_nice();
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
    notice::note(env, (&wanted, &*provider), &drained);
    Ok(Some(drained))
}

/// A turn goes on while its session works, as far as hooks tell; a session that no hook told of has ended its last turn.
fn make(env: &Env, archive: &Archive) -> Result<usize, StoreError> {
    let store = Store::read(&env.home, LOOK).ok().flatten();
    let is_working = |key: &SessionKey| {
        let session = store.as_ref().and_then(|store| store.session(key).ok().flatten());
        session.is_some_and(|session| matches!(session.state, State::Working | State::Blocked(_)))
    };
    make_jobs(archive, env.later().now, &is_working)
}

/// Whether something has come since the jobs were last looked at. Reads only.
pub fn waits(env: &Env) -> bool {
    let look = || -> Result<bool, StoreError> {
        let Some(archive) = Archive::read(&env.home, LOOK)? else { return Ok(false) };
        let is_new = archive.read_up_to(READER)?.unwrap_or(0) < archive.last_change()?;
        Ok(is_new || archive.has_due_job(env.later().now)?)
    };
    settings(env).enrich.is_on() && look().unwrap_or(false)
}

/// Has the jobs done that a capture may have brought, by somebody for whom nobody waits.
pub fn nudge(env: &Env) {
    if settings(env).enrich.is_on() {
        spawn::start_detached();
    }
}

/// What is known of the model that is named, for surfaces.
pub struct Standing {
    pub wanted: Enrich,
    pub counts: towline_store::archive::JobCounts,
    pub health: towline_store::archive::Health,
    pub budget: towline_store::archive::Budget,
    /// Memories that came of today's tokens.
    pub kept_today: u64,
}

/// How it stands; without an archive there is nothing yet.
pub fn standing(env: &Env) -> Result<Option<Standing>, StoreError> {
    let wanted = settings(env).enrich;
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

/// Behind whatever a person waits for. The disk goes by the same order unless it is told otherwise.
pub fn be_nice() {
    let _ = rustix::process::nice(10);
}
