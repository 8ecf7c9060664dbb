//! Resolves the paths of one package to files: which file imports which.
//!
//! A path to a re-exported item leads to the file that defines the item. It must not resolve names as
//! rustc does: types, values and macros share one namespace here, and macro expansions are not seen.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Ident, Item};

use super::names::{at_module_level, type_name};
use super::paths::{self, Path, Paths, Role};
use super::production::Unit;

/// How many re-exports a path may pass. Two modules that re-export each other would never end.
const RE_EXPORTS: usize = 8;

/// The files of one package and their imports.
pub struct Graph {
    pub files: Vec<String>,
    pub modules: Vec<Vec<String>>,
    /// For each file, the places in `files` of those that it imports.
    pub imports: Vec<BTreeSet<usize>>,
}

/// Reads the imports between `units`, the files of one package.
pub fn graph(units: &[&Unit]) -> Graph {
    let package = Package::read(units);
    Graph {
        files: units.iter().map(|unit| unit.path.clone()).collect(),
        modules: units.iter().map(|unit| unit.module.clone()).collect(),
        imports: (0..units.len()).map(|file| package.imports_of(file)).collect(),
    }
}

/// Returns `path` from the root of its package if it starts with `crate`, `self` or `super`. `module` is the
/// module of the file.
pub fn from_root(path: &Path, module: &[String]) -> Option<Vec<String>> {
    let mut base = [module, &path.inside].concat();
    let mut rest = &path.segments[..];
    match rest.first()?.as_str() {
        "crate" => (base, rest) = (Vec::new(), &rest[1..]),
        "self" => rest = &rest[1..],
        "super" => {}
        _ => return None,
    }
    while let [first, after @ ..] = rest
        && first == "super"
    {
        base.pop();
        rest = after;
    }
    Some([&base, rest].concat())
}

/// The imports, items and words of one file.
struct Facts {
    module: Vec<String>,
    paths: Vec<Path>,
    /// The items that it defines.
    defined: BTreeSet<String>,
    /// The words of its code outside imports.
    words: BTreeSet<String>,
}

impl Facts {
    fn read(unit: &Unit) -> Facts {
        let Paths { found: paths, words, .. } = paths::read(&unit.syntax);
        let items = at_module_level(&unit.syntax.items).into_iter();
        let defined = items.filter_map(name_of).map(Ident::to_string).collect();
        Facts { module: unit.module.clone(), paths, defined, words }
    }

    /// Returns the import that binds `name`, with the path it stands for.
    fn import(&self, name: &str) -> Option<&Path> {
        self.paths.iter().find(|path| matches!(&path.role, Role::Import { name: bound, .. } if bound == name))
    }
}

/// Returns the name that an item defines; a module in a file of its own is no item here.
#[expect(clippy::wildcard_enum_match_arm, reason = "syn may add kinds of items")]
fn name_of(item: &Item) -> Option<&Ident> {
    match item {
        Item::Const(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Macro(item) => item.ident.as_ref(),
        Item::Mod(item) => item.content.as_ref().map(|_| &item.ident),
        Item::Static(item) => Some(&item.ident),
        _ => type_name(item),
    }
}

/// The target of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    /// To a module as such, and its file.
    Module(usize),
    /// To an item in a file.
    Item(usize),
}

impl Target {
    fn file(self) -> usize {
        match self {
            Target::Module(file) | Target::Item(file) => file,
        }
    }
}

/// The files of one package by module.
struct Package {
    facts: Vec<Facts>,
    by_module: BTreeMap<Vec<String>, usize>,
}

impl Package {
    fn read(units: &[&Unit]) -> Package {
        let facts: Vec<Facts> = units.iter().map(|unit| Facts::read(unit)).collect();
        let by_module = facts.iter().enumerate().map(|(file, facts)| (facts.module.clone(), file)).collect();
        Package { facts, by_module }
    }

    fn imports_of(&self, file: usize) -> BTreeSet<usize> {
        let paths = self.facts[file].paths.iter();
        let targets = paths.filter_map(|path| self.import_by(file, path));
        targets.filter(|target| *target != file).collect()
    }

    /// Returns the file that `path` in `file` makes it depend on.
    fn import_by(&self, file: usize, path: &Path) -> Option<usize> {
        let full = self.absolute(file, path, RE_EXPORTS)?;
        let facts = &self.facts[file];
        let is_below = full.starts_with(&facts.module);
        match &path.role {
            Role::Glob { exported: true } if is_below => None,
            Role::Import { name, exported: true } if is_below && !facts.words.contains(name) => None,
            Role::Glob { .. } | Role::Code => self.resolve(&full, RE_EXPORTS).map(Target::file),
            Role::Import { .. } => match self.resolve(&full, RE_EXPORTS)? {
                Target::Item(file) => Some(file),
                // The paths that go through an imported module count, not the import of the module.
                Target::Module(_) => self.item_beside_module(&full),
            },
        }
    }

    /// A module and an item of its parent may share a name; an import takes both.
    fn item_beside_module(&self, full: &[String]) -> Option<usize> {
        let (name, parent) = full.split_last()?;
        let parent = *self.by_module.get(parent)?;
        let is_named = self.facts[parent].defined.contains(name) || self.facts[parent].import(name).is_some();
        is_named.then(|| self.item(parent, name, &[], RE_EXPORTS)).map(Target::file)
    }

    /// Returns `path` from the root of the package, or `None` if it leads to another package or a local item.
    fn absolute(&self, file: usize, path: &Path, budget: usize) -> Option<Vec<String>> {
        let facts = &self.facts[file];
        if let Some(full) = from_root(path, &facts.module) {
            return Some(full);
        }
        let (first, rest) = path.segments.split_first()?;
        let child = [&facts.module[..], std::slice::from_ref(first)].concat();
        if self.by_module.contains_key(&child) {
            return Some([&child, rest].concat());
        }
        let import = facts.import(first).filter(|import| *import != path)?;
        let base = self.absolute(file, import, budget.checked_sub(1)?)?;
        let is_module = matches!(self.resolve(&base, budget - 1)?, Target::Module(_));
        is_module.then(|| [&base, rest].concat())
    }

    /// Follows a path from the root to the file of its deepest module, or of the item it names.
    fn resolve(&self, full: &[String], budget: usize) -> Option<Target> {
        let depth = (0..=full.len()).rev().find(|depth| self.by_module.contains_key(&full[..*depth]))?;
        let file = self.by_module[&full[..depth]];
        match full[depth..].split_first() {
            None => Some(Target::Module(file)),
            Some((name, rest)) => Some(self.item(file, name, rest, budget)),
        }
    }

    /// Finds the item `name` of `file`, or what `rest` leads to inside it, through re-exports.
    fn item(&self, file: usize, name: &str, rest: &[String], budget: usize) -> Target {
        let facts = &self.facts[file];
        let Some(budget) = budget.checked_sub(1).filter(|_| !facts.defined.contains(name)) else {
            return Target::Item(file);
        };
        let named = facts.import(name).and_then(|import| {
            let base = self.absolute(file, import, budget)?;
            self.resolve(&[&base, rest].concat(), budget)
        });
        named.or_else(|| self.item_of_globs(file, name, budget)).unwrap_or(Target::Item(file))
    }

    fn item_of_globs(&self, file: usize, name: &str, budget: usize) -> Option<Target> {
        let globs = self.facts[file].paths.iter().filter(|path| matches!(path.role, Role::Glob { .. }));
        globs.filter_map(|glob| self.resolve(&self.absolute(file, glob, budget)?, budget)).find_map(
            |target| {
                let facts = &self.facts[target.file()];
                let has = facts.defined.contains(name) || facts.import(name).is_some();
                has.then(|| self.item(target.file(), name, &[], budget))
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::units;

    /// Writes the imports as `from > to`, by the names of files under `src`.
    #[track_caller]
    fn check_imports(files: &[(&str, &str)], expected: &[&str]) {
        let files: Vec<(String, &str)> =
            files.iter().map(|(path, text)| (format!("crates/a/src/{path}"), *text)).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let units = units(&files);
        let graph = graph(&units.iter().collect::<Vec<_>>());
        let name = |file: usize| graph.files[file].trim_start_matches("crates/a/src/").to_owned();
        let from =
            |file: usize| graph.imports[file].iter().map(move |to| format!("{} > {}", name(file), name(*to)));
        assert_eq!((0..units.len()).flat_map(from).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_path_leads_to_the_file_of_its_deepest_module() {
        check_imports(
            &[
                ("lib.rs", "mod b; mod d;"),
                ("b/mod.rs", "mod c;"),
                ("b/c.rs", "pub struct C;"),
                ("d.rs", "use crate::b::c::{C, D as E}; use towline_core::b::F;"),
            ],
            &["d.rs > b/c.rs"],
        );
    }

    #[test]
    fn super_self_and_children_are_followed() {
        check_imports(
            &[
                ("lib.rs", "mod b; fn f() { b::c::g() }"),
                ("b.rs", "mod c; mod d; use self::d::D;"),
                ("b/c.rs", "use super::d::D; fn g() { super::super::f() }"),
                ("b/d.rs", "pub struct D;"),
            ],
            &["b.rs > b/d.rs", "b/c.rs > b/d.rs", "b/c.rs > lib.rs", "lib.rs > b/c.rs"],
        );
    }

    #[test]
    fn a_parent_that_only_re_exports_imports_nothing() {
        check_imports(&[("lib.rs", "mod b; pub use b::B;"), ("b.rs", "pub struct B;")], &[]);
        check_imports(
            &[("lib.rs", "mod b; pub use b::B; fn f(b: B) {}"), ("b.rs", "pub struct B;")],
            &["lib.rs > b.rs"],
        );
    }

    #[test]
    fn a_re_exported_item_leads_to_the_file_that_defines_it() {
        check_imports(
            &[
                ("lib.rs", "mod b; mod c; mod d; pub use b::B; pub use d::*; fn own() {}"),
                ("b.rs", "pub struct B;"),
                ("c.rs", "use super::{B, own}; use crate::D;"),
                ("d.rs", "pub struct D;"),
            ],
            &["c.rs > b.rs", "c.rs > d.rs", "c.rs > lib.rs"],
        );
    }

    #[test]
    fn an_imported_module_leads_where_its_items_lead() {
        check_imports(
            &[
                ("lib.rs", "mod b; mod d;"),
                ("b/mod.rs", "mod c; pub use c::C;"),
                ("b/c.rs", "pub struct C;"),
                ("d.rs", "use crate::b; fn f(c: b::C) {}"),
            ],
            &["d.rs > b/c.rs"],
        );
    }

    #[test]
    fn a_function_with_the_name_of_its_module_is_found() {
        check_imports(
            &[
                ("lib.rs", "mod b; mod c; pub use b::b;"),
                ("b.rs", "pub fn b() {}"),
                ("c.rs", "use crate::b; fn f() { b() }"),
            ],
            &["c.rs > b.rs"],
        );
    }

    #[test]
    fn modules_that_re_export_each_other_end() {
        check_imports(
            &[
                ("lib.rs", "mod b; mod c;"),
                ("b.rs", "pub use crate::c::X;"),
                ("c.rs", "pub use crate::b::X;"),
            ],
            &["b.rs > c.rs", "c.rs > b.rs"],
        );
    }
}
