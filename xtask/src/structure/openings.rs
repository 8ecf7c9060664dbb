//! Finds comment sentences that open with a pronoun or adverb instead of their subject.
//!
//! Line comments and doc comments count, fenced code in them does not. It must not read string literals.

use super::production::{Occurrence, Unit};
use crate::scan::{Source, Token};

/// Openings that hide the subject of a sentence.
const OPENINGS: &str =
    "What Whatever Who Whoever Whom Whose Nobody Nothing Somebody Anybody Everybody Where Wherever";

/// How many sentences the comments have, and those with such an opening.
#[derive(Debug, PartialEq, Eq)]
pub struct Openings {
    pub sentences: usize,
    pub found: Vec<Occurrence>,
}

pub fn measure(units: &[Unit]) -> Openings {
    let mut openings = Openings { sentences: 0, found: Vec::new() };
    for unit in units {
        for sentence in sentences(&Source::scan(&unit.text)) {
            openings.sentences += 1;
            if let Some(word) = opening(sentence.text) {
                let (file, line) = (unit.path.clone(), sentence.line);
                openings.found.push(Occurrence { file, line, word: word.to_owned() });
            }
        }
    }
    openings
}

/// Returns the word of the list with which a sentence opens.
fn opening(first: &str) -> Option<&str> {
    let end = first.find(|character: char| !character.is_alphanumeric()).unwrap_or(first.len());
    OPENINGS.split(' ').any(|word| word == &first[..end]).then_some(&first[..end])
}

/// Returns the first word of every sentence, with its line.
fn sentences<'a>(source: &Source<'a>) -> Vec<Token<'a>> {
    let mut found = Vec::new();
    for paragraph in paragraphs(source) {
        let mut has_ended = true;
        for (at, word) in paragraph.into_iter().enumerate() {
            let ends = word.text.ends_with(['.', '!', '?', ':']);
            let is_start = word.text.starts_with(|first: char| first.is_ascii_uppercase() || first == '`');
            if has_ended && (at == 0 || is_start) {
                found.push(word);
            }
            has_ended = ends;
        }
    }
    found
}

/// Returns the words of every paragraph. Headings, list items and comments after code are paragraphs of their own.
fn paragraphs<'a>(source: &Source<'a>) -> Vec<Vec<Token<'a>>> {
    let lines: Vec<&str> = source.text.lines().collect();
    let mut paragraphs = vec![Vec::new()];
    let (mut expected, mut is_fenced) = (None, false);
    for comment in source.comments.iter().filter(|comment| comment.text.starts_with("//")) {
        let is_doc = comment.text.starts_with("///") || comment.text.starts_with("//!");
        let (slashes, text) = comment.text.split_at(if is_doc { 3 } else { 2 });
        let text = text.trim();
        let is_alone = lines[comment.line - 1].trim_start().starts_with("//");
        let continues = is_alone && expected == Some((comment.line, slashes));
        expected = is_alone.then_some((comment.line + 1, slashes));
        let is_fence = text.starts_with("```");
        is_fenced = (is_fenced && continues) ^ is_fence;
        if !continues || is_fence || text.split_whitespace().next().is_none_or(is_bullet) {
            paragraphs.push(Vec::new());
        }
        if let Some(paragraph) = paragraphs.last_mut()
            && !is_fenced
            && !is_fence
        {
            let words = text.split_whitespace().filter(|word| !is_bullet(word));
            paragraph.extend(words.map(|text| Token { line: comment.line, text }));
        }
    }
    paragraphs
}

fn is_bullet(word: &str) -> bool {
    ["-", "*", "#", "##", "|"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::units;

    fn found(text: &str) -> Vec<(usize, String)> {
        let openings = measure(&units(&[("crates/a/src/lib.rs", text)]));
        openings.found.into_iter().map(|opening| (opening.line, opening.word)).collect()
    }

    fn count(text: &str) -> usize {
        measure(&units(&[("crates/a/src/lib.rs", text)])).sentences
    }

    #[test]
    fn an_opening_is_found_with_the_line_of_its_sentence() {
        let text = "//! What is read. The rest\n//! stays. Nobody,\n//! not even root.\nfn a() {} // Where it ends\n";
        let expected = [(1, "What"), (2, "Nobody"), (4, "Where")].map(|(line, word)| (line, word.to_owned()));
        assert_eq!(found(text), expected);
        assert_eq!(count(text), 4);
    }

    #[test]
    fn the_same_words_inside_a_sentence_or_a_longer_word_are_not_found() {
        assert_eq!(found("// Returns What and\n// Who. Whether it is. Nowhere. Whosever."), []);
    }

    #[test]
    fn paragraphs_end_at_blank_lines_code_and_list_items() {
        assert_eq!(
            count("/// one\n/// still one\n///\n/// two\n/// - three\nfn a() {}\n/// four\n// five\n"),
            5
        );
    }

    #[test]
    fn a_sentence_ends_before_a_capital_or_code() {
        assert_eq!(count("// One. Two! `three` is\n// it: Four, i.e. not five. 6 is not."), 4);
    }

    #[test]
    fn fenced_code_and_strings_are_not_read() {
        assert_eq!(
            count("/// One.\n/// ```\n/// What();\n/// ```\n/// Two.\nconst A: &str = \"// What\";"),
            2
        );
    }
}
