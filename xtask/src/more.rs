//! `cargo xtask killed` and `cargo xtask schedules`: the suite's randomised tests, with more iterations.
//!
//! Must run the suite's own tests with another count, so that both assert the same.

use std::io::Write;
use std::process::Command;

use clap::Args;

use crate::Verdict;
use crate::failure::Failure;
use crate::repository::Repository;

#[derive(Args)]
pub struct Kills {
    /// How many workers to kill
    #[arg(long, value_name = "N", default_value_t = 1000)]
    count: u32,
}

#[derive(Args)]
pub struct Schedules {
    /// How many schedules of three machines and a hub to play
    #[arg(long, value_name = "N", default_value_t = 200)]
    count: u32,
}

/// A test that reads its iteration count from a variable.
struct Counted {
    binary: &'static str,
    test: &'static str,
    variable: &'static str,
    count: u32,
    /// The text by which the line with the figures is found.
    figures: &'static str,
}

pub fn kill(kills: &Kills, repository: &Repository, out: &mut impl Write) -> Result<Verdict, Failure> {
    let (binary, test) = ("enrich", "killed::workers");
    run(
        &Counted { binary, test, variable: "TOWLINE_KILLS", count: kills.count, figures: " kills:" },
        repository,
        out,
    )
}

pub fn play(
    schedules: &Schedules,
    repository: &Repository,
    out: &mut impl Write,
) -> Result<Verdict, Failure> {
    let (binary, test, variable) = ("hub_schedules", "whatever_happens", "TOWLINE_SCHEDULES");
    run(&Counted { binary, test, variable, count: schedules.count, figures: " schedules:" }, repository, out)
}

fn run(counted: &Counted, repository: &Repository, out: &mut impl Write) -> Result<Verdict, Failure> {
    let output = Command::new("cargo")
        .args(["test", "-p", "tow", "--test", counted.binary, counted.test, "--", "--nocapture"])
        .current_dir(repository.root())
        .env(counted.variable, counted.count.to_string())
        .output()
        .map_err(Failure::start("cargo"))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    for line in
        printed.lines().filter(|line| line.contains(counted.figures) || line.starts_with("test result"))
    {
        writeln!(out, "{line}")?;
    }
    if !output.status.success() {
        out.write_all(&output.stdout)?;
        out.write_all(&output.stderr)?;
    }
    Ok(if output.status.success() { Verdict::Holds } else { Verdict::Broken })
}
