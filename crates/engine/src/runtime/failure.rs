//! The error a user sees when a command fails: the thing, the cause, and the next command.
//!
//! `Kind` determines the exit code; no other code chooses one.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use towline_core::escape::lines_for_terminal;
use towline_store::StoreError;
use towline_store::journal::AppendError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The operation failed.
    Failed,
    /// The command received invalid input.
    Input,
}

impl Kind {
    pub fn exit_code(self) -> ExitCode {
        match self {
            Kind::Failed => ExitCode::from(1),
            Kind::Input => ExitCode::from(2),
        }
    }
}

#[derive(Debug)]
pub struct Failure {
    pub kind: Kind,
    pub what: String,
    pub causes: Vec<String>,
    /// Commands to run or places to look at.
    pub hints: Vec<String>,
}

impl Failure {
    pub fn new(error: &dyn Error) -> Failure {
        let mut texts = texts(error).into_iter();
        let what = texts.next().unwrap_or_default();
        Failure { kind: Kind::Failed, what, causes: texts.collect(), hints: vec![] }
    }

    /// Describes the attempted operation, with the error as its cause.
    pub fn about(what: impl Into<String>, error: &dyn Error) -> Failure {
        Failure { kind: Kind::Failed, what: what.into(), causes: texts(error), hints: vec![] }
    }

    pub fn input(what: impl Into<String>) -> Failure {
        Failure { kind: Kind::Input, what: what.into(), causes: vec![], hints: vec![] }
    }

    /// Another process is busy with it: a retry may succeed.
    pub fn busy(what: impl Into<String>) -> Failure {
        Failure { kind: Kind::Failed, ..Failure::input(what) }
    }

    /// A file or folder of the data folder cannot be used.
    pub fn unusable(path: &Path, error: &dyn Error) -> Failure {
        Failure::about(format!("could not use {}", path.display()), error).hint("Run `tow doctor`.")
    }

    pub fn cause(mut self, cause: impl Into<String>) -> Failure {
        self.causes.push(cause.into());
        self
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hints.push(hint.into());
        self
    }

    /// The whole text for a terminal.
    pub fn render(&self) -> String {
        let causes = self.causes.iter().map(|cause| format!("  because: {cause}\n"));
        let hints = self.hints.iter().map(|hint| format!("hint: {hint}\n"));
        // Names in the message may come from untrusted input.
        lines_for_terminal(&format!("error: {}\n{}", self.what, causes.chain(hints).collect::<String>()))
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::new(&error).hint("Run `tow doctor`.")
    }
}

impl From<AppendError> for Failure {
    fn from(error: AppendError) -> Failure {
        Failure::new(&error).hint("Run `tow doctor`.")
    }
}

pub fn chain(error: &dyn Error) -> String {
    texts(error).join(": ")
}

fn texts(error: &dyn Error) -> Vec<String> {
    let mut texts = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(error) = cause {
        texts.push(error.to_string());
        cause = error.source();
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_thing_the_cause_and_the_next_command() {
        let mut failure = Failure::input("no such key `x`").hint("Run `tow config`.");
        failure.causes.push("it was never there".into());
        assert_eq!(
            failure.render(),
            "error: no such key `x`\n  because: it was never there\nhint: Run `tow config`.\n"
        );
    }
}
