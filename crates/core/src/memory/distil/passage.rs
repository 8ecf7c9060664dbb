//! What a text says, passage by passage: paragraphs and points, each with the heading that it stands under.
//!
//! Code, tables and quotations of logs are passed over. No text is taken for an instruction.

use crate::line::words::{Blocks, sentences, without_sequences};
use crate::text::{clip, clip_start};
use std::borrow::Cow;

/// How much of a text is looked at: its beginning, and its end.
const HEAD: usize = 24 * 1024;
const TAIL: usize = 8 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Passage {
    /// In lower case; empty before the first.
    pub heading: String,
    pub text: String,
    pub is_point: bool,
}

impl Passage {
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        sentences(&self.text).map(str::trim).filter(|sentence| !sentence.is_empty())
    }

    /// As people type them: a sentence may begin with a small letter.
    pub fn typed_sentences(&self) -> Vec<&str> {
        let mut found = vec![];
        for sentence in self.sentences() {
            let mut rest = sentence;
            while let Some(at) = typed_end(rest) {
                let (first, after) = rest.split_at(at + 1);
                found.push(first.trim());
                rest = after.trim_start();
            }
            found.push(rest);
        }
        found.retain(|sentence| !sentence.is_empty());
        found
    }

    pub fn is_below(&self, headings: &[&str]) -> bool {
        headings.iter().any(|heading| self.heading.contains(heading))
    }
}

pub(super) fn passages(text: &str) -> Vec<Passage> {
    let text = without_sequences(text);
    let mut heading = String::new();
    let mut found = vec![];
    for block in Blocks::of(&within_bounds(&text)) {
        let leads = !block.is_point && is_lead(&block.text);
        if block.is_heading || leads {
            heading = block.text.trim_end_matches([':', '：']).to_lowercase();
            continue;
        }
        found.push(Passage { heading: heading.clone(), text: block.text, is_point: block.is_point });
        if !block.is_point && found.len() > 1 && found[found.len() - 2].is_point && !text.contains('#') {
            // A paragraph behind a list is no longer under what led to the list.
            heading.clear();
            found.iter_mut().next_back().into_iter().for_each(|last| last.heading.clear());
        }
    }
    found
}

/// Where a full stop behind a whole word ends a sentence, whatever follows it.
fn typed_end(text: &str) -> Option<usize> {
    let ends = text.match_indices(". ").map(|(at, _)| at);
    ends.into_iter().find(|at| {
        let word = text[..*at].rsplit(char::is_whitespace).next().unwrap_or("");
        word.len() >= 3 && word.chars().all(char::is_alphabetic) && !["etc", "approx"].contains(&word)
    })
}

/// `Next steps:` before a list.
fn is_lead(text: &str) -> bool {
    text.ends_with([':', '：']) && text.chars().count() <= 60 && text.split_whitespace().count() <= 8
}

fn within_bounds(text: &str) -> Cow<'_, str> {
    if text.len() <= HEAD + TAIL {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}\n\n{}", clip(text, HEAD), clip_start(text, TAIL)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_know_their_headings_and_code_is_passed_over() {
        let text = "Fixed it.\n\n## Root cause\nThe token ran out.\n```\nNote that this is code.\n```\nNext steps:\n- push\n- deploy\n\nBye for now, then.";
        let found: Vec<(String, String)> =
            passages(text).into_iter().map(|passage| (passage.heading, passage.text)).collect();
        let expected = [
            ("", "Fixed it."),
            ("root cause", "The token ran out."),
            ("next steps", "push"),
            ("next steps", "deploy"),
            ("next steps", "Bye for now, then."),
        ];
        assert_eq!(found, expected.map(|(heading, text)| (heading.to_owned(), text.to_owned())));
    }

    #[test]
    fn a_huge_text_costs_no_more_than_a_long_one() {
        let text = "one line of it\n\n".repeat(200_000);
        assert!(passages(&text).len() < 4000);
    }
}
