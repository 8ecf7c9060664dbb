//! `cargo xtask fuzz hooks`: feeds damaged payloads to the real binary, more than a test has time for.
//!
//! Deterministic: a seed and a number identify a mutant, and a report names both. Must not touch the user's
//! folders: all hooks share one temporary home.

use std::ffi::OsStr;
use std::io::Write;
use std::ops::Range;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use std::{fs, thread};

use clap::Args;
use towline_testkit::mutate::{Mutant, Mutator, recordings};

use crate::files;
use crate::outcome::{Failure, Result, Verdict, output_of};
use crate::repository::Repository;

#[derive(Args)]
pub struct Options {
    /// The binary to feed
    #[arg(long, value_name = "PATH")]
    tow: PathBuf,
    /// How many mutants to try
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    count: u64,
    /// Decides what the mutants are
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Try this one only, and show its payload
    #[arg(long, value_name = "NUMBER", conflicts_with = "count")]
    only: Option<u64>,
}

const WORKERS: usize = 2;
const REPORTED_EVERY: usize = 10_000;
const LISTED_FLAWS: usize = 20;
const SHOWN_BYTES: usize = 2000;

/// The journal entry of a hook that panicked, which still exits with 0.
const PANIC: &[u8] = b"the hook panicked";

pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let tow = options.tow.canonicalize().map_err(Failure::read(&options.tow))?;
    let home = tempfile::tempdir().map_err(Failure::write(Path::new("a temporary folder")))?;
    let mutator = Mutator::new(recordings(&repository.root().join("crates/agents/fixtures")), options.seed);
    let trial = Trial { tow: &tow, home: home.path(), mutator };
    let numbers = options.only.map_or(0..options.count, |only| only..only + 1);
    if let Some(only) = options.only {
        let Mutant { agent, origin, feeding, payload } = trial.mutator.mutant(only);
        let start = payload[..payload.len().min(SHOWN_BYTES)].escape_ascii();
        writeln!(out, "{agent}, {origin}, {feeding:?}, {} bytes:\n{start}", payload.len())?;
    }
    let begun = Instant::now();
    let flaws = trial.flaws(numbers.clone(), out)?;
    let seconds = begun.elapsed().as_secs_f64();
    let count = numbers.end - numbers.start;
    let rate = f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / seconds;
    writeln!(
        out,
        "seed {}: {count} mutants in {seconds:.0} s ({rate:.0} per second), {} flaws",
        options.seed,
        flaws.len()
    )?;
    for Flaw { number, what } in flaws.iter().take(LISTED_FLAWS) {
        let repeat = format!("cargo xtask fuzz hooks --tow PATH --seed {} --only {number}", options.seed);
        writeln!(out, "mutant {number}: {what}\n  repeat: {repeat}")?;
    }
    let panics = trial.panics()?;
    writeln!(out, "{panics} panics; {}", trial.state_of_store()?)?;
    Ok(Verdict::of(flaws.is_empty() && panics == 0))
}

/// The setting in which all mutants are tried.
pub(super) struct Trial<'a> {
    pub tow: &'a Path,
    pub home: &'a Path,
    pub mutator: Mutator,
}

/// A mutant that was handled wrongly.
pub(super) struct Flaw {
    pub number: u64,
    pub what: String,
}

impl Trial<'_> {
    /// Tries every number, a few at a time, and prints progress now and then.
    pub fn flaws(&self, numbers: Range<u64>, out: &mut impl Write) -> Result<Vec<Flaw>> {
        let mut flaws = Vec::new();
        for start in numbers.clone().step_by(REPORTED_EVERY) {
            let end = (start + REPORTED_EVERY as u64).min(numbers.end);
            let of_worker = |from| (from..end).step_by(WORKERS).filter_map(|number| self.flaw_of(number));
            thread::scope(|scope| {
                let workers: Vec<_> = (start..end)
                    .take(WORKERS)
                    .map(|from| scope.spawn(move || of_worker(from).collect::<Vec<_>>()))
                    .collect();
                for worker in workers {
                    flaws.extend(worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
                }
            });
            if end == start + REPORTED_EVERY as u64 {
                writeln!(out, "{} tried, {} flaws …", end - numbers.start, flaws.len())?;
                out.flush()?;
            }
        }
        Ok(flaws)
    }

    fn flaw_of(&self, number: u64) -> Option<Flaw> {
        let mutant = self.mutator.mutant(number);
        let what = match mutant.feed_to(self.tow, &|program| self.command(program)) {
            Err(error) => Some(format!("the hook could not be started: {error}")),
            Ok(output) => mutant.flaw_in(&output),
        };
        what.map(|what| Flaw { number, what: format!("{} for {}: {what}", mutant.origin, mutant.agent) })
    }

    /// Passes nothing of the caller's environment on.
    fn command(&self, program: &OsStr) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.home).current_dir(self.home);
        command.env("XDG_RUNTIME_DIR", self.home);
        command
    }

    /// Counts panics in the journal, since the hook itself hides them.
    pub fn panics(&self) -> Result<usize> {
        let mut panics = 0;
        for path in files::below(&self.home.join(".local/share/towline/journal"))? {
            let bytes = fs::read(&path).map_err(Failure::read(&path))?;
            panics += bytes.windows(PANIC.len()).filter(|window| *window == PANIC).count();
        }
        Ok(panics)
    }

    /// Applies the rest of the journal, and lets the doctor check every page.
    pub fn state_of_store(&self) -> Result<String> {
        let command = |arguments: &[&str]| {
            let mut command = self.command(self.tow.as_os_str());
            command.args(arguments);
            command
        };
        let applied = output_of("tow work", &mut command(&["work"]))?;
        let looked = command(&["doctor", "--json"]).output().map_err(Failure::start("tow"))?;
        let report: serde_json::Value = serde_json::from_slice(&looked.stdout).map_err(|error| {
            let complaint = format!("{error}; it said: {}", String::from_utf8_lossy(&looked.stderr).trim());
            Failure::malformed("the report of `tow doctor --json`", complaint)
        })?;
        let checks = report["checks"].as_array().into_iter().flatten();
        let about_data =
            checks.filter(|check| matches!(check["name"].as_str(), Some("database" | "journal")));
        let details: Vec<&str> = about_data.filter_map(|check| check["detail"].as_str()).collect();
        Ok(format!("{}; {}", applied.trim_end(), details.join("; ")))
    }
}
