//! Finds the processes of one environment: those with its root in their environment or working folder.
//!
//! Must not end any other process.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::wait;

/// How long a process may take to clean up, such as sockets that it keeps outside of the root.
const GRACE: Duration = Duration::from_secs(2);

/// A running process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its process id.
    pub pid: u32,
    /// Its command line, with arguments separated by spaces.
    pub command: String,
}

/// All running processes that were started in the environment at `root`, or whose folder is in it.
pub(crate) fn below(root: &Path) -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid| belongs(*pid, root)).map(|pid| Process { pid, command: command_line(pid) }).collect()
}

/// Ends the processes below `root` that `chosen` picks, and those that they start meanwhile.
pub(crate) fn end(root: &Path, chosen: impl Fn(&Process) -> bool) {
    let left = || below(root).into_iter().filter(&chosen).collect::<Vec<_>>();
    kill("-TERM", &left());
    if wait::holds_within(GRACE, || left().is_empty()) {
        return;
    }
    wait::holds_within(GRACE, || {
        let left = left();
        kill("-KILL", &left);
        left.is_empty()
    });
}

/// Kills one process that the caller started.
pub(crate) fn kill_now(pid: u32) {
    kill("-KILL", &[Process { pid, command: String::new() }]);
}

/// The process ids of the children of `pid`.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().filter_map(|child| child.parse().ok()).collect()
}

fn belongs(pid: u32, root: &Path) -> bool {
    let stands_below = fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(root));
    let needle = [b"=".as_slice(), root.as_os_str().as_bytes(), b"/"].concat();
    let carries_root = || {
        fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|environ| environ.windows(needle.len()).any(|window| window == needle))
    };
    !is_zombie(pid) && (stands_below || carries_root())
}

fn is_zombie(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

fn command_line(pid: u32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ").trim_end().to_owned()
}

/// Uses the shell's `kill`: the program of that name is missing on a bare system.
fn kill(signal: &str, processes: &[Process]) {
    if processes.is_empty() {
        return;
    }
    let pids = processes.iter().map(|process| process.pid.to_string());
    let _ = Command::new("sh")
        .args(["-c", r#"kill "$@""#, "sh", signal])
        .args(pids)
        .stderr(Stdio::null())
        .status();
}
