//! `cargo xtask bench hooks`: what a hook costs, as multiples of starting `/bin/true`.
//!
//! Absolute times say more about the machine than about the hook, so every figure is taken beside a baseline
//! in the same round. Nothing here touches the user's own folders: each case has a home of its own.

mod baseline;
mod bounds;
mod case;
mod home;
mod instructions;
mod measure;
mod payload;
mod report;
mod rounds;
mod statistics;

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use clap::{Args, Subcommand};

use crate::Verdict;
use crate::failure::Failure;
use crate::repository::{Reach, Repository};

use home::Seeds;
use payload::Recordings;
use report::{Report, Row, Table};
use rounds::Plan;

/// What can be measured.
#[derive(Subcommand)]
pub enum Bench {
    /// Measure one hook process, from its start to its end
    Hooks(Options),
}

/// How to measure.
#[derive(Args)]
pub struct Options {
    /// Measure this binary instead of building the static dist binary
    #[arg(long, value_name = "PATH")]
    tow: Option<PathBuf>,
    /// How often each case runs
    #[arg(long, value_name = "N", default_value_t = 300)]
    rounds: usize,
    /// Few rounds and no store of a million events: a first look, no result
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

const QUICK_ROUNDS: usize = 30;
const TARGET: &str = "x86_64-unknown-linux-musl";

pub fn run(
    Bench::Hooks(options): &Bench,
    repository: &Repository,
    out: &mut impl Write,
) -> Result<Verdict, Failure> {
    instructions::require_valgrind()?;
    let plan = planned(options);
    let tow = match &options.tow {
        Some(path) => path.canonicalize().map_err(Failure::read(path))?,
        None => built(repository, out)?,
    };
    let recordings = Recordings::load(&repository.root().join("crates/agents/fixtures"))?;
    let seeds = Seeds::new(&tow);
    let mut report = Report::new(command_line(options, &plan), options.date.clone());
    for group in case::groups(&recordings, plan.histories) {
        writeln!(out, "measuring: {} ({} cases) …", group.title, group.subjects.len())?;
        out.flush()?;
        report.tables.push(measured(&group, &plan, &recordings, &seeds)?);
    }
    report.print(out)?;
    if let Some(path) = &options.markdown {
        std::fs::write(path, report.markdown()).map_err(Failure::write(path))?;
    }
    let broken = options.check && !report.holds();
    Ok(if broken { Verdict::Broken } else { Verdict::Holds })
}

fn planned(options: &Options) -> Plan {
    if options.quick {
        Plan { rounds: options.rounds.min(QUICK_ROUNDS), histories: &case::QUICK_HISTORIES }
    } else {
        Plan { rounds: options.rounds, histories: &case::HISTORIES }
    }
}

/// Writes down what was asked, so that a table can be made again.
fn command_line(options: &Options, plan: &Plan) -> String {
    let mut line = format!("cargo xtask bench hooks --rounds {}", plan.rounds);
    if options.quick {
        line.push_str(" --quick");
    }
    if options.tow.is_some() {
        line.push_str(" --tow PATH");
    }
    if options.markdown.is_some() {
        line.push_str(" --markdown docs/benchmarks.md");
    }
    line
}

/// Builds what is shipped: measuring a debug build would tell nothing.
fn built(repository: &Repository, out: &mut impl Write) -> Result<PathBuf, Failure> {
    writeln!(out, "building the dist binary …")?;
    out.flush()?;
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--profile", "dist", "--target", TARGET, "--package", "tow"]);
    let status = cargo.current_dir(repository.root()).status().map_err(Failure::start("cargo"))?;
    if !status.success() {
        let complaint = format!(
            "{status}; a static build needs `rustup target add {TARGET}` and `apt-get install musl-tools`"
        );
        return Err(Failure::Failed { program: "cargo build".to_owned(), complaint });
    }
    Ok(repository.metadata(Reach::Workspace)?.target_directory.join(TARGET).join("dist/tow"))
}

/// Measures one group: all of its cases and the baselines, interleaved.
fn measured(
    group: &case::Group,
    plan: &Plan,
    recordings: &Recordings,
    seeds: &Seeds,
) -> Result<Table, Failure> {
    let mut cases = Vec::new();
    for (number, subject) in group.subjects.iter().enumerate() {
        cases.push(case::Case::prepare(subject, number, recordings, seeds)?);
    }
    home::settle()?;
    let series = rounds::run(plan, &cases)?;
    let mut rows = Vec::new();
    for baseline in baseline::ALL {
        let instructions =
            baseline.counted().then(|| instructions::of(baseline.command(), b"")).transpose()?;
        rows.push(Row::baseline(baseline, series.summary_of_baseline(baseline), instructions));
    }
    for (number, case) in cases.iter().enumerate() {
        let instructions = case.instructions(plan.after_last_round())?;
        rows.push(Row::subject(case.subject.clone(), series.summary_of_case(number), instructions));
    }
    Ok(Table { title: group.title, rows })
}
