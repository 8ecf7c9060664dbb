//! The engine's modules depend one way, and no import cycle inside a module grows large.
//!
//! The order is the list below, tests included. It must not resolve what a path leads to beyond its first module; files
//! and cycles come from `structure`.

use super::finding::{Finding, Rule};
use crate::outcome::Result;
use crate::repository::File;
use crate::structure::cycles::{self, Scope};
use crate::structure::modules::from_root;
use crate::structure::paths;
use crate::structure::production::{parse, select, source_place};

const LAYERED: &str = "engine";

/// The engine's modules, bottom up: each may use those before it.
const ORDER: &str =
    "runtime index memory capture status handoff notify ingest background erase sync query curate";

const CYCLE_WARNS_ABOVE: usize = 5;

const UPWARD: Rule = Rule {
    why: "modules that need each other can only be read and changed together",
    mend: "move the shared part down, or pass it in as an argument",
};
const UNLISTED: Rule = Rule {
    why: "without a place in the order its dependencies are not checked",
    mend: "put it into a module that has one, or add it to the list in xtask/src/tidy/layers.rs",
};
const CYCLE: Rule = Rule {
    why: "none of them can be read without the others",
    mend: "run `cargo xtask structure --cycles` and move what they share into a file below them",
};

pub fn check(files: &[File]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in files {
        findings.extend(about_order(file)?);
    }
    let scopes = cycles::measure(&select(files)?).scopes;
    findings.extend(scopes.iter().flat_map(about_cycles));
    Ok(findings)
}

fn about_order(file: &File) -> Result<Vec<Finding>> {
    let Some(place) = source_place(&file.path).filter(|place| place.package == LAYERED) else {
        return Ok(Vec::new());
    };
    // The root only declares the modules.
    let Some(module) = place.module.first() else { return Ok(Vec::new()) };
    let Some(height) = height(module) else { return Ok(vec![unlisted(&file.path, 1, module)]) };
    let mut findings = Vec::new();
    for path in paths::read(&parse(&file.path, &file.text)?).found {
        let full = from_root(&path, &place.module).unwrap_or_default();
        let Some(target) = full.first() else { continue };
        match self::height(target) {
            None => findings.push(unlisted(&file.path, path.line, target)),
            Some(other) if other > height => {
                let what = format!("`{module}` uses `crate::{target}`, a later module of the engine");
                findings.push(UPWARD.violation(&file.path, path.line, what));
            }
            Some(_) => {}
        }
    }
    Ok(findings)
}

fn height(module: &str) -> Option<usize> {
    ORDER.split(' ').position(|name| name == module)
}

fn unlisted(path: &str, line: usize, target: &str) -> Finding {
    UNLISTED.violation(path, line, format!("`crate::{target}` is not in the order of the engine's modules"))
}

/// Warns of each large cycle inside a top-level module, at its first file.
fn about_cycles(scope: &Scope) -> Vec<Finding> {
    let Some(folder) = &scope.folder else { return Vec::new() };
    let large = scope.cycles.iter().filter(|cycle| cycle.len() > CYCLE_WARNS_ABOVE);
    let findings = large.filter_map(|cycle| {
        let (files, package) = (cycle.len(), &scope.package);
        let what = format!("{files} files of `{package}/{folder}` import each other in a cycle");
        Some(CYCLE.warning(&cycle.first()?.file, 1, what))
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::Weight;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    /// Compares the line and the named module of every finding.
    #[track_caller]
    fn check_order(path: &str, text: &str, expected: &[&str]) {
        let found: Vec<String> = about_order(&file(path, text))
            .unwrap()
            .iter()
            .map(|finding| format!("{}: {}", finding.line, finding.what))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn earlier_modules_may_be_used() {
        check_order(
            "crates/engine/src/query/a.rs",
            "use crate::{erase::B, sync::C, query::d}; use super::e;",
            &[],
        );
        check_order("crates/engine/src/runtime/a.rs", "use towline_core::sync; use crate::runtime::b;", &[]);
        check_order("crates/engine/src/lib.rs", "pub use crate::sync::Sync;", &[]);
        check_order("crates/cli/src/query/a.rs", "use crate::sync::B;", &[]);
    }

    #[test]
    fn a_later_module_is_a_violation() {
        let what = "`capture` uses `crate::status`, a later module of the engine";
        check_order("crates/engine/src/capture/a.rs", "\nuse crate::status::B;", &[&format!("2: {what}")]);
        check_order(
            "crates/engine/src/capture/a.rs",
            "fn f(b: crate::status::B) {}",
            &[&format!("1: {what}")],
        );
        check_order(
            "crates/engine/src/capture/mod.rs",
            "use crate::{\nindex::C,\nstatus::{D, E}};",
            &[&format!("3: {what}"), &format!("3: {what}")],
        );
        check_order(
            "crates/engine/src/capture/a.rs",
            "use super::super::status::B;",
            &[&format!("1: {what}")],
        );
    }

    #[test]
    fn the_last_modules_have_an_order_too() {
        let what = "1: `erase` uses `crate::query`, a later module of the engine";
        check_order("crates/engine/src/erase/a.rs", "use crate::query::B;", &[what]);
        check_order("crates/engine/src/erase/a.rs", "use crate::background::B;", &[]);
    }

    #[test]
    fn tests_are_checked_too() {
        let what = "1: `index` uses `crate::memory`, a later module of the engine";
        check_order("crates/engine/src/index/tests/a.rs", "use crate::memory::B;", &[what]);
        check_order(
            "crates/engine/src/index/a.rs",
            "#[cfg(test)] mod tests { use crate::memory::B; }",
            &[what],
        );
        check_order("crates/engine/src/index/mod.rs", "mod tests { use super::super::memory::B; }", &[what]);
    }

    #[test]
    fn a_module_outside_the_list_is_a_violation() {
        let what = "1: `crate::extra` is not in the order of the engine's modules";
        check_order("crates/engine/src/query/a.rs", "use crate::extra::B;", &[what]);
        check_order("crates/engine/src/extra.rs", "use crate::sync::B;", &[what]);
    }

    #[test]
    fn a_cycle_of_more_than_five_files_is_a_warning() {
        let ring = |files: usize| -> Vec<File> {
            let text = |at: usize| format!("use super::f{}::A; pub struct A;", (at + 1) % files);
            (0..files).map(|at| file(&format!("crates/a/src/b/f{at}.rs"), &text(at))).collect()
        };
        assert_eq!(check(&ring(5)).unwrap(), []);
        let findings = check(&ring(6)).unwrap();
        assert_eq!(findings[0].weight, Weight::Warning);
        assert_eq!(findings[0].path, "crates/a/src/b/f0.rs");
        assert_eq!(findings[0].what, "6 files of `a/b` import each other in a cycle");
    }
}
