//! How a task ends: its verdict, or the error that stopped it.
//!
//! A finding of a check is not a failure: it is data that the check prints. Must not print or exit.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Holds,
    Broken,
}

impl Verdict {
    pub fn of(holds: bool) -> Verdict {
        if holds { Verdict::Holds } else { Verdict::Broken }
    }
}

impl From<Verdict> for ExitCode {
    fn from(verdict: Verdict) -> ExitCode {
        match verdict {
            Verdict::Holds => ExitCode::SUCCESS,
            Verdict::Broken => ExitCode::FAILURE,
        }
    }
}

/// The error that stopped a task; the text names the thing, the source says why.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("could not read {path}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("could not write {path}")]
    Write { path: PathBuf, source: std::io::Error },
    #[error("could not print")]
    Print(#[from] std::io::Error),
    #[error("could not start `{program}`")]
    Start { program: String, source: std::io::Error },
    #[error("`{program}` failed: {complaint}")]
    Failed { program: String, complaint: String },
    #[error("{what} is malformed: {complaint}")]
    Malformed { what: String, complaint: String },
    #[error("{what} is missing: {mend}")]
    Missing { what: String, mend: String },
}

pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// For `map_err` after reading `path`.
    pub fn read(path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
        let path = path.to_owned();
        move |source| Failure::Read { path, source }
    }

    /// For `map_err` after writing or creating `path`.
    pub fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
        let path = path.to_owned();
        move |source| Failure::Write { path, source }
    }

    /// For `map_err` after starting `program`.
    pub fn start(program: &str) -> impl FnOnce(std::io::Error) -> Failure {
        let program = program.to_owned();
        move |source| Failure::Start { program, source }
    }

    /// Input that does not have the required form.
    pub fn malformed(what: impl Into<String>, complaint: impl ToString) -> Failure {
        Failure::Malformed { what: what.into(), complaint: complaint.to_string() }
    }
}

/// The output of `program`, or its error message.
pub fn stdout_of(program: &str, output: Output) -> Result<String> {
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Failure::Failed { program: program.to_owned(), complaint });
    }
    String::from_utf8(output.stdout)
        .map_err(|error| Failure::malformed(format!("output of `{program}`"), error))
}

/// Runs `command` to its end and returns its output; errors name it `program`.
pub fn output_of(program: &str, command: &mut Command) -> Result<String> {
    stdout_of(program, command.output().map_err(Failure::start(program))?)
}
