//! Finds secrets that invisible characters and colour codes break up: judges the text without them.
//!
//! Only lines that contain such characters are copied; `stops` finds the characters on its way.

use super::SecretMatch;
use super::bytes::{byte_at, length_of, starts_with};

/// Whether an invisible character or a colour code begins with the three bytes that end at `here`.
pub fn hides(bytes: &[u8], here: usize) -> bool {
    here.checked_sub(2).is_some_and(|start| hidden_length(bytes, start) > 0)
}

/// The secrets of `text` as a reader sees it, by their offsets in `text`. Looks only at lines with hidden characters.
pub fn findings(text: &str) -> Vec<SecretMatch> {
    let (mut found, mut start) = (Vec::new(), 0);
    let (mut part, mut part_start) = (0, 0);
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        if !(start..end).any(|index| hidden_length(text.as_bytes(), index) > 0) {
            found.extend(findings_in(&text[part_start..start], part_start).into_iter().filter(|_| part > 0));
            (part, part_start) = (0, end);
        } else {
            part += 1;
        }
        start = end;
    }
    if part > 0 {
        found.extend(findings_in(&text[part_start..], part_start));
    }
    found
}

/// The secrets of consecutive lines that begin at `base`.
fn findings_in(text: &str, base: usize) -> Vec<SecretMatch> {
    let bytes = text.as_bytes();
    let (mut seen, mut offsets) = (Vec::with_capacity(bytes.len()), Vec::with_capacity(bytes.len()));
    let mut index = 0;
    while index < bytes.len() {
        let hidden = hidden_length(bytes, index);
        if hidden == 0 {
            seen.push(bytes[index]);
            offsets.push(base + index);
        }
        index += hidden.max(1);
    }
    let Ok(seen) = String::from_utf8(seen) else { return Vec::new() };
    let original = |found: SecretMatch| SecretMatch {
        start: offsets[found.start],
        end: offsets[found.end - 1] + 1,
        ..found
    };
    super::findings(&seen).map(original).collect()
}

/// The length of the invisible character or colour code at `index`; 0 if another character is there.
fn hidden_length(bytes: &[u8], index: usize) -> usize {
    let (second, third) = (byte_at(bytes, index + 1), byte_at(bytes, index + 2));
    match (bytes[index], second, third) {
        (0x1b, Some(b'['), _) => colour_length(bytes, index, 2),
        // Soft hyphen, grapheme joiner.
        (0xc2, Some(0xad), _) | (0xcd, Some(0x8f), _) => 2,
        // Zero-width characters and marks of direction, word joiner, byte order mark.
        (0xe2, Some(0x80), Some(0x8b..=0x8f | 0xaa..=0xae)) => 3,
        (0xe2, Some(0x81), Some(0xa0..=0xa9)) | (0xef, Some(0xbb), Some(0xbf)) => 3,
        (b'\\', Some(b'u'), _) if starts_with(bytes, index, "\\u001b[") => colour_length(bytes, index, 7),
        (b'\\', Some(b'u'), _) if ESCAPED.iter().any(|code| starts_with(bytes, index + 2, code)) => 6,
        _ => 0,
    }
}

/// The same in a string of JSON.
const ESCAPED: [&str; 7] = ["200b", "200c", "200d", "2060", "feff", "00ad", "034f"];

/// The length of a code whose first `opening` bytes are at `index`.
fn colour_length(bytes: &[u8], index: usize, opening: usize) -> usize {
    let parameters = length_of(bytes, index + opening, 24, |byte| byte.is_ascii_digit() || byte == b';');
    let letter = byte_at(bytes, index + opening + parameters);
    if letter.is_some_and(|byte| byte.is_ascii_alphabetic()) { opening + parameters + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn invisible_characters_hide_no_secret() {
        let (head, tail) = (format!("{}{}", "ghp_", "A1".repeat(7)), "B2".repeat(11));
        for between in ["\u{200b}", "\u{feff}", "\u{ad}", "\u{1b}[1;31m", "\u{2060}\u{200d}"] {
            check(&format!("use {head}{between}{tail} now"), "use [redacted:github] now");
        }
        check("pass\u{200b}word: hunter22", "pass\u{200b}word: [redacted:password]");
    }

    #[test]
    fn coloured_text_stays() {
        for text in ["\u{1b}[32mok\u{1b}[0m 12 passed", "a\u{200b}b", "caf\u{e9} \u{1b}["] {
            check(text, text);
        }
    }
}
