//! Finds the remains of an unfinished change: silenced lints, skipped tests, marks of known faults.
//!
//! Clippy refuses `todo!` and `unimplemented!`. Text literals are not looked at: they may speak of anything.

use super::finding::{Finding, Rule};
use crate::scan::{Source, Token};

/// The mark of a known fault, in two parts so that this file does not carry it.
const FAULT_MARK: &str = concat!("FIX", "ME");

const SILENCED: &str = "`allow` attribute";
const SKIPPED: &str = "ignored test";
const MARKED: &str = "mark of a known fault";

fn rule(what: &str) -> Rule {
    match what {
        SILENCED => Rule {
            why: "it stays when its reason has gone",
            mend: "write `#[expect(lint, reason = \"…\")]`",
        },
        SKIPPED => Rule { why: "a test that never runs proves nothing", mend: "make it run or delete it" },
        _ => Rule { why: "nobody looks for it later", mend: "mend it or open an issue" },
    }
}

pub fn check(path: &str, source: &Source<'_>) -> Vec<Finding> {
    let tokens = &source.tokens;
    let in_code =
        tokens.iter().enumerate().filter_map(|(at, token)| Some((token.line, leftover(tokens, at)?)));
    let comments = &source.comments;
    let in_comments = comments.iter().filter(|comment| comment.text.contains(FAULT_MARK));
    let found = in_code.chain(in_comments.map(|comment| (comment.line, MARKED)));
    found.map(|(line, what)| rule(what).violation(path, line, what)).collect()
}

fn leftover(tokens: &[Token<'_>], at: usize) -> Option<&'static str> {
    let next = tokens.get(at + 1).map_or("", |token| token.text);
    match tokens[at].text {
        "allow" if next == "(" && is_in_attribute(&tokens[..at]) => Some(SILENCED),
        "ignore" if is_in_attribute(&tokens[..at]) => Some(SKIPPED),
        FAULT_MARK => Some(MARKED),
        _ => None,
    }
}

/// Whether the next token stands directly in `#[…]`, `#![…]` or their `cfg_attr(…, …)`.
fn is_in_attribute(before: &[Token<'_>]) -> bool {
    let texts: Vec<&str> = before.iter().rev().take(2).map(|token| token.text).collect();
    match texts[..] {
        ["[", "#" | "!"] => true,
        [",", _] => {
            before.iter().rev().take_while(|token| token.text != "]").any(|token| token.text == "cfg_attr")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_found(text: &str, expected: &[&str]) {
        let findings = check("a.rs", &Source::scan(text));
        let found: Vec<&str> = findings.iter().map(|finding| finding.what.as_str()).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn silenced_lints_are_found() {
        check_found("#[allow(dead_code)] fn f() {}", &[SILENCED]);
        check_found("#![allow(dead_code)]", &[SILENCED]);
        check_found("#[cfg_attr(test, allow(dead_code))] fn f() {}", &[SILENCED]);
    }

    #[test]
    fn skipped_tests_are_found() {
        check_found("#[test]\n#[ignore]\nfn f() {}", &[SKIPPED]);
        check_found("#[ignore = \"slow\"] fn f() {}", &[SKIPPED]);
    }

    #[test]
    fn marks_are_found() {
        check_found(&format!("fn f() {{}} // {FAULT_MARK}: later"), &[MARKED]);
    }

    #[test]
    fn calls_comments_and_texts_are_clean() {
        check_found("allow(x); policy.ignore(y); fn todo() {} // #[allow(x)] todo!()\n\"#[ignore]\"", &[]);
        check_found("#[expect(dead_code, reason = \"allow(x)\")] fn f() {}", &[]);
    }
}
