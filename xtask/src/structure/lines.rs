//! Counts the lines of production code of each package.
//!
//! Comments and blank lines count. It must not judge length: that is a rule of `tidy`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::production::Unit;

/// Lines of production code.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Lines {
    pub packages: BTreeMap<String, usize>,
    pub total: usize,
}

pub fn measure(units: &[Unit]) -> Lines {
    let mut packages = BTreeMap::new();
    for unit in units {
        *packages.entry(unit.package.clone()).or_default() += unit.lines;
    }
    Lines { total: packages.values().sum(), packages }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::units;

    #[test]
    fn lines_are_added_up_by_package() {
        let units = units(&[
            ("crates/a/src/lib.rs", "//! A.\n\nfn a() {}\n"),
            ("crates/a/src/b.rs", "fn b() {}\n#[cfg(test)]\nmod tests {}\n"),
            ("xtask/src/main.rs", "fn main() {}\n"),
        ]);
        let Lines { packages, total } = measure(&units);
        assert_eq!((packages["a"], packages["xtask"], total), (4, 1, 5));
    }
}
