//! Starting ourselves for what an agent should not wait for: detached and silent.
//!
//! Whoever starts it does not wait for it. `tow work` takes its own lock, so starting it once too often costs nothing.

use crate::edge::{GUARD, own_program};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Upkeep that could not be started is started by the next hook.
pub fn start_detached() {
    start(&["work", "--quiet"]);
}

/// Sets the bars by what is shown once it runs.
pub fn refresh_detached() {
    start(&["bar", "--refresh"]);
}

/// Takes in what is new in the transcripts of a session and of its helper.
pub fn capture_detached(agent: &str, session: &Option<String>, helper: &Option<String>) {
    let is_there = |path: &&str| path.starts_with('/') && Path::new(path).exists();
    let files = session.iter().chain(helper).map(String::as_str).filter(is_there);
    let arguments: Vec<&str> = ["capture", agent].into_iter().chain(files).collect();
    if arguments.len() > 2 {
        start(&arguments);
    }
}

/// Tells later what is still unseen then.
pub fn alert_detached() {
    start(&["alert"]);
}

#[expect(clippy::disallowed_methods, reason = "the one place that starts our own program")]
fn start(arguments: &[&str]) {
    let Some(program) = own_program() else { return };
    let mut child = Command::new(program);
    // In the folder that we are in: whoever stays longer than a moment leaves it by itself.
    child.args(arguments).env(GUARD, "1").process_group(0);
    child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = child.spawn();
}
