//! `cargo xtask bench`: the cost of Towline, as multiples of starting `/bin/true`.
//!
//! Absolute times say more about the machine than about the program, so every figure is taken beside a
//! baseline in the same round. Must not touch the user's folders or tmux server: each case has its own.

mod baseline;
mod costs;
mod hooks;
mod hub;
mod inherit;
mod instructions;
mod measure;
mod payload;
mod report;
mod rounds;
mod search;
mod statistics;
mod track;
mod viewer;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::{Args, Subcommand};
use towline_testkit::wait;

use crate::Verdict;
use crate::failure::Failure;
use crate::repository::{Reach, Repository};

use payload::Recordings;

/// The benchmarks.
#[derive(Subcommand)]
pub enum Bench {
    /// Measure one hook process, from its start to its end
    Hooks(Options),
    /// Measure the status display: bar refreshes, ends of transcripts, from hook to status line, spawns
    Track(Options),
    /// Measure importing conversations and retrieving them: import, the end of a turn, contexts, details
    Inherit(Options),
    /// Measure search: how many questions are answered, indexing, size, time and memory
    Search(search::Options),
    /// Measure the viewer in a real browser, and its server, with a long history
    Viewer(viewer::Options),
    /// Measure a hub on a real PostgreSQL: push, pull, search, size and memory, with millions of rows
    Hub(hub::Options),
}

/// How to measure.
#[derive(Args)]
pub struct Options {
    /// Measure this binary instead of building the static release binary
    #[arg(long, value_name = "PATH")]
    tow: Option<PathBuf>,
    /// How often each case runs
    #[arg(long, value_name = "N", default_value_t = 300)]
    rounds: usize,
    /// Few rounds, and no store of a million events: for a first look, not for results
    #[arg(long)]
    quick: bool,
    /// Also write the tables to this file
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Date to write into the file, instead of today's
    #[arg(long, value_name = "YYYY-MM-DD")]
    date: Option<String>,
    /// Fail if a bound does not hold
    #[arg(long)]
    check: bool,
}

/// The amount of data and rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Quick,
    Full,
}

/// The input of a benchmark.
struct Setup {
    tow: PathBuf,
    extent: Extent,
    rounds: usize,
    recordings: Recordings,
    /// Ends of real transcripts.
    tails: PathBuf,
    /// The folder `crates`, with the recordings.
    crates: PathBuf,
}

const QUICK_ROUNDS: usize = 30;
const TARGET: &str = "x86_64-unknown-linux-musl";

pub fn run(bench: &Bench, repository: &Repository, out: &mut impl Write) -> Result<Verdict, Failure> {
    let (options, report) = match bench {
        Bench::Hooks(options) => {
            instructions::require_valgrind()?;
            (options, hooks::report(&prepared(options, repository, out)?, out)?)
        }
        Bench::Track(options) => {
            instructions::require_valgrind()?;
            track::require_tools()?;
            (options, track::report(&prepared(options, repository, out)?, out)?)
        }
        Bench::Inherit(options) => {
            instructions::require_valgrind()?;
            (options, inherit::report(&prepared(options, repository, out)?, out)?)
        }
        Bench::Search(options) => return search::run(options, repository, out),
        Bench::Viewer(options) => return viewer::run(options, repository, out),
        Bench::Hub(options) => return hub::run(options, repository, out),
    };
    report.print(out)?;
    if let Some(path) = &options.markdown {
        let made_by = command_line(bench, options);
        let text = report.markdown(&made_by, options.date.as_deref());
        std::fs::write(path, text).map_err(Failure::write(path))?;
    }
    let broken = options.check && !report.holds();
    Ok(if broken { Verdict::Broken } else { Verdict::Holds })
}

fn prepared(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Setup, Failure> {
    let tow = match &options.tow {
        Some(path) => path.canonicalize().map_err(Failure::read(path))?,
        None => built(repository, out)?,
    };
    let extent = if options.quick { Extent::Quick } else { Extent::Full };
    setup(tow, extent, rounds_of(options), repository)
}

fn setup(tow: PathBuf, extent: Extent, rounds: usize, repository: &Repository) -> Result<Setup, Failure> {
    let agents = repository.root().join("crates/agents");
    Ok(Setup {
        tow,
        extent,
        rounds,
        recordings: Recordings::load(&agents.join("fixtures"))?,
        tails: agents.join("tails"),
        crates: repository.root().join("crates"),
    })
}

fn rounds_of(options: &Options) -> usize {
    if options.quick { options.rounds.min(QUICK_ROUNDS) } else { options.rounds }
}

/// The command line that reproduces a table.
fn command_line(bench: &Bench, options: &Options) -> String {
    let (word, file) = match bench {
        Bench::Hooks(_) => ("hooks", "docs/evidence/benchmarks.md"),
        Bench::Track(_) => ("track", "docs/evidence/benchmarks-track.md"),
        Bench::Inherit(_) => ("inherit", "docs/evidence/benchmarks-inherit.md"),
        Bench::Search(_) => ("search", "docs/evidence/benchmarks-search.md"),
        Bench::Viewer(_) => ("viewer", "docs/evidence/benchmarks-viewer.md"),
        Bench::Hub(_) => ("hub", "docs/evidence/benchmarks-hub.md"),
    };
    let mut line = format!("cargo xtask bench {word} --rounds {}", rounds_of(options));
    if options.quick {
        line.push_str(" --quick");
    }
    if options.tow.is_some() {
        line.push_str(" --tow PATH");
    }
    format!("{line} --markdown {file}")
}

/// Builds the binary that `./install.sh` installs, with the same command.
fn built(repository: &Repository, out: &mut impl Write) -> Result<PathBuf, Failure> {
    announce(out, "building the release binary …")?;
    let tow = repository.metadata(Reach::Workspace)?.target_directory.join(TARGET).join("release/tow");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--locked", "--release", "--target", TARGET, "--package", "tow"]);
    let status = cargo.current_dir(repository.root()).status().map_err(Failure::start("cargo"))?;
    if !status.success() {
        let complaint = format!(
            "{status}; a static build needs `rustup target add {TARGET}` and `apt-get install musl-tools`"
        );
        return Err(Failure::Failed { program: "cargo build".to_owned(), complaint });
    }
    Ok(tow)
}

/// Prints progress at once: a benchmark takes minutes.
fn announce(out: &mut impl Write, what: &str) -> Result<(), Failure> {
    writeln!(out, "{what}")?;
    Ok(out.flush()?)
}

/// Flushes written data to disk, so that it is not written during a measurement.
fn settle() -> Result<(), Failure> {
    let output = Command::new("sync").output().map_err(Failure::start("sync"))?;
    crate::failure::stdout_of("sync", output).map(drop)
}

/// Timeout for background work.
const DONE_WITHIN: Duration = Duration::from_secs(5);

/// Waits until the capture process that a hook has just started in a data folder no longer waits.
fn wait_for_captures(data: &Path) {
    const STARTED_WITHIN: Duration = Duration::from_millis(300);
    let doors = || std::fs::read_dir(data.join("doors")).map_or(0, Iterator::count);
    wait::holds_within(STARTED_WITHIN, || doors() > 0);
    wait::holds_within(DONE_WITHIN, || doors() == 0);
}

/// Waits for all background work in a data folder, including a process that has just been started.
fn wait_for_work(data: &Path) {
    const STARTED_WITHIN: Duration = Duration::from_millis(50);
    let is_taken = |name: &str| File::open(data.join(name)).is_ok_and(|lock| lock.try_lock().is_err());
    let is_busy = || ["archive.lock", "fold.lock", "work.lock"].into_iter().any(is_taken);
    wait::holds_within(STARTED_WITHIN, is_busy);
    wait::holds_within(DONE_WITHIN, || !is_busy());
}

/// Checks that a program is installed before anything is built.
fn require(program: &str, asked: &str, mend: &str) -> Result<(), Failure> {
    match Command::new(program).arg(asked).output() {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err(Failure::Missing { what: program.to_owned(), mend: mend.to_owned() }),
    }
}

/// The path as a command-line argument.
fn words(path: &Path) -> String {
    path.display().to_string()
}
