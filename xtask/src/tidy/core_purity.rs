//! `core` decides and does nothing else: no file, network, process, environment, clock, thread or async.
//!
//! Only code counts: a comment or a text may name what the code must not use.

use super::finding::{Finding, Rule};
use crate::scan::Source;
use crate::structure::paths;

const HOME: &str = "crates/core/src/";

/// Modules of `std` that reach outside.
const MODULES: [&str; 6] = ["fs", "net", "process", "env", "thread", "os"];

/// Words that mean a clock or a runtime wherever they come from.
const WORDS: [&str; 4] = ["SystemTime", "Instant", "async", "await"];

const RULE: Rule = Rule {
    why: "core must give the same answer anywhere and at any time",
    mend: "take it as an argument, or return an effect that the caller carries out",
};

pub fn check(path: &str, source: &Source<'_>) -> Vec<Finding> {
    if !path.starts_with(HOME) {
        return Vec::new();
    }
    let words = source.tokens.iter().filter(|token| WORDS.contains(&token.text));
    let words = words.map(|token| RULE.violation(path, token.line, format!("`{}` in core", token.text)));
    // A file that does not parse does not compile.
    let file = syn::parse_file(source.text);
    let paths = file.iter().flat_map(|file| paths::read(file).found);
    let modules = paths.filter(|path| path.segments[0] == "std").filter_map(|used| {
        let module = used.segments.get(1).filter(|module| MODULES.contains(&module.as_str()))?;
        Some(RULE.violation(path, used.line, format!("`std::{module}` in core")))
    });
    words.chain(modules).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_found(text: &str, expected: &[&str]) {
        let findings = check("crates/core/src/a.rs", &Source::scan(text));
        let found: Vec<&str> = findings.iter().map(|finding| finding.what.as_str()).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn paths_and_groups_are_found() {
        check_found("use std::fs;", &["`std::fs` in core"]);
        check_found("fn f() { let a = std::env::var(\"A\"); }", &["`std::env` in core"]);
        check_found(
            "use std::{fmt, net::{IpAddr}, process};",
            &["`std::net` in core", "`std::process` in core"],
        );
    }

    #[test]
    fn clocks_and_async_are_found_under_any_path() {
        check_found("fn f(at: time::Instant) {}", &["`Instant` in core"]);
        check_found("async fn f() {}", &["`async` in core"]);
    }

    #[test]
    fn comments_texts_and_own_names_are_clean() {
        check_found(
            "// std::fs\nconst A: &str = \"std::fs\"; use crate::env; use std::{fmt::{self}, env_like};",
            &[],
        );
        check_found("mod process; fn instant() {}", &[]);
    }

    #[test]
    fn other_crates_may() {
        assert_eq!(check("crates/cli/src/a.rs", &Source::scan("use std::fs;")), []);
    }
}
