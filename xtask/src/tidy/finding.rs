//! A finding: the place, the rule, the reason and the remedy.
//!
//! Must not print: `tidy` does.

use std::fmt;

/// Whether a finding fails the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    Violation,
    Warning,
}

/// One place that breaks a rule: where, what, why it matters, how to mend it.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    pub weight: Weight,
    pub path: String,
    pub line: usize,
    pub what: String,
    pub why: &'static str,
    pub mend: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.weight {
            Weight::Violation => "",
            Weight::Warning => "warning: ",
        };
        let Finding { path, line, what, why, mend, .. } = self;
        write!(f, "{path}:{line}: {mark}{what}, {why}, {mend}")
    }
}

/// Why a rule exists, and how to satisfy it.
pub struct Rule {
    pub why: &'static str,
    pub mend: &'static str,
}

impl Rule {
    pub fn violation(&self, path: &str, line: usize, what: impl Into<String>) -> Finding {
        let (path, what) = (path.to_owned(), what.into());
        Finding { weight: Weight::Violation, path, line, what, why: self.why, mend: self.mend }
    }

    pub fn warning(&self, path: &str, line: usize, what: impl Into<String>) -> Finding {
        Finding { weight: Weight::Warning, ..self.violation(path, line, what) }
    }
}

/// Whether `path` has a folder called `name` in it.
pub fn is_under(path: &str, name: &str) -> bool {
    path.rsplit('/').skip(1).any(|folder| folder == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_reads_as_place_what_why_and_mend() {
        let mut finding = Finding {
            weight: Weight::Violation,
            path: "a/b.rs".to_owned(),
            line: 7,
            what: "no header".to_owned(),
            why: "a reader starts there",
            mend: "write one",
        };
        assert_eq!(finding.to_string(), "a/b.rs:7: no header, a reader starts there, write one");
        finding.weight = Weight::Warning;
        assert_eq!(finding.to_string(), "a/b.rs:7: warning: no header, a reader starts there, write one");
    }

    #[test]
    fn folder_is_a_whole_component() {
        assert!(is_under("crates/cli/tests/e2e.rs", "tests"));
        assert!(!is_under("crates/cli/src/tests.rs", "tests"));
        assert!(!is_under("crates/contests/src/lib.rs", "tests"));
    }
}
