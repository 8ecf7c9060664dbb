//! ARCHITECTURE.md is there, short enough to be read whole, and names every crate.
//!
//! Whether what it says is true is for the reviewer.

use super::finding::{Finding, Rule};
use crate::repository::{File, Package};

pub const MAP: &str = "ARCHITECTURE.md";

const LINES_AT_MOST: usize = 150;

const WHY: &str = "a newcomer finds the way by it";
const MISSING: Rule = Rule { why: WHY, mend: "write it: crates, data path, invariants" };
const TOO_LONG: Rule = Rule { why: WHY, mend: "cut what the code says itself" };
const UNNAMED: Rule = Rule { why: WHY, mend: "add a line that says what it owns" };

pub fn check(map: Option<&File>, packages: &[Package]) -> Vec<Finding> {
    let Some(map) = map else {
        return vec![MISSING.violation(MAP, 1, "the map of the code is missing")];
    };
    let lines = map.text.lines().count();
    let too_long = (lines > LINES_AT_MOST).then(|| {
        TOO_LONG.violation(MAP, lines, format!("the map has {lines} lines, at most {LINES_AT_MOST}"))
    });
    let unnamed = packages.iter().filter(|package| !names(&map.text, &package.name));
    let unnamed = unnamed
        .map(|package| UNNAMED.violation(MAP, 1, format!("crate `{}` is not on the map", package.name)));
    too_long.into_iter().chain(unnamed).collect()
}

/// A crate goes by its package's name or by its folder's: `towline-core` or `core`.
fn names(map: &str, package: &str) -> bool {
    let folder = package.strip_prefix("towline-").unwrap_or(package);
    [format!("`{package}`"), format!("`{folder}`"), format!("crates/{folder}")]
        .iter()
        .any(|name| map.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str) -> Package {
        Package {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            license: None,
            source: None,
            manifest_path: "Cargo.toml".into(),
            dependencies: Vec::new(),
        }
    }

    #[track_caller]
    fn check_found(map: Option<&str>, expected: &[&str]) {
        let file = map.map(|text| File { path: MAP.to_owned(), text: text.to_owned() });
        let findings = check(file.as_ref(), &[package("towline-core"), package("tow")]);
        let found: Vec<&str> = findings.iter().map(|finding| finding.what.as_str()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn every_crate_is_named_one_way_or_another() {
        check_found(Some("| `core` | `tow` |"), &[]);
        check_found(Some("`towline-core`, crates/tow"), &[]);
        check_found(Some("the core, `tow`"), &["crate `towline-core` is not on the map"]);
    }

    #[test]
    fn missing_map_is_found() {
        check_found(None, &["the map of the code is missing"]);
    }

    #[test]
    fn long_map_is_found() {
        let long = format!("`core` `tow`{}", "\n.".repeat(150));
        check_found(Some(&long), &["the map has 151 lines, at most 150"]);
    }
}
