//! The part of a text that shows why it was found.
//!
//! The text is the caller's: the index keeps none.

use crate::source::boundary;
use crate::words::{Term, each_term, words_of};

/// A part of a text, with what matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// On one line; cut ends are marked with an ellipsis.
    pub text: String,
    /// Where the words of the question stand in it, in bytes.
    pub marks: Vec<std::ops::Range<usize>>,
}

/// So much of a text is looked through.
const READ: usize = 128 * 1024;

/// The part of `text`, about `length` letters, with the most different words of `question`.
pub fn snippet(text: &str, question: &str, length: usize) -> Snippet {
    let sought: Vec<String> = words_of(question).into_iter().map(|word| word.indexed).collect();
    let text = &text[..boundary(text, READ)];
    let found = places(text, &sought);
    let start = best_start(&found, length);
    cut(text, start, length, &found)
}

/// A word of the question in the text: its range, and which word.
struct Place {
    start: usize,
    end: usize,
    word: usize,
}

fn places(text: &str, sought: &[String]) -> Vec<Place> {
    let mut places = Vec::new();
    let mut start = 0;
    for run in text.split_inclusive(|letter: char| !letter.is_alphanumeric() && !"_-.".contains(letter)) {
        let word = run.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        let mut matched = None;
        each_term(word, &mut |term: Term<'_>| {
            matched = matched.or(sought.iter().position(|sought| sought == term.indexed));
        });
        places.extend(matched.map(|word_number| Place { start, end: start + word.len(), word: word_number }));
        start += run.len();
    }
    places
}

/// Where the window with the most different words begins: a little before its first.
fn best_start(found: &[Place], length: usize) -> usize {
    let different = |first: &Place| {
        let within =
            found.iter().filter(|place| place.start >= first.start && place.end <= first.start + length);
        within.map(|place| 1_u64 << (place.word % 64)).fold(0, |words, word| words | word).count_ones()
    };
    let considered = found.iter().take(200);
    let best = considered.map(|place| (different(place), std::cmp::Reverse(place.start))).max();
    best.map_or(0, |(_, std::cmp::Reverse(start))| start.saturating_sub(length / 5))
}

fn cut(text: &str, start: usize, length: usize, found: &[Place]) -> Snippet {
    let start = word_start(text, boundary(text, start), length / 5);
    let end = boundary(text, start.saturating_add(length));
    let mut made = Snippet { text: String::new(), marks: Vec::new() };
    if start > 0 {
        made.text.push('…');
    }
    let mut at = start;
    for place in found.iter().filter(|place| place.start >= start && place.end <= end) {
        push_line(&mut made.text, &text[at..place.start]);
        let from = made.text.len();
        push_line(&mut made.text, &text[place.start..place.end]);
        made.marks.push(from..made.text.len());
        at = place.end;
    }
    push_line(&mut made.text, &text[at..end]);
    if end < text.len() {
        made.text.push('…');
    }
    made
}

/// The beginning of the next word, if it comes within `reach`: no snippet begins in the middle of one.
fn word_start(text: &str, start: usize, reach: usize) -> usize {
    let ahead = &text[start..boundary(text, start.saturating_add(reach))];
    let space = ahead.char_indices().find(|(_, letter)| letter.is_whitespace());
    space.filter(|_| start > 0).map_or(start, |(at, letter)| start + at + letter.len_utf8())
}

/// Adds `text` with every run of spaces and control characters as one space.
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
    fn text_without_the_words_is_shown_from_its_beginning() {
        assert_eq!(
            snippet("one\n\ttwo", "three", 80),
            Snippet { text: "one two".to_owned(), marks: Vec::new() }
        );
        assert_eq!(snippet("", "three", 80).text, "");
    }
}
