//! `cargo xtask killed` and `cargo xtask schedules`: the suite's randomised tests, with more iterations.
//!
//! Must run the suite's own tests with another count, so that both assert the same.

use std::io::Write;
use std::process::Command;

use clap::Args;

use crate::outcome::{Failure, Verdict};
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

pub fn kill(kills: &Kills, repository: &Repository, out: &mut impl Write) -> Result<Verdict, Failure> {
    run(["enrich", "killed::workers", "TOWLINE_KILLS", " kills:"], kills.count, repository, out)
}

pub fn play(
    schedules: &Schedules,
    repository: &Repository,
    out: &mut impl Write,
) -> Result<Verdict, Failure> {
    let test = ["hub_schedules", "whatever_happens", "TOWLINE_SCHEDULES", " schedules:"];
    run(test, schedules.count, repository, out)
}

/// Runs a test that reads its iteration count from a variable, and prints the lines that contain `figures`.
fn run(
    [binary, test, variable, figures]: [&str; 4],
    count: u32,
    repository: &Repository,
    out: &mut impl Write,
) -> Result<Verdict, Failure> {
    let output = Command::new("cargo")
        .args(["test", "-p", "tow", "--test", binary, test, "--", "--nocapture"])
        .current_dir(repository.root())
        .env(variable, count.to_string())
        .output()
        .map_err(Failure::start("cargo"))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let is_shown = |line: &&str| line.contains(figures) || line.starts_with("test result");
    for line in printed.lines().filter(is_shown) {
        writeln!(out, "{line}")?;
    }
    if !output.status.success() {
        out.write_all(&output.stdout)?;
        out.write_all(&output.stderr)?;
    }
    Ok(Verdict::of(output.status.success()))
}
