//! `core` decides and does nothing else: no file, network, process, environment, clock, thread or async.
//!
//! Only code counts: a comment or a text may name what the code must not use.

use super::finding::{Finding, Rule};
use crate::scan::{Source, Token};

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
    let tokens = source.tokens();
    let words = tokens.iter().filter(|token| WORDS.contains(&token.text));
    let words = words.map(|token| RULE.violation(path, token.line, format!("`{}` in core", token.text)));
    let modules = modules(&tokens).into_iter();
    let modules =
        modules.map(|token| RULE.violation(path, token.line, format!("`std::{}` in core", token.text)));
    words.chain(modules).collect()
}

/// Finds `std::fs` as a path, and `fs` as a direct member of `use std::{…}`.
fn modules<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut found = Vec::new();
    for (at, window) in tokens.windows(4).enumerate() {
        let [root, ":", ":", next] = window.iter().map(|token| token.text).collect::<Vec<_>>()[..] else {
            continue;
        };
        if root != "std" {
            continue;
        }
        let members = if next == "{" { group(&tokens[at + 4..]) } else { vec![window[3]] };
        found.extend(members.into_iter().filter(|member| MODULES.contains(&member.text)));
    }
    found
}

/// Returns the words that stand directly inside a group whose brace has just opened.
fn group<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut members = Vec::new();
    let mut depth = 1_usize;
    let mut starts_member = true;
    for token in tokens {
        match token.text {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ if depth == 1 && starts_member => members.push(*token),
            _ => {}
        }
        starts_member = token.text == "," && depth == 1;
        if depth == 0 {
            break;
        }
    }
    members
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
        check_found("let a = std::env::var(\"A\");", &["`std::env` in core"]);
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
            "// std::fs\nlet a = \"std::fs\"; use crate::env; use std::{fmt::{self}, env_like};",
            &[],
        );
        check_found("mod process; fn instant() {}", &[]);
    }

    #[test]
    fn other_crates_may() {
        assert_eq!(check("crates/cli/src/a.rs", &Source::scan("use std::fs;")), []);
    }
}
