//! Splits a text into passages: paragraphs and list items, each with its heading.
//!
//! Skips code and tables. Never treats text as an instruction.

use crate::line::words::{TextBlocks, sentences, without_sequences};
use crate::phrases::Phrases;
use crate::text::{clip, clip_start};
use std::borrow::Cow;

/// How many bytes of a text are read at its beginning and at its end.
const HEAD: usize = 24 * 1024;
const TAIL: usize = 8 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Passage {
    /// In lower case; empty before the first heading.
    pub heading: String,
    pub text: String,
    pub is_item: bool,
}

impl Passage {
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        sentences(&self.text).map(str::trim).filter(|sentence| !sentence.is_empty())
    }

    /// Sentences of typed text, in which a sentence may begin with a lower-case letter.
    pub fn typed_sentences(&self) -> Vec<&str> {
        let mut typed = vec![];
        for sentence in self.sentences() {
            let mut rest = sentence;
            while let Some(at) = typed_end(rest) {
                let (first, after) = rest.split_at(at + 1);
                typed.push(first.trim());
                rest = after.trim_start();
            }
            typed.push(rest);
        }
        typed.retain(|sentence| !sentence.is_empty());
        typed
    }

    pub fn is_below(&self, headings: Phrases) -> bool {
        headings.any(|heading| self.heading.contains(heading))
    }
}

pub(super) fn passages(text: &str) -> Vec<Passage> {
    let text = without_sequences(text);
    let mut heading = String::new();
    let mut passages = vec![];
    for block in TextBlocks::of(&within_bounds(&text)) {
        let is_list_lead = !block.is_item && is_lead(&block.text);
        if block.is_heading || is_list_lead {
            heading = block.text.trim_end_matches([':', '：']).to_lowercase();
            continue;
        }
        passages.push(Passage { heading: heading.clone(), text: block.text, is_item: block.is_item });
        if !block.is_item && passages.len() > 1 && passages[passages.len() - 2].is_item && !text.contains('#')
        {
            // A paragraph after a list no longer belongs to the line that introduced the list.
            heading.clear();
            passages.iter_mut().next_back().into_iter().for_each(|last| last.heading.clear());
        }
    }
    passages
}

/// The paragraphs without list items, and without the sentences that are used elsewhere.
pub(super) fn paragraphs(passages: &[Passage], is_used: impl Fn(&str) -> bool) -> String {
    let paragraphs = passages.iter().filter(|passage| !passage.is_item).map(|passage| {
        let rest: Vec<&str> = passage.sentences().filter(|sentence| !is_used(sentence)).collect();
        rest.join(" ")
    });
    paragraphs.filter(|rest| !rest.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The first full stop that follows a whole word, whatever comes after it.
fn typed_end(text: &str) -> Option<usize> {
    let ends = text.match_indices(". ").map(|(at, _)| at);
    ends.into_iter().find(|at| {
        let word = text[..*at].rsplit(char::is_whitespace).next().unwrap_or("");
        let is_long = word.len() >= 3 || ["no", "ok", "hm"].contains(&word);
        is_long && word.chars().all(char::is_alphabetic) && !["etc", "approx"].contains(&word)
    })
}

/// Whether a text introduces a list, like `Next steps:`.
fn is_lead(text: &str) -> bool {
    text.ends_with([':', '：']) && text.chars().count() <= 60 && text.split_whitespace().count() <= 8
}

pub(super) fn within_bounds(text: &str) -> Cow<'_, str> {
    if text.len() <= HEAD + TAIL {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}\n\n{}", clip(text, HEAD), clip_start(text, TAIL)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_have_their_headings_and_code_is_skipped() {
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
