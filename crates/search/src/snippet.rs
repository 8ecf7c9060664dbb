//! Snippets: the part of a text that shows why it matched.
//!
//! The caller passes the text in: the index stores none.

use crate::source::boundary;
use crate::words::{Term, each_term, words_of};

/// A part of a text, with its matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// On one line; cut ends are marked with an ellipsis.
    pub text: String,
    /// Byte ranges of the query's words in `text`.
    pub marks: Vec<std::ops::Range<usize>>,
}

/// The number of bytes of a text that are searched.
const READ: usize = 128 * 1024;

/// The part of `text`, about `length` bytes, with the most distinct words of `question`.
pub fn snippet(text: &str, question: &str, length: usize) -> Snippet {
    let terms: Vec<String> = words_of(question).into_iter().map(|word| word.indexed).collect();
    let text = &text[..boundary(text, READ)];
    let matches = word_matches(text, &terms);
    let start = best_start(&matches, length);
    cut(text, start, length, &matches)
}

/// The byte ranges of the words of `question` in `text`.
pub fn marks(text: &str, question: &str) -> Vec<std::ops::Range<usize>> {
    let terms: Vec<String> = words_of(question).into_iter().map(|word| word.indexed).collect();
    word_matches(text, &terms).into_iter().map(|found| found.start..found.end).collect()
}

/// The number of distinct words of `question` that `text` contains.
pub fn words_in(text: &str, question: &str) -> usize {
    let terms: Vec<String> = words_of(question).into_iter().map(|word| word.indexed).collect();
    let mut is_found = vec![false; terms.len()];
    word_matches(text, &terms).into_iter().for_each(|found| is_found[found.word] = true);
    is_found.into_iter().filter(|found| *found).count()
}

/// The byte range of a query word in the text, and the word's number.
struct WordMatch {
    start: usize,
    end: usize,
    word: usize,
}

fn word_matches(text: &str, terms: &[String]) -> Vec<WordMatch> {
    let mut word_matches = Vec::new();
    let mut start = 0;
    for run in text.split_inclusive(|letter: char| !letter.is_alphanumeric() && !"_-.".contains(letter)) {
        let word = run.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        let mut matched = None;
        each_term(word, &mut |term: Term<'_>| {
            matched = matched.or(terms.iter().position(|terms| terms == term.indexed));
        });
        word_matches.extend(matched.map(|word_number| WordMatch {
            start,
            end: start + word.len(),
            word: word_number,
        }));
        start += run.len();
    }
    word_matches
}

/// The start of the window with the most distinct words, a little before its first match.
fn best_start(matches: &[WordMatch], length: usize) -> usize {
    let different = |first: &WordMatch| {
        let within =
            matches.iter().filter(|found| found.start >= first.start && found.end <= first.start + length);
        within.map(|found| 1_u64 << (found.word % 64)).fold(0, |words, word| words | word).count_ones()
    };
    let considered = matches.iter().take(200);
    let best = considered.map(|found| (different(found), std::cmp::Reverse(found.start))).max();
    best.map_or(0, |(_, std::cmp::Reverse(start))| start.saturating_sub(length / 5))
}

fn cut(text: &str, start: usize, length: usize, matches: &[WordMatch]) -> Snippet {
    let start = word_start(text, boundary(text, start), length / 5);
    let end = word_end(text, start, boundary(text, start.saturating_add(length)));
    let mut made = Snippet { text: String::new(), marks: Vec::new() };
    if start > 0 {
        made.text.push('…');
    }
    let mut at = start;
    for found in matches.iter().filter(|found| found.start >= start && found.end <= end) {
        push_line(&mut made.text, &text[at..found.start]);
        let from = made.text.len();
        push_line(&mut made.text, &text[found.start..found.end]);
        made.marks.push(from..made.text.len());
        at = found.end;
    }
    push_line(&mut made.text, &text[at..end]);
    if end < text.len() {
        made.text.push('…');
    }
    made
}

/// The start of the next word if it lies within `reach` bytes, so that no snippet begins inside a word.
fn word_start(text: &str, start: usize, reach: usize) -> usize {
    let ahead = &text[start..boundary(text, start.saturating_add(reach))];
    let space = ahead.char_indices().find(|(_, letter)| letter.is_whitespace());
    space.filter(|_| start > 0).map_or(start, |(at, letter)| start + at + letter.len_utf8())
}

/// The end of the last whole word before `end`, unless it lies in the first four fifths: a long word is cut anywhere.
fn word_end(text: &str, start: usize, end: usize) -> usize {
    let is_whole = text[end..].chars().next().is_none_or(char::is_whitespace);
    let space = text[start..end].rfind(char::is_whitespace).filter(|at| at * 5 >= (end - start) * 4);
    space.filter(|_| !is_whole).map_or(end, |at| start + at)
}

/// Appends `text`, collapsing every run of whitespace and control characters into one space.
fn push_line(line: &mut String, text: &str) {
    for letter in text.chars() {
        if !letter.is_whitespace() && !letter.is_control() {
            line.push(letter);
        } else if !line.is_empty() && !line.ends_with(' ') {
            line.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_part_with_the_most_words() {
        let text = format!(
            "{} the cache was cold, then\nthe Redis cache failed {}",
            "lorem ".repeat(50),
            "ipsum ".repeat(50)
        );
        let made = snippet(&text, "why did redis caches fail?", 60);
        let marked: Vec<&str> = made.marks.iter().map(|mark| &made.text[mark.clone()]).collect();
        assert!(marked.contains(&"Redis") && marked.contains(&"failed"), "{made:?}");
        assert!(made.text.starts_with('…') && made.text.ends_with('…') && !made.text.contains('\n'));
    }

    #[test]
    fn wide_spaces_are_cut_between_letters() {
        let text = format!("{}\u{3000}目標 needle\u{2003}{}", "字".repeat(60), "é".repeat(80));
        for length in 0..120 {
            let made = snippet(&text, "needle", length);
            assert!(made.marks.iter().all(|mark| &made.text[mark.clone()] == "needle"), "{made:?}");
        }
    }

    #[test]
    fn a_snippet_ends_after_a_whole_word() {
        assert_eq!(
            snippet("the needle sewed another mainsail", "needle", 27).text,
            "the needle sewed another…"
        );
        assert_eq!(snippet("needle/of/a/path/without/spaces", "haystack", 9).text, "needle/of…");
    }

    #[test]
    fn text_without_the_words_is_shown_from_its_beginning() {
        assert_eq!(
            snippet("one\n\ttwo", "three", 80),
            Snippet { text: "one two".to_owned(), marks: Vec::new() }
        );
        assert_eq!(snippet("", "three", 80).text, "");
    }
}
