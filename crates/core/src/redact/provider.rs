//! Finds the keys of `formats` in a run of word bytes.
//!
//! A key begins at the start of a word: at the run, after `_` or `-` inside it, or after the remains of an escape
//! sequence. Never in the middle of a word.

use std::ops::Range;

use super::bytes::{ScanText, byte_at, is_base64, length_of, start_of};
use super::formats::{FORMATS, KeyFormat, TailCheck};
use super::kind::{SecretKind, SecretMatch};
use super::{shapes, wrapped};

/// Maximum length of a prefix before its last dot: `NpmToken.`
const LONGEST_DOTTED: usize = 12;

/// How far before a base64 run its key may begin.
const LONGEST_HEAD: usize = 96;

/// Length of the secret that belongs to an AWS key id.
const AWS_SECRET: usize = 40;

/// The position at which a key begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyStart {
    Word,
    /// After `_` or `-`: random text has many of these, and short prefixes occur there by chance.
    Joint,
}

/// Finds the key in `run`, at any word start.
pub fn key_in(text: ScanText<'_>, run: Range<usize>) -> Option<SecretMatch> {
    let bytes = text.bytes;
    let word = after_escape(bytes, run.start).unwrap_or(run.start + usize::from(bytes[run.start] == b'-'));
    let starts = [Some(run.start), Some(word), dotted_start(text, run.start), base64_start(text, run.start)];
    for (at, start) in starts.iter().enumerate() {
        if let Some(start) = start
            && !starts[..at].contains(&Some(*start))
            && let Some(key) = key_at(bytes, *start, &run, KeyStart::Word)
        {
            return Some(key);
        }
    }
    shapes::key(text, &(word.min(run.end)..run.end)).or_else(|| {
        let joints = run.clone().skip(1).filter(|start| matches!(bytes[start - 1], b'_' | b'-'));
        joints.into_iter().find_map(|start| key_at(bytes, start, &run, KeyStart::Joint))
    })
}

/// The start of the base64 text that contains this run, if a `+` or `/` split it into runs too short to be noticed.
fn base64_start(text: ScanText<'_>, run: usize) -> Option<usize> {
    let before = run.checked_sub(1).filter(|before| *before >= text.floor)?;
    if !matches!(text.bytes[before], b'+' | b'/') {
        return None;
    }
    let is_part = |byte: u8| is_base64(byte) && byte != b'=';
    let start = start_of(text.bytes, text.floor, before, LONGEST_HEAD, is_part);
    let start = start + length_of(text.bytes, start, run - start, |byte| matches!(byte, b'+' | b'/' | b'-'));
    Some(after_escape(text.bytes, start).unwrap_or(start))
}

/// The start of a prefix that contains a dot, if the run follows that dot: `hvs.`
fn dotted_start(text: ScanText<'_>, run: usize) -> Option<usize> {
    let dot = run.checked_sub(1).filter(|dot| *dot >= text.floor)?;
    if !matches!(text.bytes[dot], b'.' | b'~') {
        return None;
    }
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.';
    let start = start_of(text.bytes, text.floor, dot, LONGEST_DOTTED, is_part);
    Some(after_escape(text.bytes, start).filter(|word| *word < dot).unwrap_or(start))
}

/// The start of the word if the run's first bytes belong to an escape: `\n`, `%3D`, the `31m` of a colour.
pub fn after_escape(bytes: &[u8], run: usize) -> Option<usize> {
    let before = run.checked_sub(1).map(|index| bytes[index])?;
    let skipped = match before {
        b'\\' => 1,
        b'%' if byte_at(bytes, run) == Some(b'2') && byte_at(bytes, run + 1) == Some(b'5') => 4,
        b'%' => 2,
        b'[' | b';' => {
            let digits = length_of(bytes, run, 3, |byte| byte.is_ascii_digit());
            (digits > 0 && byte_at(bytes, run + digits) == Some(b'm')).then_some(digits + 1)?
        }
        _ => return None,
    };
    Some(run + skipped)
}

fn key_at(bytes: &[u8], start: usize, run: &Range<usize>, place: KeyStart) -> Option<SecretMatch> {
    let (first, second) = (byte_at(bytes, start)?, byte_at(bytes, start + 1)?);
    if INDEX.second[usize::from(first)] & second_bit(second) == 0 {
        return shapes::web_token(bytes, start, run.end);
    }
    let mut next = INDEX.head[usize::from(first)];
    while let Some((prefix, format)) = FORMATS.get(usize::from(next)) {
        let is_sure = place == KeyStart::Word || format.tail_check == TailCheck::Any;
        if is_sure && let Some(end) = end_of(bytes, start, prefix, format) {
            let end = if format.kind == AWS { with_aws_secret(bytes, end) } else { end };
            return Some(format.kind.at(start, end));
        }
        next = INDEX.next[usize::from(next)];
    }
    shapes::web_token(bytes, start, run.end)
}

const AWS: SecretKind = SecretKind::of_provider("aws");

/// The end of a key of this format that begins at `start`, if there is one.
fn end_of(bytes: &[u8], start: usize, prefix: &str, format: &KeyFormat) -> Option<usize> {
    if !bytes[start..].starts_with(prefix.as_bytes()) {
        return None;
    }
    let tail = start + prefix.len();
    let is_part = |byte: u8| format.alphabet.has(byte);
    // Reads no further than needed to decide: a rejection must not cost the length of the run.
    let head = tail + length_of(bytes, tail, format.min_len, is_part);
    if !passes(&bytes[tail..head], format.tail_check) {
        return None;
    }
    let end = head + length_of(bytes, head, format.max_len - format.min_len, is_part);
    match (head - tail < format.min_len, format.has_one_length()) {
        (true, true) => wrapped::rest_of_length(bytes, end, format.min_len - (end - tail), is_part),
        (false, true) => (!byte_at(bytes, end).is_some_and(is_part)).then_some(end),
        (_, false) => Some(wrapped::joined(bytes, end, is_part)).filter(|end| end - tail >= format.min_len),
    }
}

fn passes(tail: &[u8], check: TailCheck) -> bool {
    match check {
        TailCheck::Any => true,
        TailCheck::Digit => tail.iter().any(u8::is_ascii_digit) && tail.iter().any(u8::is_ascii_alphabetic),
    }
}

/// Extends an AWS key id by the secret listed next to it.
fn with_aws_secret(bytes: &[u8], end: usize) -> usize {
    let is_between =
        |byte: u8| matches!(byte, b',' | b':' | b';' | b' ' | b'\t' | b'"' | b'\'' | b'|' | b'/');
    let start = end + length_of(bytes, end, 4, is_between);
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let length = length_of(bytes, start, AWS_SECRET + 1, is_part);
    if start > end && length == AWS_SECRET { start + length } else { end }
}

/// The formats by first byte, as chains through the table, and a bit set of their second bytes.
struct FormatIndex {
    head: [u16; 256],
    next: [u16; FORMATS.len()],
    second: [u64; 256],
}

/// A collision only costs one comparison.
const fn second_bit(byte: u8) -> u64 {
    1 << (byte & 63)
}

const NONE: u16 = u16::MAX;

static INDEX: FormatIndex = index();

const fn index() -> FormatIndex {
    let mut index = FormatIndex { head: [NONE; 256], next: [NONE; FORMATS.len()], second: [0; 256] };
    let mut at = FORMATS.len();
    // Backwards, so that each chain keeps the table's order.
    while at > 0 {
        at -= 1;
        let prefix = FORMATS[at].0.as_bytes();
        let first = prefix[0] as usize;
        index.next[at] = index.head[first];
        index.head[first] = at as u16;
        index.second[first] |= second_bit(prefix[1]);
    }
    index
}

#[cfg(test)]
mod tests {
    use super::super::redact;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(redact(text), expected, "{text}");
    }

    fn github() -> String {
        format!("{}{}", "ghp_", "A1".repeat(18))
    }

    #[test]
    fn keys_are_cut_where_a_word_begins() {
        let key = github();
        check(&format!("use {key}, please"), "use [redacted:github], please");
        check(&format!("task{key}"), &format!("task{key}"));
        check(&format!("my_{key}"), "my_[redacted:github]");
        check(&format!("-{key}"), "-[redacted:github]");
    }

    #[test]
    fn escapes_before_a_key_do_not_hide_it() {
        let key = github();
        check(&format!("a\\n{key}"), "a\\n[redacted:github]");
        check(&format!("a%3D{key}%26"), "a%3D[redacted:github]%26");
        check(&format!("\u{1b}[31m{key}\u{1b}[0m"), "\u{1b}[31m[redacted:github]\u{1b}[0m");
    }

    #[test]
    fn secret_beside_its_id_is_cut() {
        let (id, secret) = (format!("{}{}", "AKIA", "Z7".repeat(8)), "aB3/".repeat(10));
        check(&format!("{id},{secret}\n"), "[redacted:aws]\n");
        check(&format!("{id} {}", "x".repeat(20)), &format!("[redacted:aws] {}", "x".repeat(20)));
    }

    #[test]
    fn beginnings_alone_stay() {
        for text in
            ["sk-...", "sk-loading-spinner-of-the-page-header", "npm_package_config_registry_address_of_it"]
        {
            check(text, text);
        }
    }
}
