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

use crate::outcome::{Result, Verdict};
use crate::repository::Repository;

/// The lists to print besides the table.
#[derive(clap::Args)]
pub struct Options {
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
struct Structure {
    lines: Lines,
    cycles: cycles::Cycles,
    names: names::Names,
    tuples: Vec<production::Occurrence>,
    openings: openings::Openings,
}

/// Lines of production code, comments and blank lines included.
struct Lines {
    packages: BTreeMap<String, usize>,
    total: usize,
    /// Those of each agent's folder, its plugin included.
    agents: BTreeMap<String, usize>,
}

/// Prints the figures and the lists that `options` asks for.
pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let files = repository.files()?;
    let mut structure = measure(&production::select(&files)?);
    add_plugins(&mut structure.lines.agents, &files);
    out.write_all(table::write(&structure, options).as_bytes())?;
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
    Lines { total: packages.values().sum(), packages, agents: agents(units) }
}

/// The lines of each folder of the `agents` crate that holds an adapter.
fn agents(units: &[production::Unit]) -> BTreeMap<String, usize> {
    let adapter = |unit: &production::Unit| match unit.module.as_slice() {
        [agent, file] if unit.package == AGENTS && file == "adapter" => Some(agent.clone()),
        _ => None,
    };
    let mut agents: BTreeMap<String, usize> =
        units.iter().filter_map(adapter).map(|agent| (agent, 0)).collect();
    for unit in units.iter().filter(|unit| unit.package == AGENTS) {
        if let Some(lines) = unit.module.first().and_then(|module| agents.get_mut(module)) {
            *lines += unit.lines;
        }
    }
    agents
}

const AGENTS: &str = "agents";

/// A plugin is written in the language of the agent's program.
fn add_plugins(agents: &mut BTreeMap<String, usize>, files: &[crate::repository::File]) {
    for file in files {
        let inside = file.path.strip_prefix("crates/agents/src/").and_then(|path| path.split_once('/'));
        if let Some((agent, name)) = inside
            && name.ends_with(".js")
            && let Some(lines) = agents.get_mut(agent)
        {
            *lines += file.text.lines().count();
        }
    }
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
    fn structure_holds_every_measure() {
        let units = units(&[("crates/a/src/lib.rs", "//! What it is.\nstruct A;\nfn f(a: (u8, u8)) {}\n")]);
        let structure = measure(&units);
        assert_eq!(structure.lines.total, 3);
        assert_eq!(structure.cycles.scopes[0].largest, 0);
        assert_eq!(structure.names.distinct, 1);
        assert_eq!(structure.tuples[0].word, "f");
        assert_eq!(structure.openings.found[0].line, 1);
    }

    #[test]
    fn lines_are_added_up_by_package() {
        let units = units(&[
            ("crates/a/src/lib.rs", "//! A.\n\nfn a() {}\n"),
            ("crates/a/src/b.rs", "fn b() {}\n#[cfg(test)]\nmod tests {}\n"),
            ("xtask/src/main.rs", "fn main() {}\n"),
        ]);
        let Lines { packages, total, .. } = lines(&units);
        assert_eq!((packages["a"], packages["xtask"], total), (4, 1, 5));
    }

    #[test]
    fn lines_are_added_up_by_agent_with_its_plugin() {
        let units = units(&[
            ("crates/agents/src/first/adapter.rs", "fn a() {}\nfn b() {}\n"),
            ("crates/agents/src/first/screen.rs", "fn c() {}\n"),
            ("crates/agents/src/settings/edit.rs", "fn d() {}\n"),
            ("crates/engine/src/first/adapter.rs", "fn e() {}\n"),
        ]);
        let mut agents = lines(&units).agents;
        let plugin =
            |path: &str| crate::repository::File { path: path.to_owned(), text: "a\nb\n".to_owned() };
        add_plugins(
            &mut agents,
            &[plugin("crates/agents/src/first/plugin.js"), plugin("crates/agents/src/plugin/a.js")],
        );
        assert_eq!(agents, BTreeMap::from([("first".to_owned(), 5)]));
    }
}
