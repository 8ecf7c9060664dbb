//! Finds type names that are defined more than once in the workspace.
//!
//! Only structs, enums, traits, aliases and unions at module level count. It must not look into
//! function bodies, traits or macros.

use std::collections::BTreeMap;

use syn::{Ident, Item};

use super::production::Unit;

/// How many type names there are, and those with several definitions.
#[derive(Debug, PartialEq, Eq)]
pub struct Names {
    pub distinct: usize,
    pub repeated: Vec<Repeated>,
}

/// A name and the files that define it.
#[derive(Debug, PartialEq, Eq)]
pub struct Repeated {
    pub name: String,
    pub files: Vec<String>,
}

pub fn measure(units: &[Unit]) -> Names {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for unit in units {
        for name in at_module_level(&unit.syntax.items).into_iter().filter_map(type_name) {
            files.entry(name.to_string()).or_default().push(unit.path.clone());
        }
    }
    let distinct = files.len();
    let several = files.into_iter().filter(|(_, files)| files.len() > 1);
    let mut repeated: Vec<Repeated> = several.map(|(name, files)| Repeated { name, files }).collect();
    repeated.sort_by_key(|repeated| std::cmp::Reverse(repeated.files.len()));
    Names { distinct, repeated }
}

/// Returns `items` and those of the inline modules among them.
pub fn at_module_level(items: &[Item]) -> Vec<&Item> {
    let mut all = Vec::new();
    for item in items {
        all.push(item);
        if let Item::Mod(module) = item {
            all.extend(module.content.iter().flat_map(|(_, items)| at_module_level(items)));
        }
    }
    all
}

/// Returns the name of the type that an item defines.
#[expect(clippy::wildcard_enum_match_arm, reason = "syn may add kinds of items")]
pub fn type_name(item: &Item) -> Option<&Ident> {
    match item {
        Item::Enum(item) => Some(&item.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Union(item) => Some(&item.ident),
        _ => None,
    }
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
        let file = syn::parse_file(text).unwrap();
        let names = at_module_level(&file.items).into_iter().filter_map(type_name).map(Ident::to_string);
        assert_eq!(names.collect::<Vec<_>>(), ["A", "B", "D", "F", "G", "J"]);
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
