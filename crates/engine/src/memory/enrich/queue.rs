//! The queue of jobs as a user sees and changes it: list, retry, drop.
//!
//! Calls no model: a retry starts a detached worker.

use super::{Standing, standing};
use crate::runtime::{Env, Failure, archive, spawn};
use std::time::Duration;
use towline_store::archive::{JobRow, JobState};
use towline_store::{Archive, StoreError};

const PATIENCE: Duration = Duration::from_secs(5);

/// Which jobs are meant.
#[derive(Clone, Debug, Default)]
pub struct JobSelection {
    /// All that wait or failed, if empty.
    pub numbers: Vec<i64>,
    /// Only jobs that failed too often.
    pub is_dead_only: bool,
}

impl JobSelection {
    fn states(&self) -> &'static [JobState] {
        if self.is_dead_only { &[JobState::Dead] } else { &[JobState::Waiting, JobState::Dead] }
    }
}

pub struct JobList {
    /// `None` if nothing was captured yet.
    pub standing: Option<Standing>,
    pub jobs: Vec<JobRow>,
}

/// The jobs of a selection without numbers, at most `limit`.
pub fn jobs(env: &Env, selection: &JobSelection, limit: u32) -> Result<JobList, Failure> {
    let archive = Archive::read(&env.home, PATIENCE)?;
    let jobs = archive.map(|archive| archive.jobs(selection.states(), limit)).transpose();
    let jobs = jobs?.unwrap_or_default();
    Ok(JobList { standing: standing(env)?, jobs })
}

/// Makes jobs due at once. Returns their number.
pub fn retry_jobs(env: &Env, selection: &JobSelection) -> Result<usize, Failure> {
    let retried = change(env, selection, |archive, numbers| {
        archive.ask_providers_again()?;
        archive.retry_jobs(numbers, env.now)
    })?;
    spawn::start_detached(env);
    Ok(retried)
}

/// Drops jobs for good. Returns their number.
pub fn drop_jobs(env: &Env, selection: &JobSelection) -> Result<usize, Failure> {
    if selection.numbers.is_empty() && !selection.is_dead_only {
        return Err(Failure::input("which jobs are to be dropped?").hint("Give their numbers, or --dead."));
    }
    change(env, selection, |archive, numbers| archive.drop_jobs(numbers, env.now))
}

fn change(
    env: &Env,
    selection: &JobSelection,
    act: impl FnOnce(&Archive, &[i64]) -> Result<usize, StoreError>,
) -> Result<usize, Failure> {
    let busy = || Failure::busy("the archive is in use").hint("Try again in a moment.");
    let writable = archive::open(env, PATIENCE)?.ok_or_else(busy)?;
    let archive = &writable.archive;
    let numbers = match selection.numbers.as_slice() {
        [] => {
            let all = archive.jobs(selection.states(), u32::MAX)?;
            all.iter().map(|job| job.number).collect()
        }
        numbers => numbers.to_vec(),
    };
    for number in &numbers {
        if archive.job(*number)?.is_none() {
            return Err(Failure::input(format!("there is no job {number}")).hint("Run `tow data jobs`."));
        }
    }
    act(archive, &numbers).map_err(Failure::from)
}
