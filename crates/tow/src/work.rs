//! Starting `tow work`: detached, silent, at most one.
//!
//! Whoever starts it does not wait for it. It takes its own lock, so starting it once too often costs nothing.

use crate::edge::{GUARD, own_program};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

#[expect(clippy::disallowed_methods, reason = "the one place that starts our own worker")]
pub fn start_detached() {
    let Some(program) = own_program() else { return };
    let mut worker = Command::new(program);
    worker.arg("work").arg("--quiet").env(GUARD, "1").process_group(0).current_dir("/");
    worker.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Upkeep that could not be started is started by the next hook.
    let _ = worker.spawn();
}
