//! Finds type names that are defined more than once in the workspace.
//!
//! Only structs, enums, traits, aliases and unions at module level count. It must not look into
//! function bodies, traits or macros.

use std::collections::BTreeMap;

use serde::Serialize;

use super::production::Unit;
use crate::scan::{Source, Token};

/// Words that define a type, followed by its name.
const KEYWORDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];

/// How many type names there are, and those with several definitions.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Names {
    pub distinct: usize,
    pub repeated: Vec<Repeated>,
}

/// A name and the files that define it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Repeated {
    pub name: String,
    pub files: Vec<String>,
}

pub fn measure(units: &[Unit]) -> Names {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for unit in units {
        for name in defined(&Source::scan(&unit.text).tokens()) {
            files.entry(name.to_owned()).or_default().push(unit.path.clone());
        }
    }
    let distinct = files.len();
    let several = files.into_iter().filter(|(_, files)| files.len() > 1);
    let mut repeated: Vec<Repeated> = several.map(|(name, files)| Repeated { name, files }).collect();
    repeated.sort_by_key(|repeated| std::cmp::Reverse(repeated.files.len()));
    Names { distinct, repeated }
}

/// Returns the types that a file defines at module level, inline modules included.
fn defined<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let mut names = Vec::new();
    at_module_level(tokens, |before, rest| {
        if let [keyword, name, ..] = rest
            && KEYWORDS.contains(&keyword.text)
            && is_name(name.text)
            && before.is_none_or(|token| token.text != "#")
        {
            names.push(name.text);
        }
    });
    names
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Calls `visit` at every token outside bodies, with the token before it and those from it on.
pub fn at_module_level<'a>(tokens: &[Token<'a>], mut visit: impl FnMut(Option<&Token<'a>>, &[Token<'a>])) {
    let mut depth = 0_usize;
    let mut modules = Vec::new();
    for at in 0..tokens.len() {
        match tokens[at].text {
            "{" if depth == modules.len() && opens_module(&tokens[..at]) => {
                depth += 1;
                modules.push(depth);
            }
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                if modules.last() == Some(&depth) {
                    modules.pop();
                }
                depth = depth.saturating_sub(1);
            }
            _ if depth == modules.len() => {
                visit(at.checked_sub(1).map(|before| &tokens[before]), &tokens[at..])
            }
            _ => {}
        }
    }
}

/// Whether the brace after `before` opens an inline module.
fn opens_module(before: &[Token<'_>]) -> bool {
    matches!(before, [.., keyword, _] if keyword.text == "mod")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::units;

    #[test]
    fn types_at_module_level_are_found() {
        let text = "pub struct A(u8); enum B { C { d: u8 } } pub(crate) trait D { type E; } type F = u8;
                    union G { h: u8 } mod i { struct J; fn k() { struct L; } } impl D for A { type E = u8; }
                    fn union(union: u8) { struct M; }";
        assert_eq!(defined(&Source::scan(text).tokens()), ["A", "B", "D", "F", "G", "J"]);
    }

    #[test]
    fn a_name_with_two_definitions_is_listed_with_both_files() {
        let units = units(&[
            ("crates/a/src/lib.rs", "struct Page; struct Row;"),
            ("crates/b/src/lib.rs", "enum Page {}\n#[cfg(test)]\nmod tests { struct Row; }"),
        ]);
        let files = ["crates/a/src/lib.rs", "crates/b/src/lib.rs"].map(str::to_owned).to_vec();
        let repeated = vec![Repeated { name: "Page".to_owned(), files }];
        assert_eq!(measure(&units).repeated, repeated);
        assert_eq!(measure(&units).distinct, 2);
    }
}
