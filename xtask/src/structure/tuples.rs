//! Finds functions that take a tuple as a parameter.
//!
//! A tuple inside a generic argument, a slice or a function type does not count. It must not look at
//! closures or return types.

use syn::visit::{self, Visit};
use syn::{FnArg, Pat, Signature, Type};

use super::production::{Occurrence, Unit};

/// Returns the functions with a tuple among their parameters.
pub fn measure(units: &[Unit]) -> Vec<Occurrence> {
    let mut finder = Finder { file: "", found: Vec::new() };
    for unit in units {
        finder.file = &unit.path;
        finder.visit_file(&unit.syntax);
    }
    finder.found
}

struct Finder<'a> {
    file: &'a str,
    found: Vec<Occurrence>,
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_signature(&mut self, signature: &'a Signature) {
        if signature.inputs.iter().any(is_tuple) {
            self.found.push(Occurrence {
                file: self.file.to_owned(),
                line: signature.fn_token.span.start().line,
                word: signature.ident.to_string(),
            });
        }
        visit::visit_signature(self, signature);
    }
}

/// Whether the pattern or the type of a parameter is a tuple, or a reference to one.
fn is_tuple(parameter: &FnArg) -> bool {
    let FnArg::Typed(parameter) = parameter else { return false };
    let (mut pattern, mut kind) = (&*parameter.pat, &*parameter.ty);
    while let Pat::Reference(reference) = pattern {
        pattern = &reference.pat;
    }
    while let Type::Reference(reference) = kind {
        kind = &reference.elem;
    }
    matches!(pattern, Pat::Tuple(tuple) if tuple.elems.len() > 1)
        || matches!(kind, Type::Tuple(tuple) if tuple.elems.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::units;

    #[track_caller]
    fn check_names(text: &str, expected: &[&str]) {
        let found = measure(&units(&[("crates/a/src/lib.rs", text)]));
        let names: Vec<&str> = found.iter().map(|function| function.word.as_str()).collect();
        assert_eq!(names, expected, "{text}");
    }

    #[test]
    fn tuple_patterns_and_types_are_found() {
        check_names("fn a((b, c): (u8, u8)) {}", &["a"]);
        check_names("fn a(&self, b: (u8, Vec<u8>)) {}", &["a"]);
        check_names("fn a(b: &'static mut (u8, u8)) {}", &["a"]);
        check_names("fn a(&(b, c): &Pair) {}", &["a"]);
        check_names("fn a<F: Fn(u8) -> Vec<u8>, const N: usize>(f: F, #[x(y)] b: (u8, [u8; N])) {}", &["a"]);
        check_names("trait T { fn a(b: (u8, u8)); }", &["a"]);
    }

    #[test]
    fn tuples_inside_other_types_do_not_count() {
        check_names("fn a(b: Vec<(u8, u8)>, c: Option<(u8, u8)>, d: &[(u8, u8)]) -> (u8, u8) {}", &[]);
        check_names("fn a(f: impl Fn(u8, u8) -> (u8, u8), g: &dyn Fn((u8, u8)), h: fn(u8, u8)) {}", &[]);
        check_names("fn a<F: Fn((u8, u8))>(f: F, b: &(dyn Fn(u8, u8) + Send), c: ()) {}", &[]);
        check_names("fn a(Pair(b, c): x::Pair) { let d = |(e, f): (u8, u8)| e + f; }", &[]);
    }

    #[test]
    fn a_function_is_listed_with_its_line() {
        let found = measure(&units(&[("crates/a/src/lib.rs", "\nfn a(b: (u8, u8)) {}")]));
        let expected = Occurrence { file: "crates/a/src/lib.rs".to_owned(), line: 2, word: "a".to_owned() };
        assert_eq!(found, [expected]);
    }
}
