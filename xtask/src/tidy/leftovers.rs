//! What an unfinished change leaves behind: silenced lints, skipped tests, code that is still to be written.
//!
//! Text literals are not looked at: they may speak of anything.

use super::{Finding, Weight};
use crate::scan::{Source, Token};

/// The mark of a known fault, in two parts so that this file does not carry it.
const FAULT_MARK: &str = concat!("FIX", "ME");

/// A kind of leftover: how it looks as tokens, why it may not stay, and what to do instead.
struct Leftover {
    what: &'static str,
    why: &'static str,
    mend: &'static str,
}

const SILENCED: Leftover = Leftover {
    what: "`allow` attribute",
    why: "it stays when its reason has gone",
    mend: "write `#[expect(lint, reason = \"…\")]`",
};
const SKIPPED: Leftover = Leftover {
    what: "ignored test",
    why: "a test that never runs proves nothing",
    mend: "make it run or delete it",
};
const UNWRITTEN: Leftover = Leftover {
    what: "code still to be written",
    why: "it panics when it is reached",
    mend: "write it, or leave the variant out",
};
const MARKED: Leftover = Leftover {
    what: "mark of a known fault",
    why: "nobody looks for it later",
    mend: "mend it or open an issue",
};

pub fn check(path: &str, source: &Source<'_>) -> Vec<Finding> {
    let tokens = source.tokens();
    let in_code =
        tokens.iter().enumerate().filter_map(|(at, token)| Some((token.line, leftover(&tokens, at)?)));
    let comments = source.comment_lines();
    let in_comments = comments.iter().filter(|comment| comment.text.contains(FAULT_MARK));
    let found = in_code.chain(in_comments.map(|comment| (comment.line, MARKED)));
    found.map(|(line, leftover)| finding(path, line, &leftover)).collect()
}

fn leftover(tokens: &[Token<'_>], at: usize) -> Option<Leftover> {
    let next = tokens.get(at + 1).map_or("", |token| token.text);
    match tokens[at].text {
        "allow" if next == "(" && is_in_attribute(&tokens[..at]) => Some(SILENCED),
        "ignore" if is_in_attribute(&tokens[..at]) => Some(SKIPPED),
        "todo" | "unimplemented" if next == "!" => Some(UNWRITTEN),
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

fn finding(path: &str, line: usize, leftover: &Leftover) -> Finding {
    Finding {
        weight: Weight::Violation,
        path: path.to_owned(),
        line,
        what: leftover.what.to_owned(),
        why: leftover.why,
        mend: leftover.mend,
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
        check_found("#[allow(dead_code)] fn f() {}", &[SILENCED.what]);
        check_found("#![allow(dead_code)]", &[SILENCED.what]);
        check_found("#[cfg_attr(test, allow(dead_code))] fn f() {}", &[SILENCED.what]);
    }

    #[test]
    fn skipped_tests_are_found() {
        check_found("#[test]\n#[ignore]\nfn f() {}", &[SKIPPED.what]);
        check_found("#[ignore = \"slow\"] fn f() {}", &[SKIPPED.what]);
    }

    #[test]
    fn unwritten_code_and_marks_are_found() {
        check_found("todo!()", &[UNWRITTEN.what]);
        check_found("unimplemented!(\"later\")", &[UNWRITTEN.what]);
        check_found(&format!("fn f() {{}} // {FAULT_MARK}: later"), &[MARKED.what]);
    }

    #[test]
    fn calls_comments_and_texts_are_clean() {
        check_found("allow(x); policy.ignore(y); fn todo() {} // #[allow(x)] todo!()\n\"#[ignore]\"", &[]);
        check_found("#[expect(dead_code, reason = \"allow(x)\")] fn f() {}", &[]);
    }
}
