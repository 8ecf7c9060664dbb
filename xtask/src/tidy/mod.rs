//! The invariants of the code that no compiler checks, one rule per file.
//!
//! A rule looks and reports; it never changes a file. A warning is printed and does not fail.

mod agent_names;
mod architecture;
mod arrows;
mod core_purity;
mod header;
mod layers;
mod leftovers;
mod length;
mod links;
mod machine_paths;
mod parity;
mod sql;

use std::fmt;
use std::io::Write;

use crate::Verdict;
use crate::failure::Failure;
use crate::repository::{File, Reach, Repository};
use crate::scan::Source;

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

/// What breaks a rule somewhere in a file; the rule adds why and how to mend.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    line: usize,
    what: String,
}

/// A rule about one Rust file.
type SourceRule = fn(&str, &Source<'_>) -> Vec<Finding>;

const SOURCE_RULES: [SourceRule; 5] =
    [header::check, length::check, sql::check, core_purity::check, leftovers::check];

/// A rule about any one text file.
type TextRule = fn(&File) -> Vec<Finding>;

const TEXT_RULES: [TextRule; 2] = [agent_names::check, machine_paths::check];

/// Prints every finding; broken if one of them is a violation.
pub fn run(repository: &Repository, out: &mut impl Write) -> Result<Verdict, Failure> {
    let findings = findings(repository)?;
    for finding in &findings {
        writeln!(out, "{finding}")?;
    }
    let violations = findings.iter().filter(|finding| finding.weight == Weight::Violation).count();
    writeln!(out, "tidy: {violations} violations, {} warnings", findings.len() - violations)?;
    Ok(if violations == 0 { Verdict::Holds } else { Verdict::Broken })
}

fn findings(repository: &Repository) -> Result<Vec<Finding>, Failure> {
    let files = repository.files()?;
    let packages = repository.metadata(Reach::Workspace)?.packages;
    let mut findings: Vec<Finding> = files.iter().flat_map(about_file).collect();
    for package in &packages {
        let manifest = repository.manifest_of(package);
        let text = repository.read(&manifest)?;
        findings.extend(arrows::check(package, &File { path: manifest, text }));
    }
    let map = files.iter().find(|file| file.path == architecture::MAP);
    findings.extend(architecture::check(map, &packages));
    findings.extend(parity::check(&files));
    findings.extend(layers::check(&files));
    findings.extend(links::check(&files, &repository.paths()?));
    findings.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    Ok(findings)
}

fn about_file(file: &File) -> Vec<Finding> {
    let mut findings: Vec<Finding> = TEXT_RULES.iter().flat_map(|rule| rule(file)).collect();
    if file.path.ends_with(".rs") {
        let source = Source::scan(&file.text);
        findings.extend(SOURCE_RULES.iter().flat_map(|rule| rule(&file.path, &source)));
    }
    findings
}

/// Whether `path` has a folder called `name` in it.
fn is_under(path: &str, name: &str) -> bool {
    path.rsplit('/').skip(1).any(|folder| folder == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repository_is_tidy() {
        let mut printed = Vec::new();
        let verdict = run(&Repository::here().unwrap(), &mut printed).unwrap();
        assert_eq!(verdict, Verdict::Holds, "\n{}", String::from_utf8(printed).unwrap());
    }

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
