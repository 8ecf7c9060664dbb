//! Finds random-looking text right after a word that announces a secret: `my API key: …`, `Bearer …`, `the token is …`.
//!
//! The same characters without such a word are a digest, an id or an image, and are kept.

use std::ops::Range;

use super::bytes::{ScanText, is_base64, is_gap, is_quote, length_of, start_of};
use super::family::{Family, family_of};
use super::kind::{SecretKind, SecretMatch};
use super::makeup::Makeup;
use super::provider::after_escape;
use super::stand_in::is_placeholder;
use super::wrapped;
use crate::phrases::Phrases;

/// Words allowed between the announcing word and the secret.
const LINKS: Phrases = Phrases(
    "is|was|are|the|a|an|my|our|your|this|it|here|use|using|with|to|for|as|of|in|value|set|new|old|called|\
    following|s|export|header|below",
);

/// How many words are read backwards.
const STEPS: usize = 4;

/// Authorization schemes that precede their credentials.
const SCHEMES: Phrases = Phrases("bearer|basic|digest");

/// `HEAD`: how far before the run the secret may begin. `JUDGED`: how much of it is inspected.
const HEAD: usize = 64;
const JUDGED: usize = 512;

/// Finds the secret that contains `run`, if a word before it announces one.
pub fn secret(text: ScanText<'_>, run: Range<usize>) -> Option<SecretMatch> {
    let bytes = text.bytes;
    let is_part = |byte: u8| is_base64(byte) || matches!(byte, b'.' | b'~');
    let head = start_of(bytes, text.floor, run.start, HEAD, is_part);
    let start = value_start(text, head).min(run.end);
    // The `+` of a diff is not part of the value, but the words end before it.
    let words_end = if start > head { head } else { start };
    // Checks the announcement first: it is rare, and a base64 image has a run in every line.
    if run.start.saturating_sub(head) == HEAD || !is_announced(text, words_end) {
        return None;
    }
    let judged = run.end + length_of(bytes, run.end, JUDGED, is_part);
    let value = &bytes[start..judged.min(start + JUDGED)];
    let makeup = Makeup::of(value);
    let is_random = (makeup.is_random() || makeup.is_digest()) && !makeup.is_path() && !is_placeholder(value);
    is_random.then(|| {
        let end = judged + length_of(bytes, judged, usize::MAX, is_part);
        SecretKind::SECRET.at(start, wrapped::joined(bytes, end, is_base64))
    })
}

/// The start of the value whose characters reach back to `head`: skips the letter of an escaped line break and the `+`
/// of a diff.
fn value_start(text: ScanText<'_>, head: usize) -> usize {
    let start = after_escape(text.bytes, head).unwrap_or(head);
    let before = head.checked_sub(1).filter(|before| *before >= text.floor).map(|before| text.bytes[before]);
    let is_mark = text.bytes[head] == b'+' && before == Some(b'\n');
    if is_mark { head + 1 } else { start }
}

fn is_announced(text: ScanText<'_>, start: usize) -> bool {
    let bytes = text.bytes;
    // No brackets: they end a placeholder or enclose something else.
    let is_between = |byte: u8| {
        is_gap(byte) || is_quote(byte) || matches!(byte, b':' | b'=' | b'\\' | b'*' | b'>' | b'\n')
    };
    let mut end = start;
    for _ in 0..STEPS {
        let word_end = start_of(bytes, text.floor, end, 8, is_between);
        let word_start = start_of(bytes, text.floor, word_end, 32, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
        });
        let word = &bytes[word_start..word_end];
        let is = |other: &str| word.eq_ignore_ascii_case(other.as_bytes());
        let gap = &bytes[word_end..end];
        // A line break ends the announcement, unless it follows a colon: then the secret may be on the next line.
        let is_apart = gap.contains(&b'\n') && !gap.contains(&b':');
        if word.is_empty() || gap.is_empty() || is_apart {
            return false;
        }
        if SCHEMES.any(is) || is_secret_name(text, word_start, word) {
            return true;
        }
        if !LINKS.any(is) {
            return false;
        }
        end = word_start;
    }
    false
}

fn is_secret_name(text: ScanText<'_>, start: usize, word: &[u8]) -> bool {
    match family_of(word) {
        Some(Family::Password | Family::Phrase | Family::Token | Family::Authorization) => true,
        Some(Family::Weak) if word.eq_ignore_ascii_case(b"key") => {
            let end = start_of(text.bytes, text.floor, start, 2, is_gap);
            let before = start_of(text.bytes, text.floor, end, 16, |byte| byte.is_ascii_alphabetic());
            const KEYS: [&str; 6] = ["api", "access", "secret", "private", "auth", "service"];
            KEYS.iter().any(|key| text.bytes[before..end].eq_ignore_ascii_case(key.as_bytes()))
        }
        Some(Family::Signature | Family::Weak | Family::Cookie | Family::Lines | Family::Value) | None => {
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::redact;

    const CHANCE: &str = "q8Zt3vLw0XkR7mPn2BsD";

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(redact(text), expected, "{text}");
    }

    #[test]
    fn random_text_after_an_announcing_word_is_cut() {
        for before in
            ["my API key is ", "the token: ", "Bearer ", "here is the secret key ", "password for it is "]
        {
            check(
                &format!("{before}{CHANCE}, ok"),
                &format!("{before}[redacted:secret], ok")
                    .replace("password for it is [redacted:secret]", "password for it is [redacted:secret]"),
            );
        }
    }

    #[test]
    fn random_text_alone_stays() {
        for before in
            ["commit ", "sha256:", "token of the tree v1.2 h1:", "cache key ", "integrity sha512-", ""]
        {
            check(&format!("{before}{CHANCE}"), &format!("{before}{CHANCE}"));
        }
    }
}
