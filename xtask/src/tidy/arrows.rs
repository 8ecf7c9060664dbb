//! Which crate may depend on which: a crate exists to forbid a dependency.
//!
//! A crate without a row in the table is a finding: its arrows must be decided when it is made.

use super::finding::{Finding, Rule};
use crate::repository::{Dependency, File, Package};

/// A crate, the crates of this workspace that it may use (without `towline-`), and the others: `ANY`, apart
/// from those with one owner, or a list.
type Arrows = (&'static str, &'static str, &'static str);

const ANY: &str = "*";

const TABLE: [Arrows; 13] = [
    ("towline-core", "", "jiff serde thiserror unicode-width"),
    ("towline-agents", "core", ANY),
    ("towline-hub", "core", ANY),
    ("towline-monitor", "core", "ratatui unicode-width"),
    ("towline-search", "", ANY),
    ("towline-store", "core", ANY),
    ("towline-terminal", "core", ANY),
    ("towline-engine", "agents core hub search store terminal", ANY),
    ("towline-render", "core engine", "serde_json"),
    ("towline-server", "core engine render", ANY),
    ("tow", "agents core engine hub monitor render search server store terminal", ANY),
    ("towline-testkit", "", ANY),
    ("xtask", "agents core store testkit", ANY),
];

/// Crates that only the named packages may use. A runtime in the hook's binary needs a crate of its own
/// first.
const OWNED: [(&str, &[&str]); 6] = [
    ("rusqlite", &["towline-store"]),
    ("tantivy", &["towline-search"]),
    ("tokio", &["towline-hub", "towline-server"]),
    ("tokio-postgres", &["towline-hub"]),
    ("axum", &["towline-server"]),
    ("ratatui", &["towline-monitor"]),
];

/// Tests may use the bench from anywhere; it depends on none of ours, so no circle can come of it.
const BENCH: &str = "towline-testkit";

const WHY: &str = "a crate exists to forbid a dependency";
const UNLISTED: Rule = Rule { why: WHY, mend: "add one in `xtask/src/tidy/arrows.rs`" };
const FORBIDDEN: Rule =
    Rule { why: WHY, mend: "move the code to the crate that may, or pass a value instead" };

pub fn check(package: &Package, manifest: &File) -> Vec<Finding> {
    let Some(arrows) = TABLE.iter().find(|(name, ..)| *name == package.name) else {
        let what = format!("crate `{}` has no row in the table of arrows", package.name);
        return vec![UNLISTED.violation(&manifest.path, line_of(manifest, &package.name), what)];
    };
    let wrong = package.dependencies.iter().filter(|dependency| !is_allowed(arrows, dependency));
    let findings = wrong.map(|dependency| {
        let what = format!("`{}` depends on `{}`", package.name, dependency.name);
        FORBIDDEN.violation(&manifest.path, line_of(manifest, &dependency.name), what)
    });
    findings.collect()
}

fn is_allowed((package, ours, others): &Arrows, dependency: &Dependency) -> bool {
    let name = dependency.name.as_str();
    let is_dev = dependency.kind.as_deref() == Some("dev");
    if let Some((_, owners)) = OWNED.iter().find(|(owned, _)| *owned == name) {
        return owners.contains(package);
    }
    if TABLE.iter().any(|(known, ..)| *known == name) {
        let short = name.strip_prefix("towline-").unwrap_or(name);
        return ours.split(' ').any(|our| our == short) || (is_dev && name == BENCH);
    }
    is_dev || *others == ANY || others.split(' ').any(|other| other == name)
}

fn line_of(manifest: &File, word: &str) -> usize {
    let names = |line: &str| line.starts_with(word) || line.contains(&format!("\"{word}\""));
    manifest.text.lines().position(names).map_or(1, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_allowed(package: &str, dependency: &str, expected: bool) {
        check_kind(package, dependency, None, expected);
    }

    #[track_caller]
    fn check_kind(package: &str, dependency: &str, kind: Option<&str>, expected: bool) {
        let dependencies = vec![Dependency { name: dependency.to_owned(), kind: kind.map(str::to_owned) }];
        let package = Package {
            name: package.to_owned(),
            version: "0.1.0".to_owned(),
            license: None,
            source: None,
            manifest_path: "Cargo.toml".into(),
            dependencies,
        };
        let text = format!("[dependencies]\n{dependency}.workspace = true\n");
        let findings = check(&package, &File { path: "Cargo.toml".to_owned(), text });
        assert_eq!(findings.is_empty(), expected, "{findings:?}");
        assert!(findings.iter().all(|finding| finding.line == 2 || finding.what.contains("no row")));
    }

    #[test]
    fn core_uses_serde_alone() {
        check_allowed("towline-core", "serde", true);
        check_allowed("towline-core", "serde_json", false);
        check_kind("towline-core", "serde_json", Some("dev"), true);
        check_kind("towline-core", "towline-store", Some("dev"), false);
    }

    #[test]
    fn arrows_point_to_core_and_never_sideways() {
        check_allowed("towline-store", "towline-core", true);
        check_allowed("towline-store", "towline-agents", false);
        check_allowed("towline-terminal", "tow", false);
        check_allowed("towline-search", "towline-store", false);
        check_allowed("tow", "tantivy", false);
        check_allowed("tow", "towline-terminal", true);
    }

    #[test]
    fn crates_with_an_owner_stay_with_it() {
        check_allowed("towline-store", "rusqlite", true);
        check_allowed("tow", "rusqlite", false);
        check_kind("tow", "rusqlite", Some("dev"), false);
        check_allowed("tow", "tokio", false);
    }

    #[test]
    fn bench_serves_tests_and_knows_none_of_ours() {
        check_kind("tow", "towline-testkit", Some("dev"), true);
        check_allowed("tow", "towline-testkit", false);
        check_allowed("towline-testkit", "towline-core", false);
    }

    #[test]
    fn crate_without_a_row_is_found() {
        check_allowed("towline-new", "serde", false);
    }
}
