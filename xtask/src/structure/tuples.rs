//! Finds functions that take a tuple as a parameter.
//!
//! A tuple inside a generic argument, a slice or a function type does not count. It must not look at
//! closures or return types.

use serde::Serialize;

use super::production::{Unit, closing};
use crate::scan::{Source, Token};

/// A function with a tuple among its parameters.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct TupleFunction {
    pub file: String,
    pub line: usize,
    pub name: String,
}

pub fn measure(units: &[Unit]) -> Vec<TupleFunction> {
    units.iter().flat_map(in_unit).collect()
}

fn in_unit(unit: &Unit) -> Vec<TupleFunction> {
    let source = Source::scan(&unit.text);
    let tokens = source.tokens();
    let mut found = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        let [keyword, name] = pair else { continue };
        if keyword.text == "fn" && name.text != "(" && takes_tuple(&tokens, at + 2) {
            found.push(TupleFunction {
                file: unit.path.clone(),
                line: keyword.line,
                name: name.text.to_owned(),
            });
        }
    }
    found
}

/// Whether the function whose generics or parameters start at `from` takes a tuple.
fn takes_tuple(tokens: &[Token<'_>], from: usize) -> bool {
    let open = after_generics(tokens, from);
    let Some(close) = closing(tokens, open) else { return false };
    let is_list = tokens[open].text == "(";
    is_list && split(&tokens[open + 1..close], ",").iter().any(|parameter| is_tuple_parameter(parameter))
}

/// Returns the token after `<…>`, or `from` if there is none.
fn after_generics(tokens: &[Token<'_>], from: usize) -> usize {
    let mut depth = 0_usize;
    for at in from..tokens.len() {
        depth = angle_depth(tokens, at, depth);
        if depth == 0 {
            return if tokens[at].text == ">" { at + 1 } else { at };
        }
    }
    from
}

/// Returns the depth in angle brackets after the token at `at`. The arrow `->` closes none.
fn angle_depth(tokens: &[Token<'_>], at: usize, depth: usize) -> usize {
    let is_arrow = at > 0 && ["-", "="].contains(&tokens[at - 1].text);
    match tokens[at].text {
        "<" => depth + 1,
        ">" if !is_arrow => depth.saturating_sub(1),
        _ => depth,
    }
}

/// Splits at every `separator` outside brackets of any kind.
fn split<'t, 'a>(tokens: &'t [Token<'a>], separator: &str) -> Vec<&'t [Token<'a>]> {
    let mut parts = Vec::new();
    let (mut start, mut angles, mut brackets) = (0, 0, 0_usize);
    for at in 0..tokens.len() {
        angles = angle_depth(tokens, at, angles);
        match tokens[at].text {
            "(" | "[" | "{" => brackets += 1,
            ")" | "]" | "}" => brackets = brackets.saturating_sub(1),
            text if text == separator && angles == 0 && brackets == 0 => {
                parts.push(&tokens[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tokens[start..]);
    parts
}

/// Whether the pattern or the type of `parameter` is a tuple. `a::B { c }: a::B` splits at every colon; the
/// first part starts with the pattern, the one after a single colon with the type.
fn is_tuple_parameter(parameter: &[Token<'_>]) -> bool {
    split(parameter, ":").into_iter().any(is_tuple)
}

fn is_tuple(tokens: &[Token<'_>]) -> bool {
    let mut rest = without_attributes(tokens);
    while let Some((first, after)) = rest.split_first() {
        match first.text {
            "&" | "mut" => rest = after,
            "'" => rest = after.get(1..).unwrap_or_default(),
            _ => break,
        }
    }
    let is_open = rest.first().is_some_and(|token| token.text == "(");
    let close = if is_open { closing(rest, 0) } else { None };
    close.is_some_and(|close| split(&rest[1..close], ",").len() > 1)
}

fn without_attributes<'t, 'a>(mut tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    while let [hash, ..] = tokens
        && hash.text == "#"
        && let Some(close) = closing(tokens, 1)
    {
        tokens = &tokens[close + 1..];
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::units;

    #[track_caller]
    fn check_names(text: &str, expected: &[&str]) {
        let found = measure(&units(&[("crates/a/src/lib.rs", text)]));
        let names: Vec<&str> = found.iter().map(|function| function.name.as_str()).collect();
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
        let expected =
            TupleFunction { file: "crates/a/src/lib.rs".to_owned(), line: 2, name: "a".to_owned() };
        assert_eq!(found, [expected]);
    }
}
