//! Checks licences, sources and known faults of every crate in the lock file.
//!
//! Works offline: reads only cargo's downloads, `deny.toml` and `xtask/advisories.txt`. No substitute for
//! querying an advisory database on the day of a release.

mod advisories;
mod policy;
mod spdx;

use std::collections::BTreeMap;
use std::io::Write;

use crate::Verdict;
use crate::failure::Failure;
use crate::repository::{Package, Reach, Repository};

use advisories::Advisory;
use policy::Policy;

/// Prints every crate that must not be used, and warns of crates in two versions.
pub fn run(repository: &Repository, out: &mut impl Write) -> Result<Verdict, Failure> {
    let policy = Policy::parse(&repository.read("deny.toml")?)?;
    let advisories = advisories::parse(&repository.read("xtask/advisories.txt")?)?;
    let packages = repository.metadata(Reach::LockFile)?.packages;
    let objections: Vec<String> =
        packages.iter().flat_map(|package| objections(package, &policy, &advisories)).collect();
    for objection in &objections {
        writeln!(out, "{objection}")?;
    }
    for repeated in repeated(&packages) {
        writeln!(out, "warning: {repeated}")?;
    }
    writeln!(out, "licences: {} crates, {} objections", packages.len(), objections.len())?;
    Ok(if objections.is_empty() { Verdict::Holds } else { Verdict::Broken })
}

fn objections(package: &Package, policy: &Policy, advisories: &[Advisory]) -> Vec<String> {
    let Package { name, version, .. } = package;
    let licence = policy.licence_objection(package.license.as_deref());
    let source = policy.source_objection(package.source.as_deref());
    let known = advisories.iter().filter(|advisory| advisory.concerns(name, version));
    let known = known.map(|advisory| format!("{}: {}", advisory.id, advisory.note));
    licence.into_iter().chain(source).chain(known).map(|why| format!("{name} {version}: {why}")).collect()
}

/// Lists crates in several versions: each version is built and linked.
fn repeated(packages: &[Package]) -> Vec<String> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().push(&package.version);
    }
    let several = versions.into_iter().filter(|(_, versions)| versions.len() > 1);
    several.map(|(name, versions)| format!("{name} comes in {}", versions.join(" and "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, version: &str, license: &str) -> Package {
        Package {
            name: name.to_owned(),
            version: version.to_owned(),
            license: Some(license.to_owned()),
            source: None,
            manifest_path: "Cargo.toml".into(),
            dependencies: Vec::new(),
        }
    }

    #[test]
    fn lock_file_holds_only_what_may_be_used() {
        let mut printed = Vec::new();
        let verdict = run(&Repository::here().unwrap(), &mut printed).unwrap();
        assert_eq!(verdict, Verdict::Holds, "\n{}", String::from_utf8(printed).unwrap());
    }

    #[test]
    fn objection_names_the_crate_its_version_and_the_reason() {
        let policy = Policy::parse("[licenses]\nallow = [\"MIT\"]\n[sources]\nallow-registry = []").unwrap();
        let advisories = advisories::parse("a | < 1.2.0 | RUSTSEC-1 | leaks\n").unwrap();
        assert_eq!(
            objections(&package("a", "1.1.0", "GPL-3.0-only"), &policy, &advisories),
            ["a 1.1.0: the licence `GPL-3.0-only` is not allowed by deny.toml", "a 1.1.0: RUSTSEC-1: leaks"],
        );
        assert_eq!(objections(&package("a", "1.2.0", "MIT"), &policy, &advisories), [""; 0]);
    }

    #[test]
    fn crate_in_two_versions_is_named_once() {
        let packages =
            [package("a", "1.0.0", "MIT"), package("b", "1.0.0", "MIT"), package("a", "2.0.0", "MIT")];
        assert_eq!(repeated(&packages), ["a comes in 1.0.0 and 2.0.0"]);
    }
}
