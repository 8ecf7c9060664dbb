//! Functions and files that have grown too long.
//!
//! Length is counted in lines from `fn` to the closing brace, comments included. It says nothing about tests
//! or product: a long test is as hard to read.

use super::{Finding, Weight};
use crate::scan::{Source, Token};

const FUNCTION_FAILS_ABOVE: usize = 80;
const FUNCTION_WARNS_ABOVE: usize = 60;
const FILE_WARNS_ABOVE: usize = 600;

pub fn check(path: &str, source: &Source<'_>) -> Vec<Finding> {
    let tokens = source.tokens();
    let mut findings: Vec<Finding> =
        functions(&tokens).iter().filter_map(|function| about_function(path, function)).collect();
    findings.extend(about_file(path, source.text().lines().count()));
    findings
}

/// A function with a body.
struct Function<'a> {
    name: &'a str,
    line: usize,
    lines: usize,
}

/// Finds every function, nested ones too. `fn(…)` as a type has no name, a trait's declaration no body.
fn functions<'a>(tokens: &[Token<'a>]) -> Vec<Function<'a>> {
    let mut found = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        let [keyword, name] = pair else { continue };
        if keyword.text != "fn" || name.text == "(" {
            continue;
        }
        if let Some(last) = body_start(tokens, at + 2).and_then(|open| body_end(tokens, open)) {
            found.push(Function { name: name.text, line: keyword.line, lines: last - keyword.line + 1 });
        }
    }
    found
}

/// Returns where the body opens, or `None` at the `;` of a declaration. `[u8; 4]` in a signature is no end.
fn body_start(tokens: &[Token<'_>], from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token.text {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "{" if depth == 0 => return Some(at),
            ";" if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Returns the line of the brace that closes the one at `open`.
fn body_end(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for token in &tokens[open..] {
        match token.text {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(token.line);
        }
    }
    None
}

fn about_function(path: &str, function: &Function<'_>) -> Option<Finding> {
    if function.lines <= FUNCTION_WARNS_ABOVE {
        return None;
    }
    let fails = function.lines > FUNCTION_FAILS_ABOVE;
    let weight = if fails { Weight::Violation } else { Weight::Warning };
    Some(Finding {
        weight,
        path: path.to_owned(),
        line: function.line,
        what: format!("function `{}` has {} lines", function.name, function.lines),
        why: "nobody holds more than a screen in mind",
        mend: "give each step a function of its own",
    })
}

fn about_file(path: &str, lines: usize) -> Option<Finding> {
    (lines > FILE_WARNS_ABOVE).then(|| Finding {
        weight: Weight::Warning,
        path: path.to_owned(),
        line: lines,
        what: format!("file has {lines} lines"),
        why: "its header can hardly say in one line what it owns",
        mend: "split it by what it owns",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function_of(lines: usize) -> String {
        format!("fn f(a: [u8; 2]) -> Vec<u8> {{\n{}}}\n", "    // }\n".repeat(lines - 2))
    }

    #[track_caller]
    fn check_weight(text: &str, expected: Option<Weight>) {
        let findings = check("a.rs", &Source::scan(text));
        assert_eq!(findings.first().map(|finding| finding.weight), expected);
    }

    #[test]
    fn functions_are_weighed_by_their_lines() {
        check_weight(&function_of(60), None);
        check_weight(&function_of(61), Some(Weight::Warning));
        check_weight(&function_of(80), Some(Weight::Warning));
        check_weight(&function_of(81), Some(Weight::Violation));
    }

    #[test]
    fn function_is_named_with_its_line() {
        let text = format!("struct A;\n{}", function_of(90));
        let findings = check("a.rs", &Source::scan(&text));
        assert_eq!((findings[0].line, findings[0].what.as_str()), (2, "function `f` has 90 lines"));
    }

    #[test]
    fn neither_types_nor_declarations_have_a_body() {
        let text =
            format!("type A = fn(u8) -> u8;\ntrait B {{ fn g(&self, a: [u8; 2]);\n{}}}", "\n".repeat(90));
        check_weight(&text, None);
    }

    #[test]
    fn nested_function_counts_on_its_own() {
        let text = format!("fn outer() {{\n{}}}", function_of(85));
        assert_eq!(check("a.rs", &Source::scan(&text)).len(), 2);
    }

    #[test]
    fn long_file_is_a_warning() {
        check_weight(&"//\n".repeat(600), None);
        check_weight(&"//\n".repeat(601), Some(Weight::Warning));
    }
}
