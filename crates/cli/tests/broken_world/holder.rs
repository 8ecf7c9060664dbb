//! A process that holds something until it is let go: a lock, a namespace.
//!
//! It lives as long as its standard input is open, so that nothing stays behind when a test ends in any way.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use towline_testkit::TestEnv;

pub struct Holder {
    child: Child,
}

impl Holder {
    /// Starts the command, feeds it, and waits until it says `ready`.
    #[track_caller]
    pub fn start(mut command: Command, input: &str) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child =
            command.spawn().unwrap_or_else(|error| panic!("could not start {command:?}: {error}"));
        child.stdin.as_mut().expect("it is piped").write_all(input.as_bytes()).expect("it reads");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let is_ready = lines.any(|line| line.is_ok_and(|line| line == "ready"));
        assert!(is_ready, "{command:?} holds nothing");
        Self { child }
    }

    /// Takes the lock of a file, as another process would.
    pub fn lock_file(env: &TestEnv, file: &std::path::Path) -> Self {
        let mut flock = env.command("flock");
        flock.arg(file).args(["sh", "-c", "echo ready; exec cat"]);
        Self::start(flock, "")
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets go, and waits until that is done.
    pub fn release(self) {
        drop(self);
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
