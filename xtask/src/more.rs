//! `cargo xtask killed`, `schedules`, `crowd` and `injuries`: the suite's randomised tests, with more iterations.
//!
//! Must run the suite's own tests with another count, so that both assert the same.

use std::io::Write;
use std::process::Command;

use crate::outcome::{Failure, Result, Verdict};
use crate::repository::Repository;

/// A test that reads its iteration count from a variable and prints lines that contain `figures`.
pub struct Campaign {
    binary: &'static str,
    test: &'static str,
    variable: &'static str,
    figures: &'static str,
}

pub const KILLS: Campaign =
    Campaign { binary: "enrich", test: "killed::workers", variable: "TOWLINE_KILLS", figures: " kills:" };
pub const CROWD: Campaign =
    Campaign { binary: "crowd", test: "a_crowd_of_hooks", variable: "TOWLINE_CROWD", figures: " accepted," };
pub const INJURIES: Campaign = Campaign {
    binary: "broken_world",
    test: "what_the_user_wrote",
    variable: "TOWLINE_INJURIES",
    figures: " injuries:",
};
pub const SCHEDULES: Campaign = Campaign {
    binary: "hub_schedules",
    test: "whatever_happens",
    variable: "TOWLINE_SCHEDULES",
    figures: " schedules:",
};

/// Runs the test, and prints its figures and its result.
pub fn run(
    campaign: &Campaign,
    count: u32,
    repository: &Repository,
    out: &mut impl Write,
) -> Result<Verdict> {
    let output = Command::new("cargo")
        .args(["test", "-p", "tow", "--test", campaign.binary, campaign.test, "--", "--nocapture"])
        .current_dir(repository.root())
        .env(campaign.variable, count.to_string())
        .output()
        .map_err(Failure::start("cargo"))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let is_shown = |line: &&str| line.contains(campaign.figures) || line.starts_with("test result");
    for line in printed.lines().filter(is_shown) {
        writeln!(out, "{line}")?;
    }
    if !output.status.success() {
        out.write_all(&output.stdout)?;
        out.write_all(&output.stderr)?;
    }
    Ok(Verdict::of(output.status.success()))
}
