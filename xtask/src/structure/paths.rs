//! Reads the paths of one Rust file: imports, and paths in the code such as `crate::a::B` or `child::f`.
//!
//! A path is returned as written, with the inline module around it. Must not resolve paths: `modules` does.

use crate::scan::Token;

use super::production::closing;

/// A path in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    pub line: usize,
    /// The inline modules of the file around the path.
    pub inside: Vec<String>,
    pub segments: Vec<String>,
    pub role: Role,
}

/// How a path is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// In the code, outside `use`.
    Code,
    /// `use path as name;`, with the name that it binds here.
    Import { name: String, exported: bool },
    /// `use path::*;`.
    Glob { exported: bool },
}

/// Returns the paths of a file that may lead to a module of its package, in order.
pub fn read(tokens: &[Token<'_>]) -> Vec<Path> {
    let mut reader = Reader { tokens, inside: Vec::new(), found: Vec::new() };
    let mut at = 0;
    while at < tokens.len() {
        at = reader.step(at);
    }
    reader.found
}

/// Walks the tokens and collects paths.
struct Reader<'t, 'a> {
    tokens: &'t [Token<'a>],
    /// The inline modules that are open, each with the place of its closing brace.
    inside: Vec<InlineModule>,
    found: Vec<Path>,
}

struct InlineModule {
    name: String,
    close: usize,
}

impl Reader<'_, '_> {
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    /// Reads what starts at `at` and returns where to go on.
    fn step(&mut self, at: usize) -> usize {
        self.inside.retain(|module| module.close > at);
        match self.text(at) {
            "mod" if self.text(at + 2) == "{" => {
                let close = closing(self.tokens, at + 2).unwrap_or(self.tokens.len());
                self.inside.push(InlineModule { name: self.text(at + 1).to_owned(), close });
                at + 3
            }
            "use" if self.text(at + 1) != "<" => self.import(at),
            _ if self.starts_path(at) => self.code_path(at),
            _ => at + 1,
        }
    }

    fn is_separator(&self, at: usize) -> bool {
        self.text(at) == ":" && self.text(at + 1) == ":"
    }

    /// Whether a path of several segments starts here. `pub(in a::b)` is a visibility; `::std` is foreign.
    fn starts_path(&self, at: usize) -> bool {
        let is_inner = at >= 2 && self.is_separator(at - 2);
        let is_visibility = at >= 2 && self.text(at - 1) == "in" && self.text(at - 2) == "(";
        is_name(self.text(at)) && self.is_separator(at + 1) && !is_inner && !is_visibility
    }

    fn code_path(&mut self, at: usize) -> usize {
        let mut segments = vec![self.text(at).to_owned()];
        let mut next = at + 1;
        while self.is_separator(next) && is_name(self.text(next + 2)) {
            segments.push(self.text(next + 2).to_owned());
            next += 3;
        }
        self.push(at, segments, Role::Code);
        next
    }

    fn push(&mut self, at: usize, segments: Vec<String>, role: Role) {
        let inside = self.inside.iter().map(|module| module.name.clone()).collect();
        self.found.push(Path { line: self.tokens[at].line, inside, segments, role });
    }

    /// Reads `use …;` and returns the place after it.
    fn import(&mut self, at: usize) -> usize {
        let before = at.checked_sub(1).map_or("", |before| self.text(before));
        let exported = before == "pub" || before == ")";
        let end = self.tree(at + 1, &[], exported);
        if self.text(end) == ";" { end + 1 } else { end.max(at + 1) }
    }

    /// Reads one tree of imports under `prefix` and returns the place after it.
    fn tree(&mut self, at: usize, prefix: &[String], exported: bool) -> usize {
        let mut path = prefix.to_vec();
        let mut next = at;
        loop {
            match self.text(next) {
                "{" => return self.group(next, &path, exported),
                "*" => {
                    self.push(next, path, Role::Glob { exported });
                    return next + 1;
                }
                word if is_name(word) => path.push(word.to_owned()),
                _ => {}
            }
            let here = next;
            // A path that starts with `::` leads to another package and binds nothing of this one.
            next += usize::from(!self.is_separator(next));
            if !self.is_separator(next) {
                return self.leaf(here, path, exported);
            }
            next += 2;
        }
    }

    fn group(&mut self, open: usize, prefix: &[String], exported: bool) -> usize {
        let close = closing(self.tokens, open).unwrap_or(self.tokens.len());
        let mut at = open + 1;
        while at < close {
            at = self.tree(at, prefix, exported);
            at += usize::from(self.text(at) == ",");
        }
        close + 1
    }

    /// Ends an import at its last segment, `at`; `a::{self}` binds `a`.
    fn leaf(&mut self, at: usize, mut path: Vec<String>, exported: bool) -> usize {
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let renamed = self.text(at + 1) == "as";
        let name = if renamed { Some(self.text(at + 2).to_owned()) } else { path.last().cloned() };
        if let Some(name) = name {
            self.push(at, path, Role::Import { name, exported });
        }
        if renamed { at + 3 } else { at + 1 }
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Source;

    /// Writes every path as `line: inside> path role`.
    fn paths(text: &str) -> Vec<String> {
        let written = |path: &Path| {
            let inside: String = path.inside.iter().map(|name| format!("{name}> ")).collect();
            let role = match &path.role {
                Role::Code => String::new(),
                Role::Import { name, exported: false } => format!(" as {name}"),
                Role::Import { name, exported: true } => format!(" exported as {name}"),
                Role::Glob { exported: false } => "::*".to_owned(),
                Role::Glob { exported: true } => "::* exported".to_owned(),
            };
            format!("{}: {inside}{}{role}", path.line, path.segments.join("::"))
        };
        read(&Source::scan(text).tokens()).iter().map(written).collect()
    }

    #[test]
    fn imports_are_taken_apart() {
        assert_eq!(
            paths("use crate::a::{self, b::{C, D as E},\nf::*,};\npub use g::H;\npub(crate) use super::i;"),
            [
                "1: crate::a as a",
                "1: crate::a::b::C as C",
                "1: crate::a::b::D as E",
                "2: crate::a::f::*",
                "3: g::H exported as H",
                "4: super::i exported as i",
            ],
        );
    }

    #[test]
    fn paths_in_code_are_found() {
        assert_eq!(
            paths("fn a(b: crate::c::D) -> e::F<g::H> { for i in crate::j::k::<L>() { M::n(&self.o) } }"),
            ["1: crate::c::D", "1: e::F", "1: g::H", "1: crate::j::k", "1: M::n"],
        );
    }

    #[test]
    fn visibility_and_captured_lifetimes_are_no_imports() {
        assert_eq!(paths("pub(in crate::a) fn b<'c>() -> impl D + use<'c> { e }"), [""; 0]);
    }

    #[test]
    fn an_inline_module_is_named_until_it_ends() {
        assert_eq!(
            paths("mod a { use super::b; mod c; } use d::e;"),
            ["1: a> super::b as b", "1: d::e as e"]
        );
    }
}
