//! The scanned bytes: their classes, case-insensitive comparison, and tables of the words to find.
//!
//! Knows nothing about secrets. Non-ASCII bytes belong to no class.

use super::effort::spend;

/// The text, and the lower bound for looking back: the end of the previous match.
#[derive(Clone, Copy)]
pub struct ScanText<'a> {
    pub bytes: &'a [u8],
    pub floor: usize,
}

/// A byte of an identifier, or of most keys; runs consist of these.
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Either base64 alphabet, including padding.
pub fn is_base64(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'+' | b'/' | b'=')
}

pub fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

pub fn is_gap(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub fn byte_at(bytes: &[u8], index: usize) -> Option<u8> {
    bytes.get(index).copied()
}

/// The number of bytes of the class from `from` on, at most `limit`.
pub fn length_of(bytes: &[u8], from: usize, limit: usize, is_member: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let length = rest.iter().take(limit).take_while(|byte| is_member(**byte)).count();
    spend(length + 1);
    length
}

/// The start of the bytes of the class that end at `end`: at most `limit` of them, and not before `floor`.
pub fn start_of(
    bytes: &[u8],
    floor: usize,
    end: usize,
    limit: usize,
    is_member: impl Fn(u8) -> bool,
) -> usize {
    let from = floor.max(end.saturating_sub(limit));
    let before = bytes.get(from..end).unwrap_or_default();
    let length = before.iter().rev().take_while(|byte| is_member(**byte)).count();
    spend(length + 1);
    end - length
}

/// Whether the lower-case `word` is at `from`, in any case.
pub fn starts_with(bytes: &[u8], from: usize, word: &str) -> bool {
    let head = bytes.get(from..from.saturating_add(word.len()));
    head.is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether `word` ends right before `end`, in any case, and begins at `floor` or later.
pub fn ends_with(bytes: &[u8], floor: usize, end: usize, word: &str) -> bool {
    end.checked_sub(word.len()).is_some_and(|start| start >= floor && starts_with(bytes, start, word))
}

/// Whether `bytes` contains `word`, in any case.
pub fn contains(bytes: &[u8], word: &str) -> bool {
    spend(bytes.len());
    bytes.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

/// One row for every word of the rows, whose words are separated by blanks.
pub const fn each_word<T: Copy, const COUNT: usize>(
    rows: &'static [(&'static str, T)],
) -> [(&'static str, T); COUNT] {
    let mut words = [rows[0]; COUNT];
    let (mut row, mut at) = (0, 0);
    while row < rows.len() {
        let (mut rest, value) = rows[row];
        while !rest.is_empty() {
            let (word, after) = first_word(rest);
            words[at] = (word, value);
            (at, rest) = (at + 1, after);
        }
        row += 1;
    }
    words
}

/// The words in all rows.
pub const fn word_count<T>(rows: &[(&str, T)]) -> usize {
    let (mut row, mut count) = (0, 0);
    while row < rows.len() {
        let mut rest = rows[row].0;
        while !rest.is_empty() {
            (count, rest) = (count + 1, first_word(rest).1);
        }
        row += 1;
    }
    count
}

/// The first word of a list and the words after it.
const fn first_word(list: &str) -> (&str, &str) {
    let mut end = 0;
    while end < list.len() && list.as_bytes()[end] != b' ' {
        end += 1;
    }
    let (word, rest) = list.split_at(end);
    (word, if rest.is_empty() { rest } else { rest.split_at(1).1 })
}
