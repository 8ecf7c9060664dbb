//! `cargo xtask fuzz hooks`: feeds damaged payloads to the real binary, more than a test has time for.
//!
//! Deterministic: a seed and a number identify a mutant, and a report names both. Must not touch the user's
//! folders: all hooks share one temporary home.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;
use std::{fs, thread};

use clap::{Args, Subcommand};
use towline_testkit::mutate::{Mutator, recordings};

use crate::outcome::{Failure, Verdict, stdout_of};
use crate::repository::Repository;

/// The fuzz targets.
#[derive(Subcommand)]
pub enum Fuzz {
    /// Feed damaged payloads to `tow hook`
    Hooks(Options),
}

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
const LISTED_FLAWS: usize = 20;
const SHOWN_BYTES: usize = 2000;

/// The journal entry of a hook that panicked, which still exits with 0.
const PANIC: &[u8] = b"the hook panicked";

pub fn run(
    Fuzz::Hooks(options): &Fuzz,
    repository: &Repository,
    out: &mut impl Write,
) -> Result<Verdict, Failure> {
    let tow = options.tow.canonicalize().map_err(Failure::read(&options.tow))?;
    let home = tempfile::tempdir().map_err(Failure::write(Path::new("a temporary folder")))?;
    let mutator = Mutator::new(recordings(&repository.root().join("crates/agents/fixtures")), options.seed);
    let trial = Trial { tow, home: home.path(), mutator };
    let numbers = options.only.map_or(0..options.count, |only| only..only + 1);
    if let Some(only) = options.only {
        show(&trial, only, out)?;
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
    for flaw in flaws.iter().take(LISTED_FLAWS) {
        writeln!(
            out,
            "{flaw}\n  repeat: cargo xtask fuzz hooks --tow PATH --seed {} --only {}",
            options.seed, flaw.number
        )?;
    }
    let panics = trial.panics()?;
    writeln!(out, "{panics} panics; {}", trial.state_of_store()?)?;
    Ok(Verdict::of(flaws.is_empty() && panics == 0))
}

fn show(trial: &Trial<'_>, number: u64, out: &mut impl Write) -> Result<(), Failure> {
    let mutant = trial.mutator.mutant(number);
    let start = &mutant.payload[..mutant.payload.len().min(SHOWN_BYTES)];
    let (agent, bytes) = (&mutant.agent, mutant.payload.len());
    writeln!(
        out,
        "{agent}, {}, {:?}, {bytes} bytes:\n{}",
        mutant.origin,
        mutant.feeding,
        start.escape_ascii()
    )?;
    Ok(())
}

/// The setting in which all mutants are tried.
struct Trial<'a> {
    tow: PathBuf,
    home: &'a Path,
    mutator: Mutator,
}

/// A mutant that the hook handled wrongly.
#[derive(Debug)]
struct Flaw {
    number: u64,
    what: String,
}

impl std::fmt::Display for Flaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "mutant {}: {}", self.number, self.what)
    }
}

impl Trial<'_> {
    /// Tries every number, a few at a time, and prints progress now and then.
    fn flaws(&self, numbers: std::ops::Range<u64>, out: &mut impl Write) -> Result<Vec<Flaw>, Failure> {
        let next = AtomicU64::new(numbers.start);
        let (said, heard) = channel();
        thread::scope(|scope| {
            for _ in 0..WORKERS {
                let (said, next) = (said.clone(), &next);
                scope.spawn(move || self.work(next, numbers.end, &said));
            }
            drop(said);
            let (mut flaws, mut tried) = (Vec::new(), 0u64);
            for flaw in heard {
                flaws.extend(flaw);
                tried += 1;
                if tried.is_multiple_of(10_000) {
                    writeln!(out, "{tried} tried, {} flaws …", flaws.len())?;
                    out.flush()?;
                }
            }
            Ok(flaws)
        })
    }

    fn work(&self, next: &AtomicU64, end: u64, said: &Sender<Option<Flaw>>) {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            // The receiver is gone: the report has failed.
            if number >= end || said.send(self.flaw_of(number)).is_err() {
                return;
            }
        }
    }

    fn flaw_of(&self, number: u64) -> Option<Flaw> {
        let mutant = self.mutator.mutant(number);
        let what = match mutant.feed_to(&self.tow, &|program| self.command(program)) {
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
    fn panics(&self) -> Result<usize, Failure> {
        let folder = self.home.join(".local/share/towline/journal");
        let mut panics = 0;
        for entry in fs::read_dir(&folder).map_err(Failure::read(&folder))? {
            let path = entry.map_err(Failure::read(&folder))?.path();
            let bytes = fs::read(&path).map_err(Failure::read(&path))?;
            panics += bytes.windows(PANIC.len()).filter(|window| *window == PANIC).count();
        }
        Ok(panics)
    }

    /// Applies the rest of the journal, and lets the doctor check every page.
    fn state_of_store(&self) -> Result<String, Failure> {
        let said = |verb: &[&str]| {
            let output = self.command(self.tow.as_os_str()).args(verb).output();
            output.map_err(Failure::start("tow"))
        };
        let folded = stdout_of("tow work", said(&["work"])?)?;
        let looked = said(&["doctor", "--json"])?;
        let report: serde_json::Value = serde_json::from_slice(&looked.stdout).map_err(|error| {
            let complaint = format!("{error}; it said: {}", String::from_utf8_lossy(&looked.stderr).trim());
            Failure::malformed("the report of `tow doctor --json`", complaint)
        })?;
        let checks = report["checks"].as_array().into_iter().flatten();
        let about_data =
            checks.filter(|check| matches!(check["name"].as_str(), Some("database" | "journal")));
        let details: Vec<&str> = about_data.filter_map(|check| check["detail"].as_str()).collect();
        Ok(format!("{}; {}", folded.trim_end(), details.join("; ")))
    }
}
