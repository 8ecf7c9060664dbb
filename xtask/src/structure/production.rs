//! Selects the production code of the workspace: Rust under `src`, without tests and without the test kit.
//!
//! It removes code and keeps line numbers. It must not measure anything.

use std::ops::RangeInclusive;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::outcome::{Failure, Result};
use crate::repository::File;

/// Words that start an item. A comma inside such an item (`fn f<A, B>()`) does not end it.
const ITEMS: [&str; 13] = [
    "const", "enum", "extern", "fn", "impl", "let", "mod", "static", "struct", "trait", "type", "union",
    "use",
];

/// One file of production code. Lines that only tests compile are empty.
pub struct Unit {
    pub path: String,
    /// The name of the folder under `crates`, or `xtask`.
    pub package: String,
    /// The modules that lead to the file from the root of its package.
    pub module: Vec<String>,
    pub text: String,
    pub syntax: syn::File,
    /// How many lines are production code, comments and blank lines included.
    pub lines: usize,
}

/// A word of the code and where it is.
#[derive(Debug, PartialEq, Eq)]
pub struct Occurrence {
    pub file: String,
    pub line: usize,
    pub word: String,
}

/// Returns the production code in `files`, ordered by path.
pub fn select(files: &[File]) -> Result<Vec<Unit>> {
    let mut units = Vec::new();
    let mut test_modules = Vec::new();
    for file in files {
        let Some(place) = place(&file.path) else { continue };
        let pruned = prune(&file.text);
        let inside = |name: &String| [&place.module[..], std::slice::from_ref(name)].concat();
        test_modules.extend(pruned.test_modules.iter().map(|name| (place.package.clone(), inside(name))));
        let Pruned { text, lines, .. } = pruned;
        let Place { package, module } = place;
        units.push(Unit {
            path: file.path.clone(),
            package,
            module,
            syntax: parse(&file.path, &text)?,
            text,
            lines,
        });
    }
    units.retain(|unit| {
        !test_modules.iter().any(|test| unit.package == test.0 && unit.module.starts_with(&test.1))
    });
    units.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(units)
}

/// Parses source without its doc comments: that of a removed item would stand before nothing.
pub fn parse(path: &str, text: &str) -> Result<syn::File> {
    let is_code = |line: &&str| !line.trim_start().starts_with("///");
    let code: Vec<&str> = text.lines().map(|line| Some(line).filter(is_code).unwrap_or_default()).collect();
    syn::parse_file(&code.join("\n")).map_err(|error| Failure::malformed(path, error))
}

/// The package of a file and its module.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    pub package: String,
    pub module: Vec<String>,
}

/// Returns `None` for a file that is not production code.
pub fn place(path: &str) -> Option<Place> {
    let place = source_place(path)?;
    let is_test = place.module.iter().any(|name| name == "tests");
    (!is_test && place.package != "testkit").then_some(place)
}

/// Returns `None` for a file that is not Rust under a package's `src`; a test file has a place too.
pub fn source_place(path: &str) -> Option<Place> {
    let (package, inside) = match path.strip_prefix("crates/") {
        Some(rest) => rest.split_once("/src/")?,
        None => ("xtask", path.strip_prefix("xtask/src/")?),
    };
    let mut module: Vec<String> = inside.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    let is_root = module.len() == 1 && ["lib", "main"].contains(&module[0].as_str());
    if is_root || module.last().is_some_and(|name| name == "mod") {
        module.pop();
    }
    Some(Place { package: package.to_owned(), module })
}

/// Source without the items that only tests compile.
struct Pruned {
    text: String,
    lines: usize,
    /// The modules that are declared for tests only and live in files of their own.
    test_modules: Vec<String>,
}

fn prune(text: &str) -> Pruned {
    let mut tests = TestItems::default();
    tests.find(text.parse().unwrap_or_default());
    let mut lines: Vec<&str> = text.lines().collect();
    let is_removed = |line: usize| tests.lines.iter().any(|item| item.contains(&line));
    let removed: Vec<usize> = (1..=lines.len()).filter(|line| is_removed(*line)).collect();
    removed.iter().for_each(|line| lines[line - 1] = "");
    Pruned { text: lines.join("\n"), lines: lines.len() - removed.len(), test_modules: tests.modules }
}

/// The items that only tests compile: their lines, and the modules they declare.
#[derive(Default)]
struct TestItems {
    lines: Vec<RangeInclusive<usize>>,
    modules: Vec<String>,
}

impl TestItems {
    fn find(&mut self, stream: TokenStream) {
        let trees: Vec<TokenTree> = stream.into_iter().collect();
        for at in 0..trees.len() {
            if let TokenTree::Group(group) = &trees[at] {
                self.find(group.stream());
            }
            let is_for_tests =
                |attribute: &String| attribute == "cfg(test)" || attribute.starts_with("cfg(all(test,");
            if attribute(&trees[at..]).as_ref().is_some_and(is_for_tests) {
                // Other attributes may come before the item.
                let mut item = at + 2;
                while attribute(&trees[item..]).is_some() {
                    item += 2;
                }
                let end = item_end(&trees, item);
                self.lines.push(trees[at].span().start().line..=trees[end].span().end().line);
                self.modules.extend(declared_module(&trees[item..=end]));
            }
        }
    }
}

/// Returns what stands in the attribute that starts here, without blanks.
fn attribute(trees: &[TokenTree]) -> Option<String> {
    let [TokenTree::Punct(hash), TokenTree::Group(group), ..] = trees else { return None };
    (hash.as_char() == '#').then(|| group.stream().to_string().replace(' ', ""))
}

/// Returns the last tree of the item, field or variant that starts at `from`.
fn item_end(trees: &[TokenTree], from: usize) -> usize {
    let is_mark = |at: usize, marks: &[char]| matches!(trees.get(at), Some(TokenTree::Punct(mark)) if marks.contains(&mark.as_char()));
    let mut is_item = false;
    for (at, tree) in trees.iter().enumerate().skip(from) {
        match tree {
            TokenTree::Ident(word) => is_item |= ITEMS.iter().any(|item| word == item),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                return at + usize::from(is_mark(at + 1, &[';', ',']));
            }
            TokenTree::Punct(_) if is_mark(at, if is_item { &[';'] } else { &[';', ','] }) => return at,
            TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    trees.len() - 1
}

/// Returns the name in `mod name;`.
fn declared_module(item: &[TokenTree]) -> Option<String> {
    let [.., TokenTree::Ident(keyword), TokenTree::Ident(name), TokenTree::Punct(_)] = item else {
        return None;
    };
    (keyword == "mod").then(|| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn test_items_are_blank_and_not_counted() {
        let pruned = prune("fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n");
        assert_eq!((pruned.text.as_str(), pruned.lines), ("fn a() {}\n\n\n\n\nfn c() {}", 2));
    }

    #[test]
    fn an_item_for_tests_ends_at_its_own_end() {
        assert_eq!(prune("#[cfg(test)]\nuse a::{b, c};\nfn d() {}").text, "\n\nfn d() {}");
        assert_eq!(
            prune("#[cfg(test)]\n#[path(x)]\nfn a<B, C>(d: E) {\n}\nfn f() {}").text,
            "\n\n\n\nfn f() {}"
        );
        assert_eq!(
            prune("struct A {\n#[cfg(test)]\nb: Vec<u8>,\nc: u8,\n}").text,
            "struct A {\n\n\nc: u8,\n}"
        );
        assert_eq!(prune("f(A {\n#[cfg(test)]\nb\n});").text, "f(A {\n\n\n});");
    }

    #[test]
    fn code_that_is_not_only_for_tests_stays() {
        assert_eq!(prune("#[cfg(any(test, unix))]\nfn a() {}").lines, 2);
        assert_eq!(prune("#[cfg(not(test))]\nfn a() {}").lines, 2);
    }

    #[test]
    fn files_of_tests_and_of_the_test_kit_are_left_out() {
        let units = select(&[
            file("crates/a/src/lib.rs", "#[cfg(test)]\nmod bench;\nmod b;"),
            file("crates/a/src/bench.rs", "fn slow() {}"),
            file("crates/a/src/b/mod.rs", "fn b() {}"),
            file("crates/a/src/b/tests.rs", "fn t() {}"),
            file("crates/a/tests/e2e.rs", "fn t() {}"),
            file("crates/testkit/src/lib.rs", "fn t() {}"),
            file("xtask/src/main.rs", "fn main() {}"),
        ])
        .unwrap();
        let kept: Vec<&str> = units.iter().map(|unit| unit.path.as_str()).collect();
        assert_eq!(kept, ["crates/a/src/b/mod.rs", "crates/a/src/lib.rs", "xtask/src/main.rs"]);
    }

    #[test]
    fn a_path_leads_to_its_module() {
        let module = |path: &str| place(path).unwrap().module.join("::");
        assert_eq!(module("crates/a/src/lib.rs"), "");
        assert_eq!(module("crates/a/src/b.rs"), "b");
        assert_eq!(module("crates/a/src/b/c/mod.rs"), "b::c");
    }
}
