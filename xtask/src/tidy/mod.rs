//! The invariants of the code that no compiler checks, one rule per file.
//!
//! A rule looks and reports; it never changes a file. A warning is printed and does not fail.

mod agent_names;
mod architecture;
mod arrows;
mod core_purity;
mod finding;
mod header;
mod layers;
mod leftovers;
pub mod links;
mod machine_paths;
mod parity;
mod sql;

use std::io::Write;

use crate::outcome::{Result, Verdict};
use crate::repository::{File, Reach, Repository};
use crate::scan::Source;

use finding::{Finding, Weight};

/// A rule about one Rust file.
type SourceRule = fn(&str, &Source<'_>) -> Vec<Finding>;

const SOURCE_RULES: [SourceRule; 4] = [header::check, sql::check, core_purity::check, leftovers::check];

/// A rule about any one text file.
type TextRule = fn(&File) -> Vec<Finding>;

const TEXT_RULES: [TextRule; 2] = [agent_names::check, machine_paths::check];

/// Prints every finding; broken if one of them is a violation.
pub fn run(repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let findings = findings(repository)?;
    for finding in &findings {
        writeln!(out, "{finding}")?;
    }
    let violations = findings.iter().filter(|finding| finding.weight == Weight::Violation).count();
    writeln!(out, "tidy: {violations} violations, {} warnings", findings.len() - violations)?;
    Ok(Verdict::of(violations == 0))
}

fn findings(repository: &Repository) -> Result<Vec<Finding>> {
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
    findings.extend(layers::check(&files)?);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repository_is_tidy() {
        let mut printed = Vec::new();
        let verdict = run(&Repository::here().unwrap(), &mut printed).unwrap();
        assert_eq!(verdict, Verdict::Holds, "\n{}", String::from_utf8(printed).unwrap());
    }
}
