//! Checks and benchmarks that need more than a test: `cargo xtask help`.
//!
//! No product crate may depend on this one. It sees the product from outside, as text, packages and
//! processes; of its crates it uses `core`, to measure redaction, `agents`, to write the plugin and to name the agents,
//! and `store`, to make a history for benchmarks.

mod agent_process;
mod bench;
mod corpus;
mod day;
mod files;
mod firstrun;
mod fuzz;
mod licences;
mod more;
mod outcome;
mod pictures;
mod plugin;
mod release;
mod repository;
mod scan;
mod secrets;
mod server;
mod soak;
mod structure;
mod tidy;

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use outcome::{Failure, Verdict};
use repository::Repository;

/// Checks and benchmarks of Towline.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Xtask {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check the invariants of the code that no compiler checks
    Tidy,
    /// Print figures about the code: lines, import cycles, repeated names, tuple parameters, comment openings
    Structure(structure::Options),
    /// Check the licences, sources and known faults of every crate in the lock file, offline
    Licences,
    /// Write the folder `plugin`, from which agents load Towline
    Plugin,
    /// Build the files of a release: binary, archive, Debian package, SBOM, checksums
    Release(release::Options),
    /// Record the day that `tow demo` plays, with the real clients
    Day(Program),
    /// Make the pictures of the documentation from the real programs
    Pictures(Program),
    /// Write the transcripts of a made-up heavy user, for benchmarks
    Corpus(corpus::Options),
    /// Type a first run, from the archive of a release to an inherited session, and put its screens into the tour
    Firstrun(firstrun::Options),
    /// Run a benchmark
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Feed damaged input to the program
    #[command(subcommand)]
    Fuzz(fuzz::Fuzz),
    /// Kill workers at random and print what became of their turns
    Killed {
        /// How many workers to kill
        #[arg(long, value_name = "N", default_value_t = 1000)]
        count: u32,
    },
    /// Run many hooks at once and kill some: what was accepted is stored exactly once
    Crowd {
        /// How many events each of the 64 workers sends
        #[arg(long, value_name = "N", default_value_t = 200)]
        count: u32,
    },
    /// Clear and prompt many real clients at once, three times: each gets its own work with its first prompt
    Cleared {
        /// How many clients, a quarter of them Codex
        #[arg(long, value_name = "N", default_value_t = 20)]
        clients: u32,
        /// Clients of all agents instead
        #[arg(long)]
        mixed: bool,
    },
    /// Kill processes, damage files, set the clock and fill the disk at random over a year of data: what the user wrote
    /// must survive
    Injuries {
        /// How many trials
        #[arg(long, value_name = "N", default_value_t = 1000)]
        trials: u32,
        /// Only the trial of this number, which a loss names
        #[arg(long, value_name = "TRIAL")]
        only: Option<u32>,
    },
    /// Play many sessions at many times real speed with everything beside them: what was sent is stored, nothing drifts
    Soak(soak::Options),
    /// Play random schedules of three machines and a hub
    Schedules {
        /// How many schedules of three machines and a hub to play
        #[arg(long, value_name = "N", default_value_t = 200)]
        count: u32,
    },
    /// Count what redaction finds in ordinary code and logs, and how fast it is (build with --release)
    Secrets(secrets::Options),
}

#[derive(Args)]
struct Program {
    /// A `tow` that is already built
    #[arg(long, value_name = "PATH", default_value = "target/debug/tow")]
    tow: PathBuf,
}

fn main() -> ExitCode {
    let Xtask { task } = Xtask::parse();
    match run(&task, &mut io::stdout().lock()) {
        Ok(verdict) => verdict.into(),
        Err(failure) => report(&failure),
    }
}

fn run(task: &Task, out: &mut impl Write) -> Result<Verdict, Failure> {
    let repository = Repository::here()?;
    match task {
        Task::Tidy => tidy::run(&repository, out),
        Task::Structure(options) => structure::run(options, &repository, out),
        Task::Licences => licences::run(&repository, out),
        Task::Plugin => plugin::run(&repository, out),
        Task::Release(options) => release::run(options, &repository, out),
        Task::Day(program) => day::run(&program.tow, &repository, out),
        Task::Pictures(program) => pictures::run(&program.tow, &repository, out),
        Task::Corpus(options) => corpus::run(options, &repository, out),
        Task::Firstrun(options) => firstrun::run(options, &repository, out),
        Task::Bench(bench) => bench::run(bench, &repository, out),
        Task::Fuzz(fuzz) => fuzz::run(fuzz, &repository, out),
        Task::Killed { count } => more::run(&more::KILLS, *count, &repository, out),
        Task::Crowd { count } => more::run(&more::CROWD, *count, &repository, out),
        Task::Cleared { clients, mixed } => {
            let campaign = if *mixed { &more::MIXED } else { &more::CLEARED };
            more::run(campaign, *clients, &repository, out)
        }
        Task::Injuries { trials, only } => {
            let iterations = more::Iterations { count: *trials, only: *only };
            more::run(&more::INJURIES, iterations, &repository, out)
        }
        Task::Schedules { count } => more::run(&more::SCHEDULES, *count, &repository, out),
        Task::Soak(options) => soak::run(options, &repository, out),
        Task::Secrets(options) => secrets::run(options, &repository, out),
    }
}

fn report(failure: &Failure) -> ExitCode {
    let mut text = format!("error: {failure}\n");
    let mut cause = failure.source();
    while let Some(source) = cause {
        text.push_str(&format!("  because: {source}\n"));
        cause = source.source();
    }
    // If even stderr is closed, the exit code still reports the failure.
    drop(io::stderr().write_all(text.as_bytes()));
    ExitCode::from(2)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    /// `bench inherit` ended with a panic about two groups of one name, before it measured anything.
    #[test]
    fn a_benchmark_could_not_be_started() {
        super::Xtask::command().debug_assert();
    }
}
