//! The processor time that background work may use per hour, and how much of it is used.
//!
//! Counts the time of this process, and of earlier ones in a small file. Limits only callers that ask.

use super::config::settings;
use super::env::Env;
use super::json_file;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use towline_core::time::Timestamp;
use towline_store::DataFolder;

const HOUR_MS: i64 = 3_600_000;

/// Less time is added to the file only when the process ends.
const SAVED_FROM_MS: u64 = 1_000;

/// The processor time used in one hour, as stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct UsedHour {
    /// Hours since 1970.
    hour: i64,
    ms: u64,
}

/// The budget of one process; `limit_ms` is `None` for work that a user asked for.
pub struct CpuBudget<'a> {
    env: &'a Env,
    limit_ms: Option<u64>,
    /// The time of this process that is in the file already.
    counted_ms: AtomicU64,
}

/// How much of an hour's budget is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetUse {
    pub used_ms: u64,
    /// 0 if there is no limit.
    pub limit_ms: u64,
    /// The next hour, if the budget of this one is used up.
    pub paused_until: Option<Timestamp>,
}

impl<'a> CpuBudget<'a> {
    /// The budget that the user configured.
    pub fn configured(env: &'a Env) -> CpuBudget<'a> {
        let limit_ms = Some(limit_ms(env)).filter(|limit| *limit > 0);
        CpuBudget { env, limit_ms, counted_ms: AtomicU64::new(0) }
    }

    pub fn unlimited(env: &'a Env) -> CpuBudget<'a> {
        CpuBudget { env, limit_ms: None, counted_ms: AtomicU64::new(0) }
    }

    /// Whether work may go on.
    pub fn has_left(&self) -> bool {
        self.count(process_ms(), SAVED_FROM_MS)
    }

    /// Adds the new time of this process to the file if it is at least `least_ms`: whoever watches the data folder wakes
    /// each time. Returns whether some of the budget is left.
    fn count(&self, process_ms: u64, least_ms: u64) -> bool {
        let new_ms = process_ms.saturating_sub(self.counted_ms.load(Ordering::Relaxed));
        let hour = hour(self.env.later().now);
        let used = UsedHour { hour, ms: used_in(&self.env.home, hour) + new_ms };
        let has_left = self.limit_ms.is_none_or(|limit| used.ms < limit);
        if new_ms > 0 && (new_ms >= least_ms || !has_left) {
            json_file::save(&file(&self.env.home), &used);
            self.counted_ms.store(process_ms, Ordering::Relaxed);
        }
        has_left
    }
}

impl Drop for CpuBudget<'_> {
    fn drop(&mut self) {
        self.count(process_ms(), 1);
    }
}

/// How much of this hour's budget is used.
pub fn used(env: &Env) -> BudgetUse {
    let (hour, limit_ms) = (hour(env.now), limit_ms(env));
    let used_ms = used_in(&env.home, hour);
    let is_over = limit_ms > 0 && used_ms >= limit_ms;
    BudgetUse { used_ms, limit_ms, paused_until: is_over.then_some(Timestamp((hour + 1) * HOUR_MS)) }
}

fn limit_ms(env: &Env) -> u64 {
    u64::from(settings(env).work.cpu_minutes_per_hour) * 60_000
}

fn hour(at: Timestamp) -> i64 {
    at.0.div_euclid(HOUR_MS)
}

fn used_in(home: &DataFolder, hour: i64) -> u64 {
    let stored: UsedHour = json_file::load(&file(home)).unwrap_or_default();
    if stored.hour == hour { stored.ms } else { 0 }
}

fn file(home: &DataFolder) -> PathBuf {
    home.folder().join("work.cpu")
}

/// The processor time of all threads of this process; 0 if the system does not tell.
fn process_ms() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name in parentheses may hold anything. Of the fields behind it, the 12th and 13th are user and system time.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks * 1000 / rustix::param::clock_ticks_per_second().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env_at(folder: &tempfile::TempDir, now: Timestamp) -> Env {
        let home = DataFolder::at(folder.path());
        home.create().unwrap();
        let config = folder.path().join("config.toml");
        fs::write(&config, "[work]\ncpu_minutes_per_hour = 1\n").unwrap();
        let mut env = Env::at(home, config);
        env.now = now;
        env
    }

    #[test]
    fn the_time_of_several_processes_adds_up_until_the_hour_ends() {
        let folder = tempfile::tempdir().unwrap();
        // Far ahead of the clock, and at the beginning of an hour that the test does not outlast.
        let now = Timestamp(i64::MAX / 4 / HOUR_MS * HOUR_MS);
        let env = env_at(&folder, now);
        let count = |budget: &CpuBudget<'_>, ms| budget.count(ms, SAVED_FROM_MS);
        let first = CpuBudget::configured(&env);
        assert!(count(&first, 30_000) && count(&first, 31_000), "31 of 60 seconds are used");
        assert!(count(&CpuBudget::configured(&env), 28_000), "59");
        let last = CpuBudget::configured(&env);
        assert!(!count(&last, 2_000) && !count(&last, 2_000), "61");
        let next = now.plus_ms(HOUR_MS);
        let over = BudgetUse { used_ms: 61_000, limit_ms: 60_000, paused_until: Some(next) };
        assert_eq!(used(&env), over);
        assert!(count(&CpuBudget::unlimited(&env), 2_000), "a user asked for it");
        let later = env_at(&folder, next);
        assert_eq!(used(&later), BudgetUse { used_ms: 0, limit_ms: 60_000, paused_until: None });
        assert!(count(&CpuBudget::configured(&later), 1_000));
    }

    #[test]
    fn the_processor_time_of_this_process_grows() {
        let before = process_ms();
        let mut number = 1_u64;
        while process_ms() < before + 30 {
            number = std::hint::black_box(number.wrapping_mul(31) + 7);
        }
        assert!(process_ms() >= before + 30 && number != 0);
    }
}
