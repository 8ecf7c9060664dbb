//! Checks licences, sources and known faults of every crate in the lock file.
//!
//! Kept instead of cargo-deny: that has 381 packages in its lock file, more than this workspace has, and would have to be built
//! on every machine that runs the suite, for a check of 145 lines without tests. A release runs cargo-deny as well.
//!
//! Works offline: reads only cargo's downloads, `deny.toml` and `xtask/advisories.txt`. No substitute for
//! querying an advisory database on the day of a release.

use std::collections::BTreeMap;
use std::io::Write;

use toml_edit::{DocumentMut, Item};

use crate::outcome::{Failure, Result, Verdict};
use crate::repository::{Package, Reach, Repository};

/// Prints every crate that must not be used, and warns of crates in two versions.
pub fn run(repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let policy = Policy::parse(&repository.read("deny.toml")?, &repository.read("xtask/advisories.txt")?)?;
    let packages = repository.metadata(Reach::LockFile)?.packages;
    let objections: Vec<String> = packages.iter().flat_map(|package| policy.objections(package)).collect();
    for objection in &objections {
        writeln!(out, "{objection}")?;
    }
    for repeated in repeated(&packages) {
        writeln!(out, "warning: {repeated}")?;
    }
    writeln!(out, "licences: {} crates, {} objections", packages.len(), objections.len())?;
    Ok(Verdict::of(objections.is_empty()))
}

/// The two lists of `deny.toml` that matter offline, and the versions that must not be used.
struct Policy {
    licences: Vec<String>,
    registries: Vec<String>,
    /// Crate, affected versions, id, note.
    advisories: Vec<[String; 4]>,
}

impl Policy {
    fn parse(deny: &str, advisories: &str) -> Result<Policy> {
        let deny: DocumentMut = deny.parse().map_err(|error| Failure::malformed("deny.toml", error))?;
        let entries = advisories.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        let fields = |line: &str| {
            let fields: Vec<String> = line.split('|').map(|field| field.trim().to_owned()).collect();
            fields.try_into().map_err(|_| Failure::malformed("xtask/advisories.txt", line))
        };
        Ok(Policy {
            licences: texts(&deny, "licenses", "allow")?,
            registries: texts(&deny, "sources", "allow-registry")?,
            advisories: entries.map(fields).collect::<Result<_, _>>()?,
        })
    }

    fn objections(&self, package: &Package) -> Vec<String> {
        let Package { name, version, license, source, .. } = package;
        let licence = license.as_deref().unwrap_or("none");
        let licence = (!is_met(licence, &self.licences))
            .then(|| format!("the licence `{licence}` is not allowed by deny.toml"));
        let source = source.as_ref().filter(|source| !self.is_allowed_source(source));
        let source = source.map(|source| format!("it comes from `{source}`, which deny.toml does not allow"));
        let known =
            self.advisories.iter().filter(|[of, affected, ..]| of == name && affects(affected, version));
        let known = known.map(|[_, _, id, note]| format!("{id}: {note}"));
        licence.into_iter().chain(source).chain(known).map(|why| format!("{name} {version}: {why}")).collect()
    }

    fn is_allowed_source(&self, source: &str) -> bool {
        let registry = source.strip_prefix("registry+").or(source.strip_prefix("sparse+"));
        registry.is_some_and(|registry| self.registries.iter().any(|known| known == registry))
    }
}

fn texts(document: &DocumentMut, table: &str, key: &str) -> Result<Vec<String>> {
    let array = document.get(table).and_then(|table| table.get(key)).and_then(Item::as_array);
    let array = array.ok_or_else(|| Failure::malformed("deny.toml", format!("no list `{table}.{key}`")))?;
    Ok(array.iter().filter_map(|value| value.as_str()).map(str::to_owned).collect())
}

/// Whether the allowed licences satisfy an SPDX expression. `AND` binds closer than `OR` or the old slash. Ids
/// are compared literally, with their exception, so that a malformed expression is never satisfied.
fn is_met(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.trim().replace('/', " OR ");
    let options = split_outside_parentheses(&expression, " OR ");
    if options.len() > 1 {
        return options.iter().any(|option| is_met(option, allowed));
    }
    let parts = split_outside_parentheses(&expression, " AND ");
    if parts.len() > 1 {
        return parts.iter().all(|part| is_met(part, allowed));
    }
    match expression.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) => is_met(inner, allowed),
        None => allowed.contains(&expression),
    }
}

fn split_outside_parentheses<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices(separator) {
        let before = &text[..at];
        if before.matches('(').count() == before.matches(')').count() {
            parts.push(&text[from..at]);
            from = at + separator.len();
        }
    }
    parts.push(&text[from..]);
    parts
}

/// Whether `version` is among `affected`: comparisons joined by `, ` must all hold, alternatives by ` or `.
fn affects(affected: &str, version: &str) -> bool {
    affected.split(" or ").any(|all| all.split(", ").all(|comparison| holds(comparison, version)))
}

/// Anything that cannot be read holds, so that a slip in the list is noticed.
fn holds(comparison: &str, version: &str) -> bool {
    let Some((operator, than)) = comparison.trim().split_once(' ') else { return true };
    let order = sort_key(version).cmp(&sort_key(than));
    match operator {
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        "=" => order.is_eq(),
        ">=" => order.is_ge(),
        ">" => order.is_gt(),
        _ => true,
    }
}

/// Ignores build metadata, and sorts every pre-release right before its release.
fn sort_key(version: &str) -> (Vec<u64>, bool) {
    let version = version.split('+').next().unwrap_or_default();
    let numbers = version.split('-').next().unwrap_or_default();
    let numbers = numbers.split('.').map(|number| number.parse().unwrap_or_default()).collect();
    (numbers, !version.contains('-'))
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

    const DENY: &str =
        "[licenses]\nallow = [\"MIT\", \"Zlib\"]\n[sources]\nallow-registry = [\"https://a/index\"]";

    fn package(name: &str, version: &str, license: Option<&str>, source: Option<&str>) -> Package {
        Package {
            name: name.to_owned(),
            version: version.to_owned(),
            license: license.map(str::to_owned),
            source: source.map(str::to_owned),
            manifest_path: "Cargo.toml".into(),
            dependencies: Vec::new(),
        }
    }

    #[track_caller]
    fn check(text: &str, allowed: &[&str], expected: bool) {
        let allowed: Vec<String> = allowed.iter().map(|id| (*id).to_owned()).collect();
        assert_eq!(is_met(text, &allowed), expected, "{text} by {allowed:?}");
    }

    #[test]
    fn lock_file_holds_only_what_may_be_used() {
        let mut printed = Vec::new();
        let verdict = run(&Repository::here().unwrap(), &mut printed).unwrap();
        assert_eq!(verdict, Verdict::Holds, "\n{}", String::from_utf8(printed).unwrap());
    }

    #[test]
    fn objection_names_the_crate_its_version_and_the_reason() {
        let policy = Policy::parse(DENY, "# a comment\n\na | < 1.2.0 | RUSTSEC-1 | leaks\n").unwrap();
        assert_eq!(
            policy.objections(&package("a", "1.1.0", Some("GPL-3.0-only"), None)),
            ["a 1.1.0: the licence `GPL-3.0-only` is not allowed by deny.toml", "a 1.1.0: RUSTSEC-1: leaks"],
        );
        assert_eq!(policy.objections(&package("a", "1.2.0", Some("MIT"), None)), [""; 0]);
        assert_eq!(policy.objections(&package("b", "1.0.0", None, None)).len(), 1);
    }

    #[test]
    fn only_the_named_registry_and_our_own_folders_are_sources() {
        let policy = Policy::parse(DENY, "").unwrap();
        let objections = |source| policy.objections(&package("a", "1.0.0", Some("MIT"), source)).len();
        assert_eq!((objections(None), objections(Some("registry+https://a/index"))), (0, 0));
        assert_eq!(
            (objections(Some("registry+https://b/i")), objections(Some("git+https://a/index"))),
            (1, 1)
        );
    }

    #[test]
    fn policy_without_a_list_or_a_field_is_malformed() {
        assert!(Policy::parse("[licenses]\nallow = []", "").is_err());
        assert!(Policy::parse(DENY, "a | < 1.0.0 | id").is_err());
    }

    #[test]
    fn one_option_and_every_part_is_needed() {
        check("MIT OR Apache-2.0", &["MIT"], true);
        check("MIT/Apache-2.0", &["Apache-2.0"], true);
        check("MIT OR Apache-2.0", &["ISC"], false);
        check("(MIT OR Apache-2.0) AND Unicode-3.0", &["MIT", "Unicode-3.0"], true);
        check("(MIT OR Apache-2.0) AND Unicode-3.0", &["MIT"], false);
    }

    #[test]
    fn and_binds_closer_than_or() {
        check("MIT OR Apache-2.0 AND ISC", &["MIT"], true);
        check("MIT AND Apache-2.0 OR ISC", &["MIT"], false);
    }

    #[test]
    fn exception_belongs_to_its_licence() {
        check("Apache-2.0 WITH LLVM-exception", &["Apache-2.0"], false);
        check("Apache-2.0 WITH LLVM-exception", &["Apache-2.0 WITH LLVM-exception"], true);
        check("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", &["MIT"], true);
    }

    #[test]
    fn malformed_expressions_are_refused() {
        for text in ["", "MIT OR", "OR MIT", "(MIT", "MIT)", "MIT Apache-2.0", "MIT WITH", "MIT WITH OR"] {
            check(text, &["MIT"], false);
        }
    }

    #[test]
    fn affected_versions_are_compared_as_numbers() {
        assert!(affects("< 1.10.0", "1.9.0") && !affects("< 1.9.0", "1.10.0"));
        assert!(affects(">= 0.7.0, < 0.9.3 or = 0.10.0", "0.10.0"));
        assert!(!affects(">= 0.7.0, < 0.9.3 or = 0.10.0", "0.9.3"));
        assert!(affects("*", "1.0.0") && affects("< 1.0.0", "1.0.0-rc.1"));
        assert!(affects("< 1.0.1", "1.0.0+build"));
    }

    #[test]
    fn crate_in_two_versions_is_named_once() {
        let packages = [("a", "1.0.0"), ("b", "1.0.0"), ("a", "2.0.0")]
            .map(|(name, version)| package(name, version, Some("MIT"), None));
        assert_eq!(repeated(&packages), ["a comes in 1.0.0 and 2.0.0"]);
    }
}
