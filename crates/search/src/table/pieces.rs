//! WordPiece tokenisation for the static table: greedy longest match.
//!
//! Identifiers are split into words before lower-casing. No text is an error: a word without pieces is dropped.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::{PieceHash, WordPiece, find_piece};

/// Longer words are data and have no meaning.
const LONGEST_WORD: usize = 64;

/// The pieces of `text`, in order, at most `limit` of them.
pub fn pieces(text: &str, limit: usize) -> Vec<WordPiece> {
    let mut out = Vec::with_capacity(limit.min(text.len() / 3 + 4));
    let mut word = WordBuffer::default();
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if out.len() >= limit {
            break;
        }
        if !letter.is_alphanumeric() && (letter.is_ascii() || !is_combining_mark(letter)) {
            word.flush(&mut out);
        } else if is_ideograph(letter) {
            word.flush(&mut out);
            word.push(letter);
            word.flush(&mut out);
        } else {
            if begins_word(before, letter, letters.peek().copied()) {
                word.flush(&mut out);
            }
            word.push(letter);
        }
        before = letter;
    }
    word.flush(&mut out);
    out.truncate(limit);
    out
}

/// Whether an identifier's next word begins here: `parseFile`, `HTTPServer`.
fn begins_word(before: char, letter: char, after: Option<char>) -> bool {
    letter.is_uppercase()
        && (before.is_lowercase()
            || before.is_numeric()
            || (before.is_uppercase() && after.is_some_and(char::is_lowercase)))
}

fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{4E00}'..='\u{9FFF}')
}

/// The word being read: the continuation mark `##`, then its letters.
struct WordBuffer(Vec<u8>);

impl Default for WordBuffer {
    fn default() -> WordBuffer {
        WordBuffer(b"##".to_vec())
    }
}

impl WordBuffer {
    fn push(&mut self, letter: char) {
        if letter.is_ascii() {
            self.0.push(letter.to_ascii_lowercase() as u8);
            return;
        }
        for plain in letter.to_lowercase().nfd().filter(|letter| !is_combining_mark(*letter)) {
            self.0.extend_from_slice(plain.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    fn flush(&mut self, out: &mut Vec<WordPiece>) {
        if (3..=LONGEST_WORD + 2).contains(&self.0.len()) {
            self.cut(out);
        }
        self.0.truncate(2);
    }

    fn cut(&mut self, out: &mut Vec<WordPiece>) {
        let Some((first, mut start)) = longest(&self.0, 2, PiecePosition::Start) else { return };
        let before = out.len();
        out.push(first);
        while start < self.0.len() {
            self.0[start - 2..start].copy_from_slice(b"##");
            let Some((piece, end)) = longest(&self.0, start, PiecePosition::Continuation) else {
                // If any part of a word has no piece, the word has none, as in the model the table was distilled from.
                out.truncate(before);
                break;
            };
            out.push(piece);
            start = end;
        }
        self.0[..2].copy_from_slice(b"##");
    }
}

#[derive(Clone, Copy)]
enum PiecePosition {
    Start,
    Continuation,
}

/// The longest piece that begins at `start`, and its end.
fn longest(word: &[u8], start: usize, position: PiecePosition) -> Option<(WordPiece, usize)> {
    let from = match position {
        PiecePosition::Start => start,
        PiecePosition::Continuation => start - 2,
    };
    // Each hash goes on from that of the shorter piece.
    let mut hashes = [PieceHash::EMPTY; LONGEST_WORD + 2];
    let mut hash = PieceHash::EMPTY;
    for (kept, byte) in hashes.iter_mut().zip(&word[from..]) {
        hash = hash.with(*byte);
        *kept = hash;
    }
    let find = |end: usize| find_piece(hashes[end - from - 1], &word[from..end]);
    (start + 1..=word.len()).rev().find_map(|end| Some((find(end)?, end)))
}

#[cfg(test)]
mod tests {
    use super::super::spelling;
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let out: Vec<&str> = pieces(text, 100)
            .into_iter()
            .map(|piece| std::str::from_utf8(spelling(piece)).unwrap())
            .collect();
        assert_eq!(out, expected, "{text}");
    }

    #[test]
    fn longest_piece_comes_first_and_rests_are_marked() {
        check("Embeddings, unaffable!", &["em", "##bed", "##ding", "##s", "una", "##ffa", "##ble"]);
    }

    #[test]
    fn identifiers_are_cut_into_their_words() {
        check("openConfigFile", &["open", "con", "##fi", "##g", "file"]);
        check("HTTPServer_error2", &["http", "server", "error", "##2"]);
    }

    #[test]
    fn accents_are_dropped_and_ideographs_stand_alone() {
        check("Café 中人", &["cafe", "中", "人"]);
    }

    #[test]
    fn no_more_than_the_limit() {
        assert_eq!(pieces("one two three four", 3).len(), 3);
        assert!(pieces(&"a".repeat(100_000), 100).is_empty());
    }
}
