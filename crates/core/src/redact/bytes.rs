//! Classes of bytes, and comparing without regard to case.
//!
//! Nothing here knows what a secret is. Bytes beyond ASCII belong to no class.

use super::effort::spend;

/// A byte of an identifier or of most keys: the alphabet of runs.
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Base64 of either alphabet, with padding.
pub fn is_base64(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'+' | b'/' | b'=')
}

pub fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

pub fn is_gap(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub fn at(bytes: &[u8], index: usize) -> Option<u8> {
    bytes.get(index).copied()
}

/// How many bytes from `from` on are of the class, at most `most`.
pub fn length_of(bytes: &[u8], from: usize, most: usize, is_member: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let length = rest.iter().take(most).take_while(|byte| is_member(**byte)).count();
    spend(length + 1);
    length
}

/// Where the bytes of the class before `end` begin: at most `most` of them, and none before `floor`.
pub fn start_of(
    bytes: &[u8],
    floor: usize,
    end: usize,
    most: usize,
    is_member: impl Fn(u8) -> bool,
) -> usize {
    let from = floor.max(end.saturating_sub(most));
    let before = bytes.get(from..end).unwrap_or_default();
    let length = before.iter().rev().take_while(|byte| is_member(**byte)).count();
    spend(length + 1);
    end - length
}

/// Whether `word`, in lower case, stands at `from` in any case.
pub fn starts_with(bytes: &[u8], from: usize, word: &str) -> bool {
    let head = bytes.get(from..from.saturating_add(word.len()));
    head.is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether `word` ends right before `end`, in any case, and begins at `floor` or later.
pub fn ends_with(bytes: &[u8], floor: usize, end: usize, word: &str) -> bool {
    end.checked_sub(word.len()).is_some_and(|start| start >= floor && starts_with(bytes, start, word))
}

/// Whether `word` stands anywhere in `bytes`, in any case.
pub fn contains(bytes: &[u8], word: &str) -> bool {
    spend(bytes.len());
    bytes.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}
