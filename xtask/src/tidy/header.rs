//! Every Rust file opens with `//!` lines: what it owns, then what it refuses.
//!
//! The rule measures length, not truth. A test file or a list of modules may do with one line.

use super::finding::{Finding, Rule, is_under};
use crate::scan::Source;

/// Fewer words are a title, not a statement.
const WORDS_OF_A_STATEMENT: usize = 3;

/// Words that start an item with content of its own.
const ITEMS: [&str; 10] =
    ["fn", "struct", "enum", "union", "trait", "impl", "const", "static", "type", "macro_rules"];

const RULE: Rule = Rule {
    why: "a reader decides by the header whether to read on",
    mend: "say in one line what the file owns and in the next what it refuses",
};

pub fn check(path: &str, source: &Source<'_>) -> Vec<Finding> {
    let is_test = is_under(path, "tests") || path.ends_with("/tests.rs");
    let is_module_list = !source.tokens.iter().any(|token| ITEMS.contains(&token.text));
    let needed = if is_test || is_module_list { 1 } else { 2 };
    broken(source.text, needed).map(|what| RULE.violation(path, 1, what)).into_iter().collect()
}

fn broken(text: &str, needed: usize) -> Option<String> {
    let header: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
    if header.is_empty() {
        return Some("no `//!` header".to_owned());
    }
    let made = statements(&header);
    (made < needed).then(|| format!("the `//!` header makes {made} of {needed} statements"))
}

/// Counts the header's lines or its sentences, whichever are more.
fn statements(header: &[&str]) -> usize {
    let lines = header.iter().filter(|line| is_statement(line)).count();
    let whole = header.join(" ");
    let sentences = whole.split(". ").filter(|sentence| is_statement(sentence)).count();
    lines.max(sentences)
}

fn is_statement(text: &str) -> bool {
    text.split_whitespace().count() >= WORDS_OF_A_STATEMENT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_count(path: &str, text: &str, expected: usize) {
        assert_eq!(check(path, &Source::scan(text)).len(), expected, "{text}");
    }

    #[test]
    fn two_lines_or_two_sentences_are_enough() {
        check_count("a.rs", "//! Owns the clock.\n//!\n//! Refuses to read it.\nfn f() {}", 0);
        check_count("a.rs", "//! Owns the clock. Refuses to read it.\nfn f() {}", 0);
    }

    #[test]
    fn missing_header_is_found() {
        check_count("a.rs", "fn f() {}", 1);
        check_count("a.rs", "\n//! Owns the clock. Refuses to read it.\nfn f() {}", 1);
    }

    #[test]
    fn one_sentence_or_a_title_is_too_short() {
        check_count("a.rs", "//! Owns the clock.\nfn f() {}", 1);
        check_count("a.rs", "//! Placeholder.\n//! Clock.\nfn f() {}", 1);
    }

    #[test]
    fn one_sentence_is_enough_for_tests_and_module_lists() {
        check_count("crates/cli/tests/a.rs", "//! How hooks behave.\nfn f() {}", 0);
        check_count("crates/core/src/step/tests.rs", "//! How a step is made.\nfn f() {}", 0);
        check_count("a.rs", "//! One folder per agent.\nmod a;\npub use a::A;", 0);
        check_count("a.rs", "//! Agents.\nmod a;", 1);
    }
}
