//! The result of one check: its name, its state and the command that helps.
//!
//! Definitions only: it must not look at anything.

use serde::Serialize;

/// The result of one check.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    pub name: String,
    pub status: Status,
    pub detail: String,
    /// The command or action that fixes the finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Good,
    Warning,
    Bad,
}

impl Check {
    pub fn good(name: impl Into<String>, detail: impl Into<String>) -> Check {
        Check { name: name.into(), status: Status::Good, detail: detail.into(), mend: None }
    }

    /// Adds an optional next step to a good result.
    pub fn with_next(self, next: impl Into<String>) -> Check {
        Check { mend: Some(next.into()), ..self }
    }

    pub fn warning(name: impl Into<String>, detail: impl Into<String>, mend: impl Into<String>) -> Check {
        Check { status: Status::Warning, mend: Some(mend.into()), ..Check::good(name, detail) }
    }

    pub fn bad(name: impl Into<String>, detail: impl Into<String>, mend: impl Into<String>) -> Check {
        Check { status: Status::Bad, ..Check::warning(name, detail, mend) }
    }
}
