//! Writes the figures as a table, and the lists behind them.
//!
//! Text only. It must not measure or leave out anything that was asked for.

use super::cycles::{Cycles, Scope};
use super::production::Occurrence;
use super::{Options, Structure};

/// Returns the table, then the lists that `options` asks for.
pub fn write(structure: &Structure, options: &Options) -> String {
    let mut text = figures(structure);
    if options.cycles {
        text += &list("Import cycles", cycle_lines(&structure.cycles));
    }
    if options.names {
        let repeated = structure.names.repeated.iter();
        let line =
            repeated.map(|name| format!("{} {} {}", name.files.len(), name.name, name.files.join(" ")));
        text += &list("Type names with several definitions", line.collect());
    }
    if options.tuples {
        text += &list("Functions with tuple parameters", place_lines(&structure.tuples));
    }
    if options.openings {
        let title = "Comment sentences that open with a pronoun or adverb";
        text += &list(title, place_lines(&structure.openings.found));
    }
    text
}

fn figures(structure: &Structure) -> String {
    let mut text = String::from("Production lines of Rust\n");
    for (package, lines) in &structure.lines.packages {
        text += &row(package, *lines);
    }
    text += &row("total", structure.lines.total);
    text += "\nProduction lines per agent, its plugin included\n";
    for (agent, lines) in &structure.lines.agents {
        text += &row(agent, *lines);
    }
    text += "\nFiles in the largest import cycle (0: none)\n";
    for scope in &structure.cycles.scopes {
        text += &row(&name(scope), scope.largest);
    }
    text += "\nWhole workspace\n";
    text += &row("cycles between the engine's modules", structure.cycles.engine_modules.len());
    let names = &structure.names;
    text += &share("type names defined more than once", names.repeated.len(), names.distinct);
    text += &row("functions with tuple parameters", structure.tuples.len());
    let openings = &structure.openings;
    text +=
        &share("comment sentences that open with What, Nobody, …", openings.found.len(), openings.sentences);
    text
}

fn row(name: &str, figure: usize) -> String {
    format!("  {name:<50} {figure:>7}\n")
}

/// A row with its share of `whole`, in tenths of a percent.
fn share(name: &str, part: usize, whole: usize) -> String {
    let tenths = (part * 1000 + whole / 2).checked_div(whole).unwrap_or(0);
    format!("{} of {whole} ({}.{}%)\n", row(name, part).trim_end(), tenths / 10, tenths % 10)
}

fn name(scope: &Scope) -> String {
    match &scope.folder {
        Some(folder) => format!("  {}/{folder}", scope.package),
        None => scope.package.clone(),
    }
}

fn list(title: &str, lines: Vec<String>) -> String {
    let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    format!("\n{title}\n{lines}")
}

fn place_lines(places: &[Occurrence]) -> Vec<String> {
    places.iter().map(|place| format!("{}:{} {}", place.file, place.line, place.word)).collect()
}

fn cycle_lines(cycles: &Cycles) -> Vec<String> {
    let between = cycles.engine_modules.iter().map(|cycle| format!("engine's modules: {}", cycle.join(", ")));
    between.chain(cycles.scopes.iter().flat_map(scope_lines)).collect()
}

/// Writes each cycle of a scope: its size, then each file and those of the cycle that it imports.
fn scope_lines(scope: &Scope) -> Vec<String> {
    let mut lines = Vec::new();
    for cycle in &scope.cycles {
        lines.push(format!("{}: {} files", name(scope).trim(), cycle.len()));
        lines.extend(
            cycle.iter().map(|member| format!("  {} imports {}", member.file, member.imports.join(" "))),
        );
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::{measure, units};

    const NO_LISTS: Options = Options { cycles: false, names: false, tuples: false, openings: false };

    fn sample() -> Structure {
        measure(&units(&[
            ("crates/a/src/lib.rs", "//! What it is.\nmod b;\nuse b::B;\nstruct A;\n"),
            ("crates/a/src/b.rs", "use super::A;\nstruct B;\nfn f(a: (u8, u8)) {}\n"),
            ("crates/c/src/lib.rs", "// One. Two.\nstruct A;\n"),
        ]))
    }

    #[test]
    fn figures_stand_in_rows_with_their_share() {
        let text = write(&sample(), &NO_LISTS);
        let rows: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        for expected in [
            "total 9",
            "a 2",
            "cycles between the engine's modules 0",
            "type names defined more than once 1 of 2 (50.0%)",
            "functions with tuple parameters 1",
            "comment sentences that open with What, Nobody, … 1 of 3 (33.3%)",
        ] {
            assert!(rows.iter().any(|row| row == expected), "{expected} is missing:\n{text}");
        }
    }

    #[test]
    fn lists_are_written_when_asked_for() {
        let all = Options { cycles: true, names: true, tuples: true, openings: true };
        let text = write(&sample(), &all);
        for expected in [
            "crates/a/src/lib.rs imports crates/a/src/b.rs",
            "2 A crates/a/src/lib.rs crates/c/src/lib.rs",
            "crates/a/src/b.rs:3 f",
            "crates/a/src/lib.rs:1 What",
        ] {
            assert!(text.contains(expected), "{expected} is missing:\n{text}");
        }
    }
}
