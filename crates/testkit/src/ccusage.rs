//! Runs ccusage, at the version of the lock file, on the agents' files of an environment.
//!
//! Never fetches prices: `--offline` is always given.

use crate::{Run, TestEnv, clients};

/// What ccusage prints as JSON for this report, such as `daily`.
#[track_caller]
pub fn ccusage(env: &TestEnv, report: &[&str]) -> serde_json::Value {
    let mut command = env.command("node");
    command.arg(clients::launcher("ccusage", "src/cli.js")).args(report).args(["--offline", "--json"]);
    Run::of(&mut command, b"").ok().json()
}
