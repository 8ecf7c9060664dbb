//! The result of one finished program: exit status and output.
//!
//! Never hangs: a program that outlives its deadline is killed and fails the test.

use std::io::{ErrorKind, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::processes;

/// A client with a scripted model needs seconds; only a hanging one needs a minute.
const DEADLINE: Duration = Duration::from_secs(60);

/// The result of a finished program.
#[derive(Debug, Clone)]
pub struct Run {
    /// The exit status.
    pub status: ExitStatus,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Run {
    /// Runs the command with `stdin` as its input, and waits for its end.
    #[track_caller]
    pub fn of(command: &mut Command, stdin: &[u8]) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("could not start {command:?}: {error}"));
        let feeder = feed(child.stdin.take().expect("stdin is piped"), stdin.to_vec());
        let stdout = drain(child.stdout.take().expect("stdout is piped"));
        let stderr = drain(child.stderr.take().expect("stderr is piped"));
        let pid = child.id();
        let (report, end) = mpsc::channel();
        thread::spawn(move || report.send(child.wait()));
        // Not polled: most programs end sooner than the first pause would.
        let in_time = end.recv_timeout(DEADLINE).ok();
        let ended = in_time.is_some();
        let status = in_time.unwrap_or_else(|| {
            processes::kill_now(pid);
            end.recv().expect("the waiting thread reports")
        });
        feeder.join().expect("stdin is fed");
        let run = Self {
            status: status.expect("the child can be waited for"),
            stdout: stdout.join().expect("stdout is read"),
            stderr: stderr.join().expect("stderr is read"),
        };
        assert!(ended, "{command:?} was killed after {DEADLINE:?}\n{run:#?}");
        run
    }

    /// Asserts exit code 0.
    #[track_caller]
    pub fn ok(self) -> Self {
        self.exits(0)
    }

    /// Asserts this exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "{self:#?}");
        self
    }

    /// Asserts that standard output contains `needle`.
    #[track_caller]
    pub fn prints(self, needle: &str) -> Self {
        assert!(self.stdout.contains(needle), "no {needle:?} in {self:#?}");
        self
    }

    /// Asserts that standard error contains `needle`.
    #[track_caller]
    pub fn complains(self, needle: &str) -> Self {
        assert!(self.stderr.contains(needle), "no {needle:?} in {self:#?}");
        self
    }

    /// Asserts that both outputs are empty.
    #[track_caller]
    pub fn is_silent(self) -> Self {
        assert!(self.stdout.is_empty() && self.stderr.is_empty(), "{self:#?}");
        self
    }

    /// Standard output as one JSON value.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is no JSON ({error}): {self:#?}"))
    }

    /// Standard output as JSON lines.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<serde_json::Value> {
        let parse = |line| {
            serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{line:?} is no JSON ({error}): {self:#?}"))
        };
        self.stdout.lines().map(parse).collect()
    }
}

/// Feeds on its own thread: a program may write before it has read, and would block on a full pipe.
fn feed(mut pipe: impl Write + Send + 'static, bytes: Vec<u8>) -> JoinHandle<()> {
    thread::spawn(move || match pipe.write_all(&bytes) {
        Ok(()) => {}
        // Not every program reads its input to the end.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => panic!("could not feed stdin: {error}"),
    })
}

fn drain(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a pipe can be read");
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_larger_than_a_pipe_goes_through() {
        let much = "x".repeat(1 << 20);
        let run = Run::of(&mut Command::new("cat"), much.as_bytes()).ok();
        assert_eq!(run.stdout.len(), much.len());
    }

    #[test]
    fn unread_input_is_no_fault() {
        Run::of(&mut Command::new("true"), &[b'x'; 1 << 20]).ok().is_silent();
    }
}
