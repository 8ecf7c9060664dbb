//! A test that the documents name exists.
//!
//! Looks at names in backticks that read like a sentence; whether the test holds what the document says is for the
//! reviewer.

use super::finding::{Finding, Rule};
use crate::repository::File;

/// How the documents begin that say by which test something is held.
const DOCUMENTS: [&str; 4] =
    ["docs/evidence/parity-", "docs/evidence/promises", "docs/evidence/continuity", "docs/security-model.md"];

/// Shorter names in backticks are words of the text.
const WORDS_AT_LEAST: usize = 4;

const RULE: Rule =
    Rule { why: "a promise without its test is an advertisement", mend: "name the test that holds it now" };

pub fn check(files: &[File]) -> Vec<Finding> {
    let names_tests = |file: &&File| DOCUMENTS.iter().any(|begins| file.path.starts_with(begins));
    let documents = files.iter().filter(names_tests);
    documents.flat_map(|document| missing(document, files)).collect()
}

fn missing(document: &File, files: &[File]) -> Vec<Finding> {
    let lines = document.text.lines().enumerate();
    let named =
        lines.flat_map(|(at, line)| line.split('`').skip(1).step_by(2).map(move |name| (at + 1, name)));
    let sources = || files.iter().filter(|file| file.path.ends_with(".rs"));
    let exists = |name: &str| sources().any(|file| file.text.contains(&format!("fn {name}(")));
    named
        .filter(|(_, name)| reads_like_a_test(name) && !exists(name))
        .map(|(line, name)| RULE.violation(&document.path, line, format!("there is no test `{name}`")))
        .collect()
}

fn reads_like_a_test(name: &str) -> bool {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.chars().all(is_name) && name.split('_').count() >= WORDS_AT_LEAST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_named_test_that_is_gone_is_found() {
        let text = "first\n| `it_does_what_it_says` and `it_did_so_once_before`, `a word` |";
        let source = "#[test]\nfn it_does_what_it_says() {}";
        for (document, expected) in
            [("docs/evidence/parity-x.md", 1), ("docs/evidence/promises.md", 1), ("docs/other.md", 0)]
        {
            let found = check(&[file(document, text), file("crates/a/tests/b.rs", source)]);
            let places: Vec<(usize, &str)> =
                found.iter().map(|finding| (finding.line, finding.what.as_str())).collect();
            assert_eq!(places, [(2, "there is no test `it_did_so_once_before`")][..expected], "{document}");
        }
    }
}
