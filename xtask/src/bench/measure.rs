//! Starts one process, feeds it, waits for it, and returns its cost.
//!
//! The only unsafe code of this crate: `wait4` is the only call that returns a child's own resource usage,
//! and std does not offer it. Knows nothing about the measured program.

use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::outcome::{Failure, Result};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// From before the fork until the child was reaped, by the monotonic clock.
    pub wall_ns: u64,
    /// User and system time.
    pub cpu_us: u64,
    /// Page faults, minor and major.
    pub faults: u64,
    /// Peak resident memory.
    pub peak_kb: u64,
}

/// Runs `command` to its end; any exit code but 0 is a failure, because the cost would mean nothing.
pub fn cost_of(command: &mut Command, stdin: &[u8]) -> Result<Cost> {
    let program = command.get_program().to_string_lossy().into_owned();
    let feed = if stdin.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(feed).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().map_err(Failure::start(&program))?;
    if let Some(mut pipe) = child.stdin.take() {
        // A process may end without reading everything; its exit code shows whether that was right.
        pipe.write_all(stdin).or_else(ignoring_broken_pipe).map_err(Failure::start(&program))?;
    }
    let (status, usage) = wait(child.id()).map_err(Failure::start(&program))?;
    let wall_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    if status != 0 {
        return Err(Failure::Failed { program, complaint: format!("wait status {status:#x}") });
    }
    let count = |number: i64| u64::try_from(number).unwrap_or_default();
    Ok(Cost {
        wall_ns,
        cpu_us: micros(usage.ru_utime) + micros(usage.ru_stime),
        faults: count(usage.ru_minflt + usage.ru_majflt),
        peak_kb: count(usage.ru_maxrss),
    })
}

fn ignoring_broken_pipe(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}

/// Reaps the process and returns its status and its resource usage.
fn wait(pid: u32) -> std::io::Result<(i32, libc::rusage)> {
    let pid = i32::try_from(pid).map_err(std::io::Error::other)?;
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
