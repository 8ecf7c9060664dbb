//! Reads the paths of one Rust file: imports, and paths in the code such as `crate::a::B` or `child::f`.
//!
//! A path is returned as written, with the inline module around it. Must not resolve paths: `modules` does.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{ItemMod, ItemUse, UseTree, VisRestricted, Visibility};

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

/// The paths of a file that may lead to a module of its package, in order, and the words outside its imports.
#[derive(Default)]
pub struct Paths {
    pub found: Vec<Path>,
    pub words: BTreeSet<String>,
    inside: Vec<String>,
}

pub fn read(file: &syn::File) -> Paths {
    let mut paths = Paths::default();
    paths.visit_file(file);
    paths
}

impl Paths {
    fn push(&mut self, segments: &[Ident], role: Role) {
        let Some(last) = segments.last() else { return };
        let names = segments.iter().map(Ident::to_string).collect();
        let line = last.span().start().line;
        self.found.push(Path { line, inside: self.inside.clone(), segments: names, role });
    }

    fn push_code(&mut self, segments: &[Ident]) {
        if segments.len() > 1 {
            self.push(segments, Role::Code);
        }
    }

    /// Reads one tree of imports under `prefix`; `a::{self}` binds `a`.
    fn import(&mut self, tree: &UseTree, prefix: &[Ident], exported: bool) {
        let (segment, name) = match tree {
            UseTree::Path(path) => {
                return self.import(
                    &path.tree,
                    &[prefix, std::slice::from_ref(&path.ident)].concat(),
                    exported,
                );
            }
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.import(tree, prefix, exported));
            }
            UseTree::Glob(_) => return self.push(prefix, Role::Glob { exported }),
            UseTree::Name(name) => (&name.ident, None),
            UseTree::Rename(name) => (&name.ident, Some(&name.rename)),
        };
        let is_parent = segment == "self" && !prefix.is_empty();
        let path = if is_parent { prefix.to_vec() } else { [prefix, std::slice::from_ref(segment)].concat() };
        if let Some(name) = name.or(path.last()).map(Ident::to_string) {
            self.push(&path, Role::Import { name, exported });
        }
    }
}

impl Visit<'_> for Paths {
    fn visit_item_mod(&mut self, module: &ItemMod) {
        let Some((_, items)) = &module.content else { return };
        self.inside.push(module.ident.to_string());
        items.iter().for_each(|item| self.visit_item(item));
        self.inside.pop();
    }

    /// A path that starts with `::` leads to another package.
    fn visit_item_use(&mut self, import: &ItemUse) {
        if import.leading_colon.is_none() {
            self.import(&import.tree, &[], !matches!(import.vis, Visibility::Inherited));
        }
    }

    /// `pub(in a::b)` uses no item.
    fn visit_vis_restricted(&mut self, _: &VisRestricted) {}

    fn visit_path(&mut self, path: &syn::Path) {
        if path.leading_colon.is_none() {
            self.push_code(&path.segments.iter().map(|segment| segment.ident.clone()).collect::<Vec<_>>());
        }
        visit::visit_path(self, path);
    }

    fn visit_ident(&mut self, word: &Ident) {
        self.words.insert(word.to_string());
    }

    /// Reads the arguments of a macro or an attribute, which are not parsed: words joined by two colons.
    fn visit_token_stream(&mut self, tokens: &TokenStream) {
        let (mut path, mut colons) = (Vec::new(), 0);
        for tree in tokens.clone() {
            match tree {
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                TokenTree::Ident(word) => {
                    self.visit_ident(&word);
                    if colons != 2 {
                        self.push_code(&std::mem::take(&mut path));
                    }
                    path.push(word);
                    colons = 0;
                }
                TokenTree::Group(group) => {
                    self.push_code(&std::mem::take(&mut path));
                    self.visit_token_stream(&group.stream());
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => self.push_code(&std::mem::take(&mut path)),
            }
        }
        self.push_code(&path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        read(&syn::parse_file(text).unwrap()).found.iter().map(written).collect()
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
