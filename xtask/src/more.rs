//! `cargo xtask killed`, `schedules`, `crowd`, `cleared` and `injuries`: the suite's randomised tests, with more iterations.
//!
//! Must run the suite's own tests with another count, so that both assert the same.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::outcome::{Failure, Result, Verdict};
use crate::repository::Repository;

/// A test that reads its iteration count from a variable and prints lines that contain `figures`.
pub struct Campaign {
    binary: &'static str,
    test: &'static str,
    variable: &'static str,
    /// The variable that chooses a single iteration, if there is one.
    only: Option<&'static str>,
    figures: &'static str,
}

pub const KILLS: Campaign = Campaign {
    binary: "enrich",
    test: "killed::workers",
    variable: "TOWLINE_KILLS",
    only: None,
    figures: " kills:",
};
pub const CROWD: Campaign = Campaign {
    binary: "crowd",
    test: "a_crowd_of_hooks",
    variable: "TOWLINE_CROWD",
    only: None,
    figures: " accepted,",
};
pub const CLEARED: Campaign = Campaign {
    binary: "e2e_inherit",
    test: "a_crowd_of_clients",
    variable: "TOWLINE_CLEARED",
    only: None,
    figures: " with the first prompt,",
};
pub const MIXED: Campaign = Campaign { test: "a_crowd_of_six_agents", ..CLEARED };
pub const INJURIES: Campaign = Campaign {
    binary: "broken_world",
    test: "what_the_user_wrote",
    variable: "TOWLINE_INJURIES",
    only: Some("TOWLINE_INJURY"),
    figures: "injuries: ",
};
pub const SCHEDULES: Campaign = Campaign {
    binary: "hub_schedules",
    test: "whatever_happens",
    variable: "TOWLINE_SCHEDULES",
    only: None,
    figures: " schedules:",
};

/// How often to run a campaign.
pub struct Iterations {
    pub count: u32,
    /// A single one, to see it fail again.
    pub only: Option<u32>,
}

impl From<u32> for Iterations {
    fn from(count: u32) -> Iterations {
        Iterations { count, only: None }
    }
}

/// Runs the test; prints its figures as they come, its result, and everything else that a failing one printed.
pub fn run(
    campaign: &Campaign,
    iterations: impl Into<Iterations>,
    repository: &Repository,
    out: &mut impl Write,
) -> Result<Verdict> {
    let iterations = iterations.into();
    let mut command = Command::new("cargo");
    command
        .args(["test", "-p", "tow", "--test", campaign.binary, campaign.test, "--", "--nocapture"])
        .current_dir(repository.root())
        .env(campaign.variable, iterations.count.to_string())
        .stdout(Stdio::piped());
    if let (Some(only), Some(variable)) = (iterations.only, campaign.only) {
        command.env(variable, only.to_string());
    }
    let mut test = command.spawn().map_err(Failure::start("cargo"))?;
    let mut rest = String::new();
    for line in test.stdout.take().into_iter().flat_map(|stdout| BufReader::new(stdout).lines()) {
        let line = line?;
        if line.contains(campaign.figures) || line.starts_with("test result") {
            writeln!(out, "{line}")?;
            out.flush()?;
        } else {
            rest += &format!("{line}\n");
        }
    }
    let is_success = test.wait().map_err(Failure::start("cargo"))?.success();
    if !is_success {
        out.write_all(rest.as_bytes())?;
    }
    Ok(Verdict::of(is_success))
}
