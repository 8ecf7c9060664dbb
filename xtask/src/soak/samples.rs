//! Samples per tenth of the time: hook times, the server, processes, logs of the databases.
//!
//! Only looks; the one owner of what counts as drift.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use towline_testkit::Process;

use super::Scene;
use super::crowd::Crowd;
use super::say;
use crate::bench::report::{Judgement, Table};
use crate::bench::statistics::{percentile, sorted};
use crate::outcome::Result;
use crate::server::Server;

const TENTHS: u32 = 10;
/// Logs of the databases and processes are looked at this often; the largest counts.
const LOOK: Duration = Duration::from_millis(250);

#[derive(Default)]
pub struct Samples {
    all: Mutex<Vec<Sample>>,
}

/// A tenth of the time.
#[derive(Clone, Default)]
struct Sample {
    hooks: usize,
    hook_p50_ms: f64,
    hook_p99_ms: f64,
    server_mb: f64,
    server_files: usize,
    processes: usize,
    /// The verbs of those processes, when they were most.
    verbs: String,
    archive_log_mb: f64,
    database_log_mb: f64,
}

impl Samples {
    fn all(&self) -> MutexGuard<'_, Vec<Sample>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn take_until_over(&self, scene: &Scene, server: &Server, crowd: &Crowd) -> Result<()> {
        let data = scene.env.data_dir();
        for tenth in 1..=TENTHS {
            let mut sample = Sample::default();
            while scene.share() < f64::from(tenth) / f64::from(TENTHS) {
                let size = |name: &str| megabytes(&data.join(name));
                sample.archive_log_mb = sample.archive_log_mb.max(size("archive.db-wal"));
                sample.database_log_mb = sample.database_log_mb.max(size("towline.db-wal"));
                sample.look_at(&scene.env.processes());
                thread::sleep(LOOK);
            }
            let walls = sorted(std::mem::take(&mut crowd.counts().walls));
            sample.hooks = walls.len();
            [sample.hook_p50_ms, sample.hook_p99_ms] = [50, 99].map(|percent| percentile(&walls, percent));
            sample.server_mb = server.resident_mb()?;
            sample.server_files =
                fs::read_dir(format!("/proc/{}/fd", server.process())).map_or(0, Iterator::count);
            say(&sample.cells(tenth).join("  "))?;
            self.all().push(sample);
        }
        Ok(())
    }

    pub fn table(&self) -> Table {
        let columns = [
            "tenth",
            "hooks",
            "p50 ms",
            "p99 ms",
            "serve MB",
            "serve files",
            "processes",
            "archive log MB",
            "database log MB",
            "most processes",
        ];
        let rows = self.all().iter().zip(1..).map(|(sample, tenth)| sample.cells(tenth)).collect();
        Table::new("Tenths of the time", &columns, rows)
    }

    /// Compares the last three tenths with the second to fourth: the first warms up, the fifth and seventh hold the import
    /// and the forgetting.
    pub fn drift(&self) -> Vec<Judgement> {
        let all = self.all();
        if all.len() < TENTHS as usize {
            return vec![Judgement { holds: false, text: "the samples are not complete".to_owned() }];
        }
        let judge = |name: &str, figure: &dyn Fn(&Sample) -> f64, factor: f64, grace: f64| {
            let mean = |part: &[Sample]| part.iter().map(figure).sum::<f64>() / part.len() as f64;
            let (early, late) = (mean(&all[1..4]), mean(&all[7..]));
            let text = format!("{name}: {early:.1} early, {late:.1} late (at most × {factor} + {grace})");
            Judgement { holds: late <= early * factor + grace, text }
        };
        vec![
            judge("hook p50, ms", &|sample| sample.hook_p50_ms, 1.5, 3.0),
            judge("memory of the server, MB", &|sample| sample.server_mb, 1.3, 20.0),
            judge("open files of the server", &|sample| sample.server_files as f64, 1.2, 10.0),
            judge("processes", &|sample| sample.processes as f64, 1.3, 10.0),
            judge("log of the archive, MB", &|sample| sample.archive_log_mb, 1.5, 16.0),
            judge("log of the database, MB", &|sample| sample.database_log_mb, 1.5, 8.0),
        ]
    }
}

impl Sample {
    fn cells(&self, tenth: u32) -> Vec<String> {
        vec![
            tenth.to_string(),
            self.hooks.to_string(),
            format!("{:.1}", self.hook_p50_ms),
            format!("{:.1}", self.hook_p99_ms),
            format!("{:.1}", self.server_mb),
            self.server_files.to_string(),
            self.processes.to_string(),
            format!("{:.1}", self.archive_log_mb),
            format!("{:.1}", self.database_log_mb),
            self.verbs.clone(),
        ]
    }

    fn look_at(&mut self, processes: &[Process]) {
        if processes.len() <= self.processes {
            return;
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for process in processes {
            let verb = process.command.split(' ').nth(1).unwrap_or_default();
            *counts.entry(if verb == "infinity" { "agent" } else { verb }).or_default() += 1;
        }
        let words = counts.iter().map(|(verb, count)| format!("{count} {verb}"));
        (self.processes, self.verbs) = (processes.len(), words.collect::<Vec<_>>().join(", "));
    }
}

fn megabytes(path: &Path) -> f64 {
    fs::metadata(path).map_or(0.0, |meta| meta.len() as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(memory: impl Fn(usize) -> f64) -> Samples {
        let one = |tenth| Sample { server_mb: memory(tenth), ..Sample::default() };
        Samples { all: Mutex::new((0..TENTHS as usize).map(one).collect()) }
    }

    #[test]
    fn memory_that_grows_all_the_time_is_drift_and_a_peak_in_the_middle_is_not() {
        assert!(samples(|tenth| 50.0 + 20.0 * tenth as f64).drift().iter().any(|judged| !judged.holds));
        assert!(
            samples(|tenth| if tenth == 5 { 300.0 } else { 50.0 }).drift().iter().all(|judged| judged.holds)
        );
    }
}
