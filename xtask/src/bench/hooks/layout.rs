//! `cargo xtask bench layout`: writes `crates/cli/hooks.ld`, by which the linker places what hooks use side by side: functions,
//! constants and variables.
//!
//! The kernel maps 64 KB around each place of the file that a process uses first, and a page of a variable by itself. Scattered
//! over 20 MB, a tool result took 104 page faults; with its functions side by side 45 to 60; with its constants and variables,
//! too, 24, and two thirds of the time. Decides only where things lie: a name that no longer exists is ignored, and a section
//! without a line lies where it did. The names of constants without a name change with the crate that they are part of.

mod link_map;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use crate::bench::home::Seeds;
use crate::bench::host::{announce, settle};
use crate::bench::instructions;
use crate::bench::rounds::Case as _;
use crate::bench::setup::{Setup, TARGET};
use crate::bench::years;
use crate::files;
use crate::outcome::{Failure, Result};
use crate::repository::{Reach, Repository};

use super::case::{Case, QUICK_HISTORIES, Situation, Subject, USUAL_SIZE, groups};
use link_map::{InputSection, LinkMap};

/// A release, and the map of how it was linked.
struct Linked {
    tow: PathBuf,
    map: PathBuf,
}

/// Builds the release with a map. Its sections have the names that a build without one has.
fn build(repository: &Repository, out: &mut impl Write) -> Result<Linked> {
    announce(out, "building the release binary with a link map …")?;
    let folder = repository.metadata(Reach::Workspace)?.target_directory.join(TARGET).join("release");
    let linked = Linked { tow: folder.join("tow"), map: folder.join("tow.map") };
    let mut cargo = Command::new("cargo");
    cargo.args([
        "rustc",
        "--locked",
        "--release",
        "--target",
        TARGET,
        "--package",
        "tow",
        "--bin",
        "tow",
        "--",
    ]);
    cargo.arg(format!("-Clink-arg=-Wl,-Map={}", linked.map.display()));
    let status = cargo.current_dir(repository.root()).status().map_err(Failure::start("cargo"))?;
    if status.success() {
        return Ok(linked);
    }
    Err(Failure::Failed { program: "cargo rustc".to_owned(), complaint: status.to_string() })
}

/// Builds a release, runs every event once and writes the script.
pub fn write(repository: &Repository, out: &mut impl Write) -> Result<()> {
    let linked = build(repository, out)?;
    let setup = Setup::of(&linked.tow, repository)?;
    announce(out, "running every event once …")?;
    let map = LinkMap::parse(&files::read(&linked.map)?);
    let used = Used::by(&runs(&setup, &map)?);
    if used.0.is_empty() {
        let complaint = "no section of it is used by a hook";
        return Err(Failure::malformed(linked.map.display().to_string(), complaint));
    }
    let path = setup.crates.join("cli/hooks.ld");
    files::write(&path, used.script())?;
    announce(out, &format!("{} sections in {}", used.0.len(), path.display()))
}

/// What one run of a hook used.
struct Run<'a> {
    /// A tool result while the agent works: most hooks are that, and their bound is the tightest.
    is_commonest: bool,
    sections: BTreeSet<&'a InputSection>,
}

/// The sections that each event uses.
fn runs<'a>(setup: &Setup, map: &'a LinkMap) -> Result<Vec<Run<'a>>> {
    let seeds = Seeds::new(&setup.tow);
    let sections = |command: &Command, stdin: &[u8]| -> Result<BTreeSet<&'a InputSection>> {
        Ok(instructions::addresses(command, stdin)?.into_iter().filter_map(|at| map.at(at)).collect())
    };
    let subjects =
        groups(&setup.recordings, &QUICK_HISTORIES[..1]).into_iter().flat_map(|group| group.subjects);
    let mut runs = Vec::new();
    for (number, subject) in subjects.enumerate() {
        let subject = Subject { history: QUICK_HISTORIES[0], ..subject };
        let case = Case::prepare(&subject, number, &setup.recordings, &seeds)?;
        settle()?;
        let (command, stdin) = case.process(1)?;
        let is_commonest = subject.situation == Situation::Working && subject.bytes == Some(USUAL_SIZE);
        runs.push(Run { is_commonest, sections: sections(&command, &stdin)? });
    }
    let of_years = years::each_hook(&setup.tow, &setup.crates, sections)?;
    runs.extend(of_years.into_iter().map(|sections| Run { is_commonest: false, sections }));
    Ok(runs)
}

/// How one section is used.
#[derive(Default)]
struct Use {
    by_commonest: bool,
    runs: usize,
}

/// The sections that hooks use, by address.
struct Used<'a>(BTreeMap<&'a InputSection, Use>);

/// A section above this size is used in part, and would part the others.
const LARGE: u64 = 2 * 1024;
/// A variable above this size has pages of its own anyway.
const HUGE: u64 = 64 * 1024;

impl<'a> Used<'a> {
    fn by(runs: &[Run<'a>]) -> Used<'a> {
        let mut used: BTreeMap<&InputSection, Use> = BTreeMap::new();
        for run in runs {
            for section in &run.sections {
                let one = used.entry(section).or_default();
                one.by_commonest |= run.is_commonest;
                one.runs += 1;
            }
        }
        Used(used)
    }

    /// Patterns for the sections of a kind: what the commonest runs use comes first, then what most runs use.
    fn of(&self, kind: &str, least: impl Fn(&InputSection) -> bool) -> [Vec<String>; 2] {
        let mut sections: Vec<_> = self.0.iter().filter(|(section, _)| is_of(section, kind)).collect();
        sections.retain(|(section, _)| section.size <= HUGE || kind != ".bss");
        sections.sort_by_key(|(section, used)| (least(section), Reverse(used.runs)));
        let of = |by_commonest| {
            let chosen = sections.iter().filter(move |(_, used)| used.by_commonest == by_commonest);
            chosen.map(|(section, _)| lasting(&section.name)).collect()
        };
        [of(true), of(false)]
    }

    /// Variables of the commonest runs end `.data` and begin `.bss`, so that they share pages. Constants lie beside the other
    /// constants, not among the code: the segment of code holds nothing else.
    fn script(&self) -> String {
        let is_large = |section: &InputSection| section.size > LARGE;
        let [common_code, code] = self.of(".text", |_| false);
        let [common_constants, constants] = self.of(".rodata", is_large);
        let [common_data, data] = self.of(".data", is_large);
        let [common_zeros, zeros] = self.of(".bss", is_large);
        let parts = [
            output(
                ".text.hooks",
                "BEFORE .text",
                &[vec![START.to_owned()], inputs(&common_code), inputs(&code)],
            ),
            output(
                ".rodata.hooks",
                "AFTER .rodata",
                &[vec![WINDOW.to_owned()], inputs(&common_constants), inputs(&constants)],
            ),
            output(".data.hooks", "AFTER .data", &[inputs(&data), inputs(&common_data)]),
            output(
                ".bss.hooks (NOLOAD)",
                "AFTER .data.hooks",
                &[inputs(&common_zeros), vec![COMMON.to_owned()], inputs(&zeros)],
            ),
        ];
        OPENING.to_owned() + &parts.concat()
    }
}

const OPENING: &str =
    "/* Written by `cargo xtask bench layout`: the sections that hooks use, the commonest first. */\n";
/// The start of the C library is part of every process.
const START: &str = "*crt1.o(.text .text.*)";
/// The kernel maps a file in windows of this size.
const WINDOW: &str = ". = ALIGN(0x10000);";
/// Small variables of the C library.
const COMMON: &str = "*(COMMON)";

fn output(name: &str, place: &str, parts: &[Vec<String>]) -> String {
    let lines: String = parts.iter().flatten().map(|line| format!("    {line}\n")).collect();
    format!("SECTIONS {{\n  {name} : {{\n{lines}  }}\n}}\nINSERT {place};\n")
}

fn inputs(patterns: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let new = patterns.iter().filter(|pattern| seen.insert(*pattern));
    new.map(|pattern| format!("*({pattern})")).collect()
}

/// A section that has the name of its kind alone belongs to many files, and cannot be told from theirs.
fn is_of(section: &InputSection, kind: &str) -> bool {
    section.name.strip_prefix(kind).is_some_and(|rest| rest.starts_with('.'))
}

/// A pattern that outlives this build: crates carry a hash of everything they are built with, copies a number, and of equal
/// functions any one is kept, which may have been made for any crate.
fn lasting(section: &str) -> String {
    const CRATE: &str = "Cs";
    let Some(start) = section.find("._R") else { return without_number(section) };
    let (kind, symbol) = section.split_at(start + 1);
    let (symbol, copy) = match symbol.split_once('.') {
        Some((symbol, _)) => (symbol, "*"),
        None => (symbol, ""),
    };
    let (symbol, copy) = match symbol.rsplit_once(CRATE) {
        Some((path, made_for)) if is_crate_alone(made_for) => (path, "Cs*"),
        _ => (symbol, copy),
    };
    let mut parts = symbol.split(CRATE);
    let mut lasting = kind.to_owned() + parts.next().unwrap_or_default();
    for part in parts {
        let rest = part.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
        let is_crate = rest.len() < part.len() && rest.starts_with('_');
        lasting.extend([CRATE, if is_crate { "*" } else { "" }, if is_crate { rest } else { part }]);
    }
    lasting + copy
}

/// Whether this is a crate's hash and name and no more: `az6eC2DG7lh_3tow`, not `az6eC2DG7lh_3tow4main`.
fn is_crate_alone(part: &str) -> bool {
    let Some((_, name)) = part.split_once('_') else { return false };
    let letters = name.trim_start_matches(|letter: char| letter.is_ascii_digit());
    name[..name.len() - letters.len()].parse() == Ok(letters.len())
}

/// Two static objects of a C file may share a name, and then carry a number. Constants without a name are told by theirs.
fn without_number(section: &str) -> String {
    let is_anonymous = section.contains(".Lanon.");
    match section.rsplit_once('.') {
        Some((name, number)) if !is_anonymous && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{name}.*")
        }
        _ => section.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(name: &str, start: u64, size: u64) -> InputSection {
        InputSection { start, size, name: name.to_owned() }
    }

    #[test]
    fn sections_are_named_without_the_hashes_and_numbers_that_change() {
        let named = [
            (".text._RNvNtCsaz6eC2DG7lh_3tow4hook4read", ".text._RNvNtCs*_3tow4hook4read"),
            (".text._RNvXCs7_4core3fmt.7494", ".text._RNvXCs*_4core3fmt*"),
            (".text._RNvMCs7_4core3vec7reserveCs2Hw_6webpki", ".text._RNvMCs*_4core3vec7reserveCs*"),
            (".text.unlikely.sqlite3Step", ".text.unlikely.sqlite3Step"),
            (".rodata.values.2934", ".rodata.values.*"),
            (".rodata..Lanon.12f36afa.255", ".rodata..Lanon.12f36afa.255"),
            (".rodata.cst16", ".rodata.cst16"),
        ];
        for (name, pattern) in named {
            assert_eq!(lasting(name), pattern);
        }
    }

    #[test]
    fn the_commonest_hook_comes_first_and_its_variables_lie_together() {
        let all = [
            section(".text.often", 1, 8),
            section(".text.tool", 2, 8),
            section(".data.often", 3, 8),
            section(".data.tool", 4, 8),
            section(".bss.tool", 5, 8),
            section(".bss.huge", 6, HUGE + 1),
            section(".bss", 7, 8),
        ];
        let run = |is_commonest, sections: &[usize]| Run {
            is_commonest,
            sections: sections.iter().map(|at| &all[*at]).collect(),
        };
        let script =
            Used::by(&[run(true, &[1, 3, 4, 5, 6]), run(false, &[0, 2]), run(false, &[0, 2])]).script();
        let lines: Vec<&str> = script.lines().map(str::trim).filter(|line| line.starts_with("*(.")).collect();
        assert_eq!(
            lines,
            ["*(.text.tool)", "*(.text.often)", "*(.data.often)", "*(.data.tool)", "*(.bss.tool)"]
        );
    }
}
