//! Finds import cycles: between files of a package, and between the engine's top-level modules.
//!
//! A cycle is a strongly connected component of two or more. It must not judge a cycle: `tidy::layers` does.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::{self, Graph};
use super::production::Unit;

/// The package whose top-level modules depend one way.
const LAYERED: &str = "engine";

/// The import cycles of the workspace.
#[derive(Debug, PartialEq, Eq)]
pub struct Cycles {
    /// The cycles between the engine's top-level modules, each as their names.
    pub engine_modules: Vec<Vec<String>>,
    pub scopes: Vec<Scope>,
}

/// A package, or one top-level folder of it, and the cycles inside.
#[derive(Debug, PartialEq, Eq)]
pub struct Scope {
    pub package: String,
    /// `None` for the whole package.
    pub folder: Option<String>,
    pub files: usize,
    /// The number of files in the largest cycle, zero if there is none.
    pub largest: usize,
    /// The largest comes first.
    pub cycles: Vec<Vec<Member>>,
}

/// A file in a cycle and the other members that it imports.
#[derive(Debug, PartialEq, Eq)]
pub struct Member {
    pub file: String,
    pub imports: Vec<String>,
}

pub fn measure(units: &[Unit]) -> Cycles {
    let mut packages: BTreeMap<&str, Vec<&Unit>> = BTreeMap::new();
    for unit in units {
        packages.entry(&unit.package).or_default().push(unit);
    }
    let graphs: BTreeMap<&str, Graph> =
        packages.iter().map(|(package, units)| (*package, modules::graph(units))).collect();
    let scopes = graphs.iter().flat_map(|(package, graph)| scopes(package, graph)).collect();
    Cycles { engine_modules: graphs.get(LAYERED).map(between_modules).unwrap_or_default(), scopes }
}

/// Returns the package as a whole and each of its top-level folders.
fn scopes(package: &str, graph: &Graph) -> Vec<Scope> {
    let mut folders: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (file, module) in graph.modules.iter().enumerate() {
        if let Some(first) = module.first() {
            folders.entry(first).or_default().insert(file);
        }
    }
    folders.retain(|_, files| files.len() > 1);
    let all = (0..graph.files.len()).collect();
    let mut scopes = vec![scope(package, None, graph, &all)];
    scopes.extend(folders.into_iter().map(|(folder, files)| scope(package, Some(folder), graph, &files)));
    scopes
}

fn scope(package: &str, folder: Option<&str>, graph: &Graph, files: &BTreeSet<usize>) -> Scope {
    let inside: BTreeMap<usize, BTreeSet<usize>> = files
        .iter()
        .map(|file| (*file, graph.imports[*file].intersection(files).copied().collect()))
        .collect();
    let path = |file: &usize| graph.files[*file].clone();
    let member = |cycle: &BTreeSet<usize>, file: &usize| {
        let imports = graph.imports[*file].intersection(cycle).map(path).collect();
        Member { file: path(file), imports }
    };
    let members = |cycle: &BTreeSet<usize>| cycle.iter().map(|file| member(cycle, file)).collect();
    let cycles: Vec<Vec<Member>> = components(&inside).iter().map(members).collect();
    Scope {
        package: package.to_owned(),
        folder: folder.map(str::to_owned),
        files: files.len(),
        largest: cycles.first().map_or(0, Vec::len),
        cycles,
    }
}

/// Returns the cycles between the top-level modules. The root of the package is none of them.
fn between_modules(graph: &Graph) -> Vec<Vec<String>> {
    let mut imports: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (file, module) in graph.modules.iter().enumerate() {
        let Some(from) = module.first() else { continue };
        let others = graph.imports[file].iter().filter_map(|other| graph.modules[*other].first());
        imports.entry(from).or_default().extend(others.map(String::as_str));
    }
    components(&imports).into_iter().map(|cycle| cycle.into_iter().map(str::to_owned).collect()).collect()
}

/// Returns the strongly connected components of two or more, the largest first.
fn components<T: Copy + Ord>(edges: &BTreeMap<T, BTreeSet<T>>) -> Vec<BTreeSet<T>> {
    let reached: BTreeMap<T, BTreeSet<T>> =
        edges.keys().map(|node| (*node, reachable(edges, *node))).collect();
    let mut found: Vec<BTreeSet<T>> = Vec::new();
    for (node, from_node) in &reached {
        if found.iter().any(|component| component.contains(node)) {
            continue;
        }
        let leads_back = |other: &&T| reached.get(other).is_some_and(|from_other| from_other.contains(node));
        let component: BTreeSet<T> = from_node.iter().filter(leads_back).copied().collect();
        if component.len() > 1 {
            found.push(component);
        }
    }
    found.sort_by_key(|component| std::cmp::Reverse(component.len()));
    found
}

/// Returns the nodes that a path of at least one edge leads to.
fn reachable<T: Copy + Ord>(edges: &BTreeMap<T, BTreeSet<T>>, start: T) -> BTreeSet<T> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        let next = edges.get(&node).into_iter().flatten();
        open.extend(next.filter(|next| reached.insert(**next)));
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::units;

    #[test]
    fn components_are_what_leads_back() {
        let edges =
            [(1, vec![2]), (2, vec![3]), (3, vec![1, 4]), (4, vec![5]), (5, vec![4]), (6, vec![6, 1])];
        let edges = edges.into_iter().map(|(from, to)| (from, to.into_iter().collect())).collect();
        assert_eq!(components(&edges), [BTreeSet::from([1, 2, 3]), BTreeSet::from([4, 5])]);
    }

    #[test]
    fn a_cycle_is_counted_in_its_package_and_its_folder() {
        let units = units(&[
            ("crates/a/src/lib.rs", "mod b; mod e;"),
            ("crates/a/src/b/mod.rs", "mod c; mod d;"),
            ("crates/a/src/b/c.rs", "use super::d::D; use crate::e::E; pub struct C;"),
            ("crates/a/src/b/d.rs", "use super::c::C; pub struct D;"),
            ("crates/a/src/e.rs", "use crate::b::c::C; pub struct E;"),
        ]);
        let scopes = measure(&units).scopes;
        let sizes: Vec<(Option<&str>, usize, usize)> =
            scopes.iter().map(|scope| (scope.folder.as_deref(), scope.files, scope.largest)).collect();
        assert_eq!(sizes, [(None, 5, 3), (Some("b"), 3, 2)]);
        let first = Member {
            file: "crates/a/src/b/c.rs".to_owned(),
            imports: vec!["crates/a/src/b/d.rs".to_owned(), "crates/a/src/e.rs".to_owned()],
        };
        assert_eq!(scopes[0].cycles[0][0], first);
    }

    #[test]
    fn modules_of_the_engine_that_need_each_other_are_a_cycle() {
        let units = units(&[
            ("crates/engine/src/lib.rs", "mod b; mod c; mod d;"),
            ("crates/engine/src/b/mod.rs", "mod x; mod y;"),
            ("crates/engine/src/b/x.rs", "use crate::c::C;"),
            ("crates/engine/src/b/y.rs", "pub struct Y;"),
            ("crates/engine/src/c.rs", "use crate::b::y::Y; pub struct C;"),
            ("crates/engine/src/d.rs", "use crate::c::C;"),
        ]);
        let cycles = measure(&units);
        assert_eq!(cycles.engine_modules, [["b", "c"]]);
        assert_eq!(cycles.scopes[0].largest, 0);
    }
}
