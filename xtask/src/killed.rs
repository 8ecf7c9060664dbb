//! `cargo xtask killed`: workers killed with -9 at random, more often than a suite has time for.
//!
//! Runs the suite's own test with another number, so that both hold the same.

use std::io::Write;
use std::process::Command;

use clap::Args;

use crate::Verdict;
use crate::failure::Failure;
use crate::repository::Repository;

/// How often.
#[derive(Args)]
pub struct Options {
    /// How many workers to kill
    #[arg(long, value_name = "N", default_value_t = 1000)]
    count: u32,
}

pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict, Failure> {
    let arguments = ["test", "-p", "tow", "--test", "enrich", "killed::workers", "--", "--nocapture"];
    let output = Command::new("cargo")
        .args(arguments)
        .current_dir(repository.root())
        .env("TOWLINE_KILLS", options.count.to_string())
        .output()
        .map_err(Failure::start("cargo"))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    for line in printed.lines().filter(|line| line.contains(" kills:") || line.starts_with("test result")) {
        writeln!(out, "{line}")?;
    }
    if !output.status.success() {
        out.write_all(&output.stdout)?;
        out.write_all(&output.stderr)?;
    }
    Ok(if output.status.success() { Verdict::Holds } else { Verdict::Broken })
}
