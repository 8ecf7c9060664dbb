//! The list of versions that must not be used (`xtask/advisories.txt`), and the comparison with it.
//!
//! Contains only advisories entered by hand; no substitute for a database.

use std::cmp::Ordering;

use crate::failure::Failure;

/// One line of the list.
pub struct Advisory {
    package: String,
    /// Alternatives, each a list of comparisons that must all hold.
    affected: Vec<Vec<Comparison>>,
    pub id: String,
    pub note: String,
}

impl Advisory {
    pub fn concerns(&self, package: &str, version: &str) -> bool {
        let Some(version) = Version::parse(version) else { return false };
        let holds =
            |comparisons: &Vec<Comparison>| comparisons.iter().all(|comparison| comparison.holds(version));
        self.package == package && self.affected.iter().any(holds)
    }
}

pub fn parse(text: &str) -> Result<Vec<Advisory>, Failure> {
    let numbered = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let entries = numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    entries
        .map(|(number, line)| {
            entry(line).ok_or_else(|| Failure::malformed(format!("xtask/advisories.txt:{number}"), line))
        })
        .collect()
}

fn entry(line: &str) -> Option<Advisory> {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    let [package, affected, id, note] = fields[..] else { return None };
    let affected = affected.split(" or ").map(comparisons).collect::<Option<_>>()?;
    Some(Advisory { package: package.to_owned(), affected, id: id.to_owned(), note: note.to_owned() })
}

fn comparisons(text: &str) -> Option<Vec<Comparison>> {
    if text.trim() == "*" {
        return Some(Vec::new());
    }
    text.split(',').map(|part| Comparison::parse(part.trim())).collect()
}

/// A comparison such as `>= 1.2.3`.
struct Comparison {
    accepted: &'static [Ordering],
    than: Version,
}

impl Comparison {
    fn parse(text: &str) -> Option<Comparison> {
        let (operator, version) = text.split_once(' ')?;
        let accepted: &[Ordering] = match operator {
            "<" => &[Ordering::Less],
            "<=" => &[Ordering::Less, Ordering::Equal],
            "=" => &[Ordering::Equal],
            ">=" => &[Ordering::Greater, Ordering::Equal],
            ">" => &[Ordering::Greater],
            _ => return None,
        };
        Some(Comparison { accepted, than: Version::parse(version)? })
    }

    fn holds(&self, version: Version) -> bool {
        self.accepted.contains(&version.cmp(&self.than))
    }
}

/// Ignores build metadata, and sorts every pre-release right before its release: enough to tell fixed from
/// faulty.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    numbers: [u64; 3],
    is_release: bool,
}

impl Version {
    fn parse(text: &str) -> Option<Version> {
        let text = text.split('+').next()?;
        let (numbers, pre_release) = text.split_once('-').map_or((text, None), |(a, b)| (a, Some(b)));
        let numbers: Vec<u64> =
            numbers.split('.').map(|number| number.parse().ok()).collect::<Option<_>>()?;
        Some(Version { numbers: numbers.try_into().ok()?, is_release: pre_release.is_none() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(affected: &str, version: &str, expected: bool) {
        let list = parse(&format!("# a comment\n\na | {affected} | ID | note\n")).unwrap();
        assert_eq!(list[0].concerns("a", version), expected, "{version} in {affected}");
    }

    #[test]
    fn range_holds_between_its_ends() {
        check(">= 0.2.5, < 1.0.1", "0.2.4", false);
        check(">= 0.2.5, < 1.0.1", "0.2.5", true);
        check(">= 0.2.5, < 1.0.1", "1.0.0", true);
        check(">= 0.2.5, < 1.0.1", "1.0.1", false);
    }

    #[test]
    fn alternatives_hold_separately() {
        check("< 0.9.3 or = 0.10.0", "0.10.0", true);
        check("< 0.9.3 or = 0.10.0", "0.9.9", false);
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        check("< 0.10.0", "0.9.0", true);
        check("< 0.9.0", "0.10.0", false);
    }

    #[test]
    fn pre_release_comes_before_its_release_and_metadata_is_ignored() {
        check("< 1.0.0", "1.0.0-rc.1", true);
        check("= 1.1.2", "1.1.2+spec-1.1.0", true);
    }

    #[test]
    fn star_is_every_version() {
        check("*", "7.8.9", true);
    }

    #[test]
    fn other_crates_are_not_concerned() {
        assert!(!parse("a | * | ID | note").unwrap()[0].concerns("b", "1.0.0"));
    }

    #[test]
    fn malformed_line_is_named() {
        for line in
            ["a | < 1.0.0 | ID", "a | ~ 1.0.0 | ID | note", "a | < 1.x | ID | note", "a | <1.0.0 | ID | note"]
        {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
