//! The result of a check.
//!
//! Must not say what is broken: the check prints that itself.

use std::process::ExitCode;

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
