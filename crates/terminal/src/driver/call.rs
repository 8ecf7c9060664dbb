//! Runs a terminal's own program and gives what it printed.
//!
//! Arguments as a list, never a shell. One that does not answer in time is ended, and counts as one that is not there.

use super::DriverError;
use super::sitter::Variable;
use crate::tmux::read_within;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

/// One call of a program.
pub(super) struct Call<'a> {
    pub program: &'static str,
    pub arguments: &'a [&'a str],
    /// What differs from our own environment.
    pub variables: &'a [Variable],
    /// No more than a pipe holds: it is written before anybody reads.
    pub input: &'a [u8],
    pub patience: Duration,
}

impl Call<'_> {
    /// What it printed, if it did what it was asked.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that runs a terminal's program to look or type"
    )]
    pub(super) fn run(&self) -> Result<String, DriverError> {
        let program = self.program;
        let mut command = Command::new(program);
        command.args(self.arguments).envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.env(GUARD, "1").env_remove("TMUX").current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().map_err(|error| DriverError::NotStarted { program, cause: error.to_string() })?;
        if let Some(mut pipe) = child.stdin.take() {
            // One that has ended by now says why itself.
            let _ = pipe.write_all(self.input);
        }
        let said = child.stdout.take().and_then(|pipe| read_within(pipe, self.patience));
        let complaint =
            said.as_ref().and(child.stderr.take()).and_then(|pipe| read_within(pipe, self.patience));
        let (Some(said), Some(complaint)) = (said, complaint) else {
            let _ = child.kill();
            let _ = child.wait();
            return Err(DriverError::NoAnswer { program });
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match child.wait() {
            Ok(status) if status.success() => Ok(text(&said)),
            Ok(_) | Err(_) => Err(self.refused(&text(&complaint), &text(&said))),
        }
    }

    /// Not all programs complain where one expects it.
    fn refused(&self, complaint: &str, said: &str) -> DriverError {
        let words = if complaint.trim().is_empty() { said } else { complaint };
        let first = words.trim().lines().next().unwrap_or("without a word");
        DriverError::Refused { program: self.program, said: first.to_owned() }
    }
}

/// What we start does not lead to hooks of ours.
const GUARD: &str = "TOWLINE_CHILD";

/// For a program that answers in a few milliseconds, also on a machine that has much else to do.
pub(super) const QUICK: Duration = Duration::from_secs(2);

/// For one that starts an interpreter of its own first.
pub(super) const SLOW: Duration = Duration::from_secs(8);
