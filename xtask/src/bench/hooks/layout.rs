//! `cargo xtask bench layout`: which functions hooks run, written down for the linker, which puts them side by side.
//!
//! A hook maps the pages that it runs; in a large program those would be scattered. It changes where functions lie and
//! nothing of what they do: a name that is gone is passed over, one that is missing lies elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::case::{Case, QUICK_HISTORIES, Subject, groups};
use super::home::Seeds;
use crate::bench::payload::Agent;
use crate::bench::{Setup, announce, settle};
use crate::failure::Failure;

/// What the linker reads, below the repository's root (see `.cargo/config.toml`).
pub const SCRIPT: &str = "crates/cli/hooks.ld";

const OPENING: &str = "/* Made by `cargo xtask bench layout`: the functions that hooks run, side by side. */\n\
                       SECTIONS {\n  .text.hooks : {\n";
const CLOSING: &str = "  }\n} INSERT BEFORE .text;\n";

/// Runs every event once, looks up its functions in the linker's map, and writes their names down.
pub fn write(setup: &Setup, to: &Path, out: &mut impl Write) -> Result<usize, Failure> {
    let map = map_of(&setup.tow);
    let text = std::fs::read_to_string(&map).map_err(Failure::read(&map))?;
    let functions = functions(&text);
    announce(out, &format!("running every event once ({} functions in the map) …", functions.len()))?;
    let names = in_order(&runs(setup)?.iter().map(|run| names(&functions, run)).collect::<Vec<_>>());
    std::fs::write(to, script(&names)).map_err(Failure::write(to))?;
    Ok(names.len())
}

/// Where the map is that goes with a program.
pub fn map_of(tow: &Path) -> PathBuf {
    tow.with_extension("map")
}

/// Where the instructions of each event stand.
fn runs(setup: &Setup) -> Result<Vec<BTreeSet<u64>>, Failure> {
    let seeds = Seeds::new(&setup.tow);
    let groups = groups(&setup.recordings, &QUICK_HISTORIES[..1]).into_iter();
    let run = |(number, subject): (usize, Subject)| {
        let subject = Subject { history: QUICK_HISTORIES[0], ..subject };
        let case = Case::prepare(&subject, number, &setup.recordings, &seeds)?;
        settle()?;
        let addresses = case.addresses(&setup.tails.join(end_of(subject.agent)))?;
        Ok((case, addresses))
    };
    let runs: Result<Vec<(Case, _)>, Failure> =
        groups.flat_map(|group| group.subjects).enumerate().map(run).collect();
    // Whoever still works in a home would make it anew after it is gone.
    let ended = |(case, addresses): (Case, _)| {
        case.wait_for_work();
        addresses
    };
    Ok(runs?.into_iter().map(ended).collect())
}

/// A transcript whose turn has ended: with none, a hook would look at none and start no capture.
fn end_of(agent: Agent) -> &'static str {
    match agent {
        Agent::Claude => "claude-2.1.325-end.jsonl",
        Agent::Codex => "codex-0.166.0-end.jsonl",
    }
}

/// What most events run comes first: so the least is mapped by those that do little.
fn in_order(runs: &[BTreeSet<String>]) -> Vec<String> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for name in runs.iter().flatten() {
        *counts.entry(name).or_default() += 1;
    }
    let mut names: Vec<_> = counts.into_iter().collect();
    names.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    names.into_iter().map(|(name, _)| name.clone()).collect()
}

/// A function's section in the map, by where it begins: its end, and its name.
type Functions<'m> = BTreeMap<u64, (u64, &'m str)>;

/// Reads the linker's map: the name, and behind it or on the next line where it stands and how large it is.
fn functions(map: &str) -> Functions<'_> {
    let (mut found, mut named) = (Functions::new(), None);
    for line in map.lines() {
        let mut words = line.split_ascii_whitespace();
        if line.starts_with(" .") {
            named = words.next();
        }
        let name = named.filter(|name| name.starts_with(".text."));
        if let (Some(name), Some(start), Some(size)) = (name, hex(words.next()), hex(words.next()))
            && size > 0
        {
            found.insert(start, (start + size, name));
            named = None;
        }
    }
    found
}

fn hex(word: Option<&str>) -> Option<u64> {
    u64::from_str_radix(word?.strip_prefix("0x")?, 16).ok()
}

fn names(functions: &Functions<'_>, addresses: &BTreeSet<u64>) -> BTreeSet<String> {
    let at = |address: &u64| {
        let (_, (end, name)) = functions.range(..=*address).next_back()?;
        (address < end).then(|| lasting(name))
    };
    addresses.iter().filter_map(at).collect()
}

/// A name that survives the next build: crates are told apart by a hash of all that they are built with.
fn lasting(name: &str) -> String {
    const MARK: &str = "Cs";
    let mut parts = name.split(MARK);
    let mut lasting = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
        let is_crate = rest.len() < part.len() && rest.starts_with('_');
        lasting.extend([MARK, if is_crate { "*" } else { "" }, if is_crate { rest } else { part }]);
    }
    lasting
}

fn script(names: &[String]) -> String {
    let mut text = OPENING.to_owned();
    for name in names {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "    *({name})");
    }
    text + CLOSING
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = "\
Discarded input sections

 .text.gone     0x0000000000000000       0x10 a.o

Linker script and memory map

 .text          0x0000000000401000       0x20 crt1.o
 .text.short    0x0000000000401040       0x0d a.o
 .text._RNvNtCsaz6eC2DG7lh_3tow4hook4read
                0x0000000000401050      0x1b3 a.o
                0x0000000000401050                _RNvNtCsaz6eC2DG7lh_3tow4hook4read
 .text._RNvCsaz6eC2DG7lh_3tow6search
                0x0000000000401210       0x40 a.o
 .rodata.str    0x0000000000501000       0x10 a.o
";

    #[test]
    fn functions_that_ran_are_named_without_the_hash_that_changes() {
        let functions = functions(MAP);
        let ran = BTreeSet::from([0x40_1010, 0x40_1040, 0x40_1060, 0x40_1202, 0x40_1204, 0x50_1000]);
        let names = names(&functions, &ran);
        assert_eq!(Vec::from_iter(names), [".text._RNvNtCs*_3tow4hook4read", ".text.short"]);
    }

    #[test]
    fn the_linker_is_told_a_name_a_line_and_what_runs_most_often_first() {
        let run = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let runs = [run(&[".text.b", ".text.c"]), run(&[".text.aCs*_1x", ".text.c"])];
        assert_eq!(
            script(&in_order(&runs)).lines().skip(1).collect::<Vec<_>>(),
            [
                "SECTIONS {",
                "  .text.hooks : {",
                "    *(.text.c)",
                "    *(.text.aCs*_1x)",
                "    *(.text.b)",
                "  }",
                "} INSERT BEFORE .text;"
            ]
        );
    }
}
