//! Which crate may depend on which: a crate exists to forbid a dependency.
//!
//! A crate without a row in the table is a finding: its arrows must be decided when it is made.

use super::{Finding, Weight};
use crate::repository::{Dependency, File, Package};

/// What one crate may depend on.
struct Arrows {
    package: &'static str,
    /// Crates of this workspace.
    ours: &'static [&'static str],
    /// `None` where any other crate will do, apart from those with one owner.
    others: Option<&'static [&'static str]>,
}

const TABLE: [Arrows; 13] = [
    Arrows { package: "towline-core", ours: &[], others: Some(&["serde", "unicode-width"]) },
    Arrows { package: "towline-agents", ours: &["towline-core"], others: None },
    Arrows { package: "towline-hub", ours: &["towline-core"], others: None },
    Arrows {
        package: "towline-monitor",
        ours: &["towline-core"],
        others: Some(&["ratatui", "unicode-width"]),
    },
    Arrows { package: "towline-search", ours: &[], others: None },
    Arrows { package: "towline-store", ours: &["towline-core"], others: None },
    Arrows { package: "towline-terminal", ours: &["towline-core"], others: None },
    Arrows {
        package: "towline-engine",
        ours: &[
            "towline-agents",
            "towline-core",
            "towline-hub",
            "towline-search",
            "towline-store",
            "towline-terminal",
        ],
        others: None,
    },
    Arrows {
        package: "tow",
        ours: &[
            "towline-agents",
            "towline-core",
            "towline-engine",
            "towline-hub",
            "towline-monitor",
            "towline-render",
            "towline-search",
            "towline-server",
            "towline-store",
            "towline-terminal",
        ],
        others: None,
    },
    Arrows {
        package: "towline-render",
        ours: &["towline-core", "towline-engine"],
        others: Some(&["serde_json"]),
    },
    Arrows {
        package: "towline-server",
        ours: &["towline-core", "towline-engine", "towline-render"],
        others: None,
    },
    Arrows { package: "towline-testkit", ours: &[], others: None },
    Arrows { package: "xtask", ours: &["towline-agents", "towline-core", "towline-testkit"], others: None },
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

pub fn check(package: &Package, manifest: &File) -> Vec<Finding> {
    let Some(arrows) = TABLE.iter().find(|arrows| arrows.package == package.name) else {
        let what = format!("crate `{}` has no row in the table of arrows", package.name);
        return vec![finding(manifest, &package.name, what, "add one in `xtask/src/tidy/arrows.rs`")];
    };
    let wrong = package.dependencies.iter().filter(|dependency| !is_allowed(arrows, dependency));
    wrong
        .map(|dependency| {
            let what = format!("`{}` depends on `{}`", package.name, dependency.name);
            finding(
                manifest,
                &dependency.name,
                what,
                "move the code to the crate that may, or pass a value instead",
            )
        })
        .collect()
}

fn is_allowed(arrows: &Arrows, dependency: &Dependency) -> bool {
    let name = dependency.name.as_str();
    let is_dev = dependency.kind.as_deref() == Some("dev");
    if let Some((_, owners)) = OWNED.iter().find(|(owned, _)| *owned == name) {
        return owners.contains(&arrows.package);
    }
    if TABLE.iter().any(|row| row.package == name) {
        return arrows.ours.contains(&name) || (is_dev && name == BENCH);
    }
    is_dev || arrows.others.is_none_or(|others| others.contains(&name))
}

fn finding(manifest: &File, word: &str, what: String, mend: &'static str) -> Finding {
    let line = manifest
        .text
        .lines()
        .position(|line| line.starts_with(word) || line.contains(&format!("\"{word}\"")));
    Finding {
        weight: Weight::Violation,
        path: manifest.path.clone(),
        line: line.map_or(1, |at| at + 1),
        what,
        why: "a crate exists to forbid a dependency",
        mend,
    }
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
