//! `cargo xtask bench layout`: writes `crates/cli/hooks.ld`, by which the linker places the functions that hooks run side by
//! side.
//!
//! The kernel maps 64 KB around each function that a process calls first. Scattered over 13 MB of code, a tool result took
//! 104 page faults and 1.22 × `/bin/true`; side by side it takes 45 and 0.66 ×. A session's first prompt took 91
//! of them for functions that lay elsewhere, and takes 2 since it is among the runs. Decides only where functions lie: a name
//! that no longer exists is ignored, and a function without a line lies where it did.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::Command;

use crate::bench::home::Seeds;
use crate::bench::host::{announce, settle};
use crate::bench::instructions;
use crate::bench::rounds::Case as _;
use crate::bench::setup::Setup;
use crate::bench::years;
use crate::files;
use crate::outcome::{Failure, Result};

use super::case::{Case, QUICK_HISTORIES, Subject, groups};

/// The start of the C library is part of every process, and so is copying.
const OPENING: &str = "/* Written by `cargo xtask bench layout`: the functions that hooks run, most common first. */\n\
    SECTIONS {\n  .text.hooks : {\n    *crt1.o(.text .text.*)\n    *libc.a:*(.text .text.*)\n    \
    *(.text.memcpy)\n";
const CLOSING: &str = "  }\n}\nINSERT BEFORE .text;\n";

/// Runs every event once and writes the script. `setup.tow` must have its symbols.
pub fn write(setup: &Setup, out: &mut impl Write) -> Result<()> {
    announce(out, "running every event once …")?;
    let names = most_common_first(&runs(setup)?);
    if names.is_empty() {
        let complaint = "it has no symbols; build it with CARGO_PROFILE_RELEASE_STRIP=none";
        return Err(Failure::malformed(setup.tow.display().to_string(), complaint));
    }
    let path = setup.crates.join("cli/hooks.ld");
    files::write(&path, script(&names))?;
    announce(out, &format!("{} functions in {}", names.len(), path.display()))
}

/// The functions that each event runs.
fn runs(setup: &Setup) -> Result<Vec<BTreeSet<String>>> {
    let seeds = Seeds::new(&setup.tow);
    let subjects =
        groups(&setup.recordings, &QUICK_HISTORIES[..1]).into_iter().flat_map(|group| group.subjects);
    let mut runs = Vec::new();
    for (number, subject) in subjects.enumerate() {
        let subject = Subject { history: QUICK_HISTORIES[0], ..subject };
        let case = Case::prepare(&subject, number, &setup.recordings, &seeds)?;
        settle()?;
        let (command, stdin) = case.process(1)?;
        runs.push(functions(&instructions::profile(&command, &stdin)?));
    }
    let run = |command: &Command, stdin: &[u8]| Ok(functions(&instructions::profile(command, stdin)?));
    runs.extend(years::each_hook(&setup.tow, &setup.crates, run)?);
    Ok(runs)
}

/// The symbols in a profile of callgrind, without code that has no name.
fn functions(profile: &str) -> BTreeSet<String> {
    let named = profile.lines().filter_map(|line| line.strip_prefix("fn=").or(line.strip_prefix("cfn=")));
    let symbols = named.filter_map(|function| Some(function.split_once(") ")?.1));
    // callgrind appends the depth of a recursion.
    let symbols = symbols.map(|symbol| symbol.split('\'').next().unwrap_or(symbol));
    let is_symbol =
        |symbol: &&str| symbol.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    symbols.filter(is_symbol).map(lasting).collect()
}

/// A pattern that outlives this build: crates carry a hash of everything they are built with, and copies a number.
fn lasting(symbol: &str) -> String {
    const CRATE: &str = "Cs";
    let (symbol, copy) = match symbol.split_once('.') {
        Some((symbol, _)) => (symbol, "*"),
        None => (symbol, ""),
    };
    let mut parts = symbol.split(CRATE);
    let mut lasting = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
        let is_crate = rest.len() < part.len() && rest.starts_with('_');
        lasting.extend([CRATE, if is_crate { "*" } else { "" }, if is_crate { rest } else { part }]);
    }
    lasting + copy
}

/// An event that does little then maps little.
fn most_common_first(runs: &[BTreeSet<String>]) -> Vec<String> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for name in runs.iter().flatten() {
        *counts.entry(name).or_default() += 1;
    }
    let mut names: Vec<_> = counts.into_iter().collect();
    names.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    names.into_iter().map(|(name, _)| name.clone()).collect()
}

fn script(names: &[String]) -> String {
    let lines: String =
        names.iter().map(|name| format!("    *(.text.{name} .text.unlikely.{name})\n")).collect();
    format!("{OPENING}{lines}{CLOSING}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_named_without_the_hashes_that_change() {
        let profile = "fl=(1) ???\nfn=(1) _RNvNtCsaz6eC2DG7lh_3tow4hook4read\n1 2\ncfn=(2) sqlite3Step'2\ncalls=1 0\n\
            fn=(3) 0x000000000042d873\nfn=(4) (below main)\nfn=(5) _RNvXCs7_4core3fmt.7494\nfn=(2)\n";
        let names = Vec::from_iter(functions(profile));
        assert_eq!(names, ["_RNvNtCs*_3tow4hook4read", "_RNvXCs*_4core3fmt*", "sqlite3Step"]);
    }

    #[test]
    fn functions_that_most_events_run_come_first() {
        let run = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let names = most_common_first(&[run(&["b", "c"]), run(&["a", "c"])]);
        assert_eq!(names, ["c", "a", "b"]);
        assert!(script(&names).contains("    *(.text.c .text.unlikely.c)\n    *(.text.a "));
    }
}
