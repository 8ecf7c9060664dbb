//! Starts one process, feeds it, waits for it, and returns its cost.
//!
//! The only unsafe code of this crate: `wait4` is the only call that returns a child's own resource usage,
//! and std does not offer it. Knows nothing about the measured program.

use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::files;
use crate::outcome::{Failure, Result};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// From before the fork until the child had ended, by the monotonic clock.
    pub wall_ns: u64,
    /// User and system time.
    pub cpu_us: u64,
    /// Page faults, minor and major.
    pub faults: u64,
    /// Peak resident memory.
    pub peak_kb: u64,
    /// Bytes of read and write calls, also those that the file cache answered; not those of mapped files.
    pub read_bytes: u64,
    pub written_bytes: u64,
}

/// Runs `command` to its end; any exit code but 0 is a failure, because the cost would mean nothing.
pub fn cost_of(command: &mut Command, stdin: &[u8]) -> Result<Cost> {
    cost_into(command, stdin, Stdio::null())
}

/// The same, with a place for the output.
pub fn cost_into(command: &mut Command, stdin: &[u8], stdout: Stdio) -> Result<Cost> {
    let program = command.get_program().to_string_lossy().into_owned();
    match ended(command, stdin, stdout)? {
        (0, cost) => Ok(cost),
        (status, _) => Err(Failure::Failed { program, complaint: format!("wait status {status:#x}") }),
    }
}

/// Runs `command` to its end, and returns its wait status and its cost.
pub fn ended(command: &mut Command, stdin: &[u8], stdout: Stdio) -> Result<(i32, Cost)> {
    let program = command.get_program().to_string_lossy().into_owned();
    let feed = if stdin.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(feed).stdout(stdout).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().map_err(Failure::start(&program))?;
    if let Some(mut pipe) = child.stdin.take() {
        // A process may end without reading everything; its exit code shows whether that was right.
        pipe.write_all(stdin).or_else(ignoring_broken_pipe).map_err(Failure::start(&program))?;
    }
    let pid = i32::try_from(child.id()).unwrap_or_default();
    // The counters of a process can be read until it is reaped.
    if let Some(pid) = Pid::from_raw(pid) {
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            .map_err(|error| Failure::start(&program)(error.into()))?;
    }
    let wall_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let bytes = transferred(pid);
    let (status, usage) = wait(pid).map_err(Failure::start(&program))?;
    Ok((status, Cost { wall_ns, read_bytes: bytes[0], written_bytes: bytes[1], ..Cost::of(&usage) }))
}

/// Waits for every child but one, and for those that are adopted meanwhile.
pub fn reap_all_but(kept: &str) -> Vec<Cost> {
    let next = || children().into_iter().find(|child| child != kept)?.parse().ok();
    let reaped = |pid: i32| wait(pid).ok().map(|(_, usage)| Cost::of(&usage));
    std::iter::from_fn(|| next().and_then(reaped)).collect()
}

/// The process ids of all children of all threads.
fn children() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| files::read(&task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

impl Cost {
    fn of(usage: &libc::rusage) -> Cost {
        let count = |number: i64| u64::try_from(number).unwrap_or_default();
        Cost {
            cpu_us: micros(usage.ru_utime) + micros(usage.ru_stime),
            faults: count(usage.ru_minflt + usage.ru_majflt),
            peak_kb: count(usage.ru_maxrss),
            ..Cost::default()
        }
    }
}

/// Lets the peak memory of this process start again at its present size: a child's begins with its parent's.
pub fn forget_own_peak() {
    // Without it, figures of memory are too high, never too low.
    drop(std::fs::write("/proc/self/clear_refs", "5"));
}

/// The bytes that a process and its reaped children read and wrote; zeroes where the kernel does not count them.
fn transferred(pid: i32) -> [u64; 2] {
    let text = files::read(&PathBuf::from(format!("/proc/{pid}/io"))).unwrap_or_default();
    ["rchar: ", "wchar: "].map(|name| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|number| number.parse().ok()).unwrap_or_default()
    })
}

fn ignoring_broken_pipe(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}

/// Reaps the process and returns its status and its resource usage.
fn wait(pid: i32) -> std::io::Result<(i32, libc::rusage)> {
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    #[expect(
        unsafe_code,
        reason = "std reaps a child without its resource usage; both pointers outlive the call"
    )]
    // SAFETY: `status` and `usage` are valid for writes; `pid` is our own child, reaped only here.
    let reaped = unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) };
    if reaped != pid {
        return Err(std::io::Error::last_os_error());
    }
    #[expect(unsafe_code, reason = "the kernel filled what was zeroed before")]
    // SAFETY: an `rusage` of zeroes is valid, and `wait4` succeeded.
    let usage = unsafe { usage.assume_init() };
    Ok((status, usage))
}

fn micros(time: libc::timeval) -> u64 {
    u64::try_from(time.tv_sec * 1_000_000 + time.tv_usec).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_that_does_nothing_still_costs() {
        let cost = cost_of(&mut Command::new("/bin/true"), b"").unwrap();
        assert!(cost.wall_ns > 0 && cost.faults > 0, "{cost:?}");
    }

    #[test]
    fn bytes_of_the_process_and_of_its_children_are_counted() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "head -c 300000 /dev/zero | cat >/dev/null; true"]);
        let cost = cost_of(&mut command, b"").unwrap();
        assert!(cost.read_bytes >= 600_000 && cost.written_bytes >= 600_000, "{cost:?}");
    }

    #[test]
    fn whole_input_arrives_also_beyond_a_pipes_capacity() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "test \"$(wc -c)\" -eq 2000000"]);
        cost_of(&mut command, &vec![b'x'; 2_000_000]).unwrap();
    }

    #[test]
    fn process_that_reads_nothing_is_no_failure() {
        cost_of(&mut Command::new("/bin/true"), &vec![b'x'; 2_000_000]).unwrap();
    }

    #[test]
    fn process_that_fails_is_a_failure() {
        assert!(cost_of(&mut Command::new("/bin/false"), b"").is_err());
        assert!(cost_of(&mut Command::new("/no/such/program"), b"").is_err());
    }
}
