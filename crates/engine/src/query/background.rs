//! How far background work is: each job with what it still has to do, whether it runs, and its processor time.
//!
//! Only reads, and cheaply: counts end at a bound, and totals come from the highest ids.

use crate::memory::distil;
use crate::runtime::budget::{self, BudgetUse};
use crate::runtime::{Env, settings};
use crate::{index, sync};
use std::fs;
use std::time::Duration;
use towline_store::lock::WorkLock;
use towline_store::{Archive, Store, StoreError, erase};

const PATIENCE: Duration = Duration::from_secs(1);

/// Turns beyond this number are not counted.
const COUNTED: u32 = 20_000;

pub struct BackgroundWork {
    pub is_running: bool,
    pub cpu: BudgetUse,
    pub jobs: Vec<BackgroundJob>,
}

/// A job that `tow data work` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackgroundJob {
    pub name: &'static str,
    /// The plural of the counted thing.
    pub unit: &'static str,
    pub pending: u64,
    /// More than `pending` may wait: counting ended there.
    pub is_at_least: bool,
    pub total: Option<u64>,
}

impl BackgroundWork {
    /// Jobs that take longer than a moment: every turn leaves a few captures and turns behind.
    pub fn long_jobs(&self) -> impl Iterator<Item = &BackgroundJob> {
        self.jobs.iter().filter(|job| match job.name {
            "capture" | "expire" => false,
            _ => job.pending >= if job.unit == "turns" { 100 } else { 1 },
        })
    }
}

/// The state of all jobs.
pub fn background_work(env: &Env) -> Result<BackgroundWork, StoreError> {
    let archive = Archive::read(&env.home, PATIENCE)?;
    let mut jobs = vec![captures(env)];
    if let Some(archive) = &archive {
        jobs.extend([distilling(env, archive)?, indexing(env, archive)?, erasing(env, archive)?]);
    }
    jobs.push(expiring(env)?);
    if let Some(archive) = &archive {
        jobs.extend(exchanging(env, archive)?);
        jobs.extend(exporting(env, archive)?);
    }
    Ok(BackgroundWork { is_running: WorkLock::is_held(&env.home), cpu: budget::used(env), jobs })
}

/// Captures that wait for the end of a transcript, and those that gave up.
fn captures(env: &Env) -> BackgroundJob {
    let waiting = fs::read_dir(env.home.capture_locks()).map_or(0, |doors| doors.flatten().count() as u64);
    let gave_up = u64::from(env.home.capture_request().exists());
    BackgroundJob {
        name: "capture",
        unit: "transcripts",
        pending: waiting + gave_up,
        ..BackgroundJob::default()
    }
}

fn distilling(env: &Env, archive: &Archive) -> Result<BackgroundJob, StoreError> {
    let has_rules = settings(env).distil.rules;
    let pending = if has_rules { distil::count_pending(archive, COUNTED)? } else { 0 };
    turns("distil", archive, pending)
}

fn indexing(env: &Env, archive: &Archive) -> Result<BackgroundJob, StoreError> {
    // An index that cannot be read is built anew.
    let pending = index::unindexed_turns(&env.home, archive, COUNTED).unwrap_or(u64::from(COUNTED));
    turns("index", archive, pending)
}

fn turns(name: &'static str, archive: &Archive, pending: u64) -> Result<BackgroundJob, StoreError> {
    let total = archive.last_turn_row()?;
    let is_at_least = pending >= u64::from(COUNTED);
    Ok(BackgroundJob { name, unit: "turns", pending: pending.min(total), is_at_least, total: Some(total) })
}

/// Files of which an erasure left something: the archive, of which each page is looked at, and the index.
fn erasing(env: &Env, archive: &Archive) -> Result<BackgroundJob, StoreError> {
    let job = BackgroundJob { name: "erase", unit: "pages", ..BackgroundJob::default() };
    if let Some((swept, all)) = archive.sweep_progress()? {
        return Ok(BackgroundJob { pending: all.saturating_sub(swept).max(1), total: Some(all), ..job });
    }
    let is_left = erase::is_unfinished(&env.home) || index::is_purge_due(&env.home);
    Ok(BackgroundJob { unit: "files", pending: u64::from(is_left), ..job })
}

fn expiring(env: &Env) -> Result<BackgroundJob, StoreError> {
    let store = Store::read(&env.home, PATIENCE)?;
    let is_due = store.map_or(Ok(false), |store| store.has_due_job(env.now))?;
    let pending = u64::from(is_due);
    Ok(BackgroundJob { name: "expire", unit: "runs", pending, ..BackgroundJob::default() })
}

fn exchanging(env: &Env, archive: &Archive) -> Result<Option<BackgroundJob>, StoreError> {
    if !settings(env).hub.is_joined() {
        return Ok(None);
    }
    let pending = sync::waiting_in(archive)?;
    Ok(Some(BackgroundJob { name: "exchange", unit: "changes", pending, ..BackgroundJob::default() }))
}

/// The export of telemetry.
fn exporting(env: &Env, archive: &Archive) -> Result<Option<BackgroundJob>, StoreError> {
    if !sync::otlp::is_on(env) {
        return Ok(None);
    }
    turns("otlp", archive, sync::otlp::count_pending(archive, COUNTED)?).map(Some)
}
