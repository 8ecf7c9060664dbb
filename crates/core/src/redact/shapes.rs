//! Recognises keys by their parts: JSON web tokens, bot tokens, pairs of an id and a secret.
//!
//! Starts from a long run that is one of the parts; the others are measured, never searched for.

use std::ops::Range;

use super::bytes::{ScanText, byte_at, contains, ends_with, is_word, length_of, start_of};
use super::kind::{SecretKind, SecretMatch};
use super::makeup::Makeup;
use super::wrapped;

/// Minimum length of a part of a signed token.
const PART: usize = 10;

/// The first part of a web token that stands alone begins with one of these: `alg`, `typ`, `kid`, `enc`, `cty`.
const HEADERS: [&str; 5] = ["eyJhbGciO", "eyJ0eXAiO", "eyJraWQiO", "eyJlbmMiO", "eyJjdHkiO"];

/// A header at least this long without other parts is a truncated token.
const LONE_HEADER: usize = 60;

/// Finds the key that contains `run`.
pub fn key(text: ScanText<'_>, run: &Range<usize>) -> Option<SecretMatch> {
    let followed = match byte_at(text.bytes, run.end) {
        Some(b'.') => discord(text.bytes, run),
        Some(b':') => twilio(text.bytes, run),
        _ => None,
    };
    let followed = followed.or_else(|| short_keys(text.bytes, run));
    followed.or_else(|| match run.start.checked_sub(1).map(|before| text.bytes[before]) {
        Some(b':') => telegram(text, run).or_else(|| asana(text, run)),
        Some(b'.') => terraform(text, run).or_else(|| airtable(text, run)),
        Some(b'~') => azure(text, run),
        Some(b'$') => braintree(text, run),
        Some(b'*') => mysql(text.bytes, run),
        _ => None,
    })
}

/// Finds `eyJ….eyJ….…` from `start` on, with all its parts; the first part ends at `first`.
pub fn web_token(bytes: &[u8], start: usize, first: usize) -> Option<SecretMatch> {
    if !bytes[start..].starts_with(b"eyJ") || first < start + PART {
        return None;
    }
    let mut end = first;
    while byte_at(bytes, end) == Some(b'.') {
        let part = length_of(bytes, end + 1, usize::MAX, is_word);
        if part == 0 {
            break;
        }
        end += 1 + part;
    }
    let is_header = HEADERS.iter().any(|header| bytes[start..].starts_with(header.as_bytes()));
    let is_token = end > first + PART || (is_header && first - start >= LONE_HEADER);
    is_token.then(|| {
        let end = wrapped::joined(bytes, end, |byte| is_word(byte) || byte == b'.');
        SecretKind::JWT.at(start, end)
    })
}

/// `id.time.signature`; the id is a base64 number.
fn discord(bytes: &[u8], run: &Range<usize>) -> Option<SecretMatch> {
    let is_id = (24..=28).contains(&run.len()) && matches!(bytes[run.start], b'M' | b'N' | b'O');
    let time = length_of(bytes, run.end + 1, 8, is_word);
    let dot = run.end + 1 + time;
    if !is_id || !(6..=7).contains(&time) || byte_at(bytes, dot) != Some(b'.') {
        return None;
    }
    let signature = length_of(bytes, dot + 1, usize::MAX, is_word);
    (signature >= 27).then(|| finding("discord", run.start, dot + 1 + signature))
}

/// `pat` and 14 characters, a dot, 64 hexadecimal digits.
fn airtable(text: ScanText<'_>, run: &Range<usize>) -> Option<SecretMatch> {
    let start = start_of(text.bytes, text.floor, run.start - 1, 17, |byte| byte.is_ascii_alphanumeric());
    let is_key = run.len() == 64 && run.start - 1 - start == 17 && text.bytes[start..].starts_with(b"pat");
    is_key.then(|| finding("airtable", start, run.end))
}

/// An account id followed by its auth token.
fn twilio(bytes: &[u8], run: &Range<usize>) -> Option<SecretMatch> {
    let is_hex = |byte: u8| byte.is_ascii_hexdigit();
    let is_id = run.len() == 34 && bytes[run.start..].starts_with(b"AC");
    let token = length_of(bytes, run.end + 1, 33, is_hex);
    (is_id && token == 32).then(|| finding("twilio", run.end + 1, run.end + 1 + token))
}

/// A bot's number, a colon, 35 characters.
fn telegram(text: ScanText<'_>, run: &Range<usize>) -> Option<SecretMatch> {
    let digits = start_of(text.bytes, text.floor, run.start - 1, 11, |byte| byte.is_ascii_digit());
    let is_token = (32..=40).contains(&run.len()) && text.bytes[run.start..].starts_with(b"AA");
    ((8..=10).contains(&(run.start - 1 - digits)) && is_token).then(|| finding("telegram", digits, run.end))
}

/// `1/number:32 hexadecimal digits`.
fn asana(text: ScanText<'_>, run: &Range<usize>) -> Option<SecretMatch> {
    let digits = start_of(text.bytes, text.floor, run.start - 1, 17, |byte| byte.is_ascii_digit());
    let is_key =
        run.len() == 32 && run.start - 1 - digits >= 15 && ends_with(text.bytes, text.floor, digits, "/");
    is_key.then(|| finding("asana", digits, run.end))
}

/// 14 characters, `.atlasv1.`, the rest.
fn terraform(text: ScanText<'_>, run: &Range<usize>) -> Option<SecretMatch> {
    const MIDDLE: &str = ".atlasv1.";
    if run.len() < 50 || !ends_with(text.bytes, text.floor, run.start, MIDDLE) {
        return None;
    }
    let middle = run.start - MIDDLE.len();
    let start = start_of(text.bytes, text.floor, middle, 16, |byte| byte.is_ascii_alphanumeric());
    Some(finding("terraform", start, run.end))
}

/// A client secret: three characters, a digit, `Q~`, the rest.
fn azure(text: ScanText<'_>, run: &Range<usize>) -> Option<SecretMatch> {
    let is_part = |byte: u8| is_word(byte) || matches!(byte, b'.' | b'~');
    let start = start_of(text.bytes, text.floor, run.start - 2, 4, is_part);
    let has_mark = ends_with(text.bytes, text.floor, run.start, "Q~") && run.start - 2 - start >= 3;
    let end = run.end + length_of(text.bytes, run.end, 64, is_part);
    (has_mark && end - run.start >= 28).then(|| finding("azure", start, end))
}

/// `sdk-` and a UUID, 32 hexadecimal digits and the data centre `-us12`.
fn short_keys(bytes: &[u8], run: &Range<usize>) -> Option<SecretMatch> {
    let value = &bytes[run.clone()];
    if value.len() == 40 && value.starts_with(b"sdk-") && Makeup::of(&value[4..]).is_digest() {
        return Some(finding("launchdarkly", run.start, run.end));
    }
    let is_mailchimp = (36..=38).contains(&value.len()) && value[32..].starts_with(b"-us");
    (is_mailchimp && Makeup::of(&value[..32]).is_digest()).then(|| finding("mailchimp", run.start, run.end))
}

/// The hash of a password in MySQL: a star and 40 hexadecimal digits in capitals.
fn mysql(bytes: &[u8], run: &Range<usize>) -> Option<SecretMatch> {
    let value = &bytes[run.clone()];
    let is_hash = value.len() == 40 && value.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'));
    is_hash.then(|| SecretKind::PASSWORD.at(run.start, run.end))
}

/// `access_token$production$merchant$secret`.
fn braintree(text: ScanText<'_>, run: &Range<usize>) -> Option<SecretMatch> {
    let is_part =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'$' | b'_');
    let start = start_of(text.bytes, text.floor, run.start, 64, is_part);
    let is_key = contains(&text.bytes[start..run.start], "access_token$")
        && Makeup::of(&text.bytes[run.clone()]).is_digest();
    is_key.then(|| finding("braintree", run.start, run.end))
}

fn finding(label: &'static str, start: usize, end: usize) -> SecretMatch {
    SecretKind::of_provider(label).at(start, end)
}
