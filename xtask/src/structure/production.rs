//! Selects the production code of the workspace: Rust under `src`, without tests and without the test kit.
//!
//! It removes code and keeps line numbers. It must not measure anything.

use crate::outcome::Failure;
use crate::repository::File;
use crate::scan::{Source, Token};

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

/// Returns the production code in `files`, ordered by path.
pub fn select(files: &[File]) -> Result<Vec<Unit>, Failure> {
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
pub fn parse(path: &str, text: &str) -> Result<syn::File, Failure> {
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
    let tokens = Source::scan(text).tokens;
    let mut lines: Vec<&str> = text.lines().collect();
    let mut removed = vec![false; lines.len()];
    let mut test_modules = Vec::new();
    for at in (0..tokens.len()).filter(|at| is_test_attribute(&tokens[*at..])) {
        let item = item_start(&tokens, at);
        let end = item_end(&tokens, item);
        removed[tokens[at].line - 1..tokens[end].line].fill(true);
        test_modules.extend(declared_module(&tokens[item..=end]));
    }
    for (line, _) in lines.iter_mut().zip(&removed).filter(|(_, removed)| **removed) {
        *line = "";
    }
    let kept = removed.iter().filter(|removed| !**removed).count();
    Pruned { text: lines.join("\n"), lines: kept, test_modules }
}

/// Whether `#[cfg(test)]` or `#[cfg(all(test, …))]` starts here.
fn is_test_attribute(tokens: &[Token<'_>]) -> bool {
    if tokens.first().is_none_or(|token| token.text != "#") {
        return false;
    }
    let texts: Vec<&str> = tokens.iter().take(7).map(|token| token.text).collect();
    texts.starts_with(&["#", "[", "cfg", "(", "test", ")", "]"])
        || texts.starts_with(&["#", "[", "cfg", "(", "all", "(", "test"])
}

/// Returns where the item starts to which the attribute at `at` belongs; other attributes may come first.
fn item_start(tokens: &[Token<'_>], mut at: usize) -> usize {
    while tokens[at].text == "#" {
        let Some(close) = closing(tokens, at + 1) else { break };
        at = (close + 1).min(tokens.len() - 1);
    }
    at
}

/// Returns the last token of the item, field or variant that starts at `from`.
fn item_end(tokens: &[Token<'_>], from: usize) -> usize {
    let mut at = from;
    let mut is_item = false;
    while at < tokens.len() {
        match tokens[at].text {
            ";" => return at,
            "," if !is_item => return at,
            "}" | ")" | "]" => return at.saturating_sub(1).max(from),
            "{" => {
                let close = closing(tokens, at).unwrap_or(tokens.len() - 1);
                let after = tokens.get(close + 1).is_some_and(|token| [";", ","].contains(&token.text));
                return if after { close + 1 } else { close };
            }
            "(" | "[" => at = closing(tokens, at).unwrap_or(tokens.len() - 1),
            word => is_item |= ITEMS.contains(&word),
        }
        at += 1;
    }
    tokens.len() - 1
}

/// Returns where the bracket at `open` is closed.
fn closing(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Returns the name in `mod name;`.
fn declared_module(item: &[Token<'_>]) -> Option<String> {
    let at = item.iter().position(|token| token.text == "mod")?;
    let [_, name, end] = item.get(at..at + 3)? else { return None };
    (end.text == ";").then(|| name.text.to_owned())
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
