//! Unescapes JSON strings, given the bytes between their quotes.
//!
//! Tool output is the largest part of a transcript and full of escaped line ends: it is copied once, sixteen bytes at a
//! time. Does not check syntax, which the caller that found the quotes did; half a surrogate pair becomes `\u{fffd}`.

use crate::eight::{CHUNK, first_byte};
use memchr::memchr;
use std::borrow::Cow;

/// Bytes scanned and copied at once.
const STEP: usize = 2 * CHUNK;

/// The unescaped text, borrowed if there is no escape.
pub(crate) fn unescaped(inner: &str) -> Cow<'_, str> {
    let Some(first) = first_escape(inner.as_bytes()) else { return Cow::Borrowed(inner) };
    let mut text = Vec::with_capacity(inner.len());
    let (plain, mut rest) = inner.as_bytes().split_at(first);
    text.extend_from_slice(plain);
    while let Some((escape, after)) = rest.strip_prefix(b"\\").and_then(<[u8]>::split_first) {
        rest = match *escape {
            b'u' => push_unicode(after, &mut text),
            escape => {
                text.push(unescape_byte(escape));
                after
            }
        };
        rest = push_plain(rest, &mut text);
    }
    let lossy = |error: std::string::FromUtf8Error| String::from_utf8_lossy(error.as_bytes()).into_owned();
    Cow::Owned(String::from_utf8(text).unwrap_or_else(lossy))
}

/// Short texts are scanned directly: `memchr` pays off only for long ones.
fn first_escape(inner: &[u8]) -> Option<usize> {
    if inner.len() < 2 * STEP { inner.iter().position(|byte| *byte == b'\\') } else { memchr(b'\\', inner) }
}

/// Copies up to the next escape; returns the rest.
fn push_plain<'r>(mut rest: &'r [u8], text: &mut Vec<u8>) -> &'r [u8] {
    while let Some((step, after)) = rest.split_first_chunk::<STEP>() {
        text.extend_from_slice(step);
        if let Some(plain) = first_escape_in(step) {
            text.truncate(text.len() - STEP + plain);
            return &rest[plain..];
        }
        rest = after;
    }
    let plain = rest.iter().position(|byte| *byte == b'\\').unwrap_or(rest.len());
    text.extend(&rest[..plain]);
    &rest[plain..]
}

/// The offset of the first escape.
fn first_escape_in(step: &[u8; STEP]) -> Option<usize> {
    let (chunks, _) = step.as_chunks::<CHUNK>();
    let mut found = chunks.iter().zip((0..).step_by(CHUNK));
    found.find_map(|(chunk, before)| first_byte(chunk, b'\\').map(|escape| before + escape))
}

fn unescape_byte(escape: u8) -> u8 {
    match escape {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        other => other,
    }
}

/// Appends the character of one `\u` escape or a surrogate pair; returns the rest.
fn push_unicode<'r>(after: &'r [u8], text: &mut Vec<u8>) -> &'r [u8] {
    let Some((unit, rest)) = utf16_unit(after) else { return after };
    let second = || rest.strip_prefix(br"\u").and_then(self::utf16_unit);
    let (units, rest) = match (unit, second()) {
        (0xd800..=0xdbff, Some((low @ 0xdc00..=0xdfff, rest))) => (vec![unit, low], rest),
        _ => (vec![unit], rest),
    };
    let decoded = char::decode_utf16(units).map(|found| found.unwrap_or(char::REPLACEMENT_CHARACTER));
    for character in decoded {
        text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
    rest
}

fn utf16_unit(digits: &[u8]) -> Option<(u16, &[u8])> {
    let (digits, rest) = digits.split_at_checked(4)?;
    let unit = u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?;
    Some((unit, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn half_a_surrogate_pair_becomes_a_replacement_character() {
        assert_eq!(unescaped(r"a\ud83dz"), "a\u{fffd}z");
        assert_eq!(unescaped(r"a\ud83d\ud83d\ude00\ude00"), "a\u{fffd}😀\u{fffd}");
        assert_eq!(unescaped(r"a\u12"), "a12");
    }

    #[test]
    fn text_without_escapes_is_borrowed() {
        assert!(matches!(unescaped("plain ünïcode"), Cow::Borrowed("plain ünïcode")));
        assert_eq!(unescaped(r#"\"\\\/\b\f\n\r\té\u00e9"#), "\"\\/\u{8}\u{c}\n\r\téé");
    }

    proptest! {
        #[test]
        fn every_text_comes_back_as_it_was_written(text in "(\\PC|[\n\t\"\\\\😀]){0,80}") {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(unescaped(&json[1..json.len() - 1]), text.as_str());
            let ascii: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            prop_assert_eq!(unescaped(&ascii), text);
        }
    }
}
