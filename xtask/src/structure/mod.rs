//! `cargo xtask structure`: figures about the code that anyone can check.
//!
//! It reads the repository and prints. It must not fail because of a figure: rules live in `tidy`.

pub mod cycles;
pub mod modules;
mod names;
mod openings;
pub mod paths;
pub mod production;
mod table;
mod tuples;

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use crate::outcome::{Failure, Verdict};
use crate::repository::Repository;

/// The lists to print besides the table.
#[derive(clap::Args)]
pub struct Options {
    /// Print every figure and list as JSON instead
    #[arg(long)]
    json: bool,
    /// List the files of each import cycle
    #[arg(long)]
    cycles: bool,
    /// List the type names with several definitions
    #[arg(long)]
    names: bool,
    /// List the functions with tuple parameters
    #[arg(long)]
    tuples: bool,
    /// List the comment sentences that open with a pronoun or adverb
    #[arg(long)]
    openings: bool,
}

/// Every figure, with the places behind it.
#[derive(Serialize)]
struct Structure {
    lines: Lines,
    cycles: cycles::Cycles,
    names: names::Names,
    tuples: Vec<tuples::TupleFunction>,
    openings: openings::Openings,
}

/// Lines of production code, comments and blank lines included.
#[derive(Serialize)]
struct Lines {
    packages: BTreeMap<String, usize>,
    total: usize,
}

/// Prints the figures and the lists that `options` asks for.
pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict, Failure> {
    let structure = measure(&production::select(&repository.files()?)?);
    if options.json {
        let text = serde_json::to_string_pretty(&structure)
            .map_err(|error| Failure::malformed("the table of the structure", error))?;
        writeln!(out, "{text}")?;
    } else {
        out.write_all(table::write(&structure, options).as_bytes())?;
    }
    Ok(Verdict::Holds)
}

fn measure(units: &[production::Unit]) -> Structure {
    Structure {
        lines: lines(units),
        cycles: cycles::measure(units),
        names: names::measure(units),
        tuples: tuples::measure(units),
        openings: openings::measure(units),
    }
}

fn lines(units: &[production::Unit]) -> Lines {
    let mut packages = BTreeMap::new();
    for unit in units {
        *packages.entry(unit.package.clone()).or_default() += unit.lines;
    }
    Lines { total: packages.values().sum(), packages }
}

/// Production code for the tests of the measures, from paths and texts.
#[cfg(test)]
pub fn units(files: &[(&str, &str)]) -> Vec<production::Unit> {
    let file = |(path, text): &(&str, &str)| crate::repository::File {
        path: (*path).to_owned(),
        text: (*text).to_owned(),
    };
    production::select(&files.iter().map(file).collect::<Vec<_>>()).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_holds_every_measure() {
        let units = units(&[("crates/a/src/lib.rs", "//! What it is.\nstruct A;\nfn f(a: (u8, u8)) {}\n")]);
        let json = serde_json::to_value(measure(&units)).unwrap();
        assert_eq!(json["lines"]["total"], 3);
        assert_eq!(json["cycles"]["scopes"][0]["largest"], 0);
        assert_eq!(json["names"]["distinct"], 1);
        assert_eq!(json["tuples"][0]["name"], "f");
        assert_eq!(json["openings"]["found"][0]["line"], 1);
    }

    #[test]
    fn lines_are_added_up_by_package() {
        let units = units(&[
            ("crates/a/src/lib.rs", "//! A.\n\nfn a() {}\n"),
            ("crates/a/src/b.rs", "fn b() {}\n#[cfg(test)]\nmod tests {}\n"),
            ("xtask/src/main.rs", "fn main() {}\n"),
        ]);
        let Lines { packages, total } = lines(&units);
        assert_eq!((packages["a"], packages["xtask"], total), (4, 1, 5));
    }
}
