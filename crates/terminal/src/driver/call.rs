//! Runs a terminal's own program and returns its output.
//!
//! Arguments are a list, never a shell. A program that does not answer in time is killed and counts as absent.

use super::pane::DriverError;
use super::sitter::Variable;
use crate::tmux::read_within;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Runs a program with variables that differ from our own environment; its output, if it succeeds. The input has at most
/// a pipe's capacity: it is written before the program reads.
#[expect(clippy::disallowed_methods, reason = "the one place that runs a terminal's program to look or type")]
pub(super) fn exec(
    program: &'static str,
    arguments: &[&str],
    variables: &[Variable],
    input: &[u8],
    patience: Duration,
) -> Result<String, DriverError> {
    let mut command = Command::new(program);
    command.args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
    command.env(GUARD, "1").env_remove("TMUX").current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child =
        command.spawn().map_err(|error| DriverError::NotStarted { program, cause: error.to_string() })?;
    if let Some(mut pipe) = child.stdin.take() {
        // A program that has exited by now reports the reason itself.
        let _ = pipe.write_all(input);
    }
    let output = child.stdout.take().and_then(|pipe| read_within(pipe, patience));
    let complaint = output.as_ref().and(child.stderr.take()).and_then(|pipe| read_within(pipe, patience));
    let (Some(output), Some(complaint)) = (output, complaint) else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(DriverError::NoAnswer { program });
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match child.wait() {
        Ok(status) if status.success() => Ok(text(&output)),
        Ok(_) | Err(_) => Err(refused(program, &text(&complaint), &text(&output))),
    }
}

/// Takes the first line of stderr, or of stdout for programs that complain there.
fn refused(program: &'static str, complaint: &str, output: &str) -> DriverError {
    let words = if complaint.trim().is_empty() { output } else { complaint };
    let first = words.trim().lines().next().unwrap_or("without a word");
    DriverError::Refused { program, said: first.to_owned() }
}

/// Keeps programs we start from triggering our own hooks.
const GUARD: &str = "TOWLINE_CHILD";

/// For a program that answers in milliseconds, with a margin for a loaded machine.
pub(super) const QUICK: Duration = Duration::from_secs(2);

/// For a program that starts an interpreter first.
pub(super) const SLOW: Duration = Duration::from_secs(8);
