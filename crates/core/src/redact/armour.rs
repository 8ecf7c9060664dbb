//! Finds armoured private keys: PEM, OpenSSH, PGP, PuTTY, on several lines or in one string with escaped line breaks.
//!
//! A block ends at the last line that looks like key material, so a mere mention of a header removes nothing else. Key
//! lines before a lone END line are removed too. Certificates and public keys are not secrets.

use super::bytes::{ScanText, byte_at, contains, is_word, length_of, start_of, starts_with};
use super::kind::{SecretKind, SecretMatch};
use super::makeup::Makeup;

/// A block is secret if its title contains one of these.
const TITLES: [&str; 2] = ["PRIVATE KEY", "OpenVPN Static key"];

const LONGEST_TITLE: usize = 64;

/// Without this bound every mentioned header could scan to the end of the text.
const MOST_HEADERS: usize = 8;

/// Minimum length of a line of a block, except the last.
const LINE: usize = 16;

/// A tail whose BEGIN line is missing must have one line at least this long.
const SURE_LINE: usize = 32;

/// Finds `-----BEGIN … PRIVATE KEY-----` and the lines after it, or the lines before a lone `-----END …`.
pub fn block(text: ScanText<'_>, here: usize) -> Option<SecretMatch> {
    if byte_at(text.bytes, here + 1) != Some(b'-') {
        return None;
    }
    let title = title_at(text.bytes, here)?;
    if title.is_end {
        let start = tail_start(text, here)?;
        return Some(SecretKind::PRIVATE_KEY.at(start, title.end));
    }
    let end = body_end(text.bytes, title.end)?;
    Some(SecretKind::PRIVATE_KEY.at(here, end))
}

/// The end of the key lines that start at `from`; `None` if there are none.
pub fn body_end(bytes: &[u8], from: usize) -> Option<usize> {
    let (mut here, mut headers, mut end) = (from, 0, None);
    loop {
        here = skip_trimmings(bytes, here);
        if let Some(title) = title_at(bytes, here).filter(|title| title.is_end) {
            return end.map(|_| title.end);
        }
        if end.is_none()
            && headers < MOST_HEADERS
            && let Some(after) = header_line(bytes, here)
        {
            (here, headers) = (after, headers + 1);
            continue;
        }
        let length = length_of(bytes, here, usize::MAX, is_armour);
        let is_last = || {
            let next = skip_trimmings(bytes, here + length);
            next >= bytes.len() || title_at(bytes, next).is_some()
        };
        if length < LINE && (length == 0 || !is_last()) {
            return end;
        }
        here += length;
        end = Some(here);
    }
}

struct Title {
    end: usize,
    is_end: bool,
}

/// Parses `-----BEGIN X-----` or `---- END X ----` of a secret block.
fn title_at(bytes: &[u8], here: usize) -> Option<Title> {
    let dashes = length_of(bytes, here, usize::MAX, |byte| byte == b'-');
    if dashes < 4 {
        return None;
    }
    let word = here + dashes + usize::from(byte_at(bytes, here + dashes) == Some(b' '));
    let is_end = starts_with(bytes, word, "END ");
    if !is_end && !starts_with(bytes, word, "BEGIN ") {
        return None;
    }
    let length = length_of(bytes, word, LONGEST_TITLE, |byte| byte.is_ascii_alphanumeric() || byte == b' ');
    if !TITLES.iter().any(|title| contains(&bytes[word..word + length], title)) {
        return None;
    }
    let closing = length_of(bytes, word + length, 5, |byte| byte == b'-');
    (closing >= 4).then_some(Title { end: word + length + closing, is_end })
}

fn is_armour(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Skips the text between key lines: line breaks (raw or escaped), quotes, and the prefixes of diffs, comments and
/// listings.
fn skip_trimmings(bytes: &[u8], from: usize) -> usize {
    let mut here = from;
    while let Some(byte) = byte_at(bytes, here) {
        here += match byte {
            b'-' if byte_at(bytes, here + 1) != Some(b'-') => 1,
            b'+' if byte_at(bytes, here + 1).is_some_and(|next| !is_armour(next)) => 1,
            // The `-` of a diff before the dashes of the END line.
            b'-' if title_at(bytes, here).is_none() && title_at(bytes, here + 1).is_some() => 1,
            b'\\' => escape_length(bytes, here),
            b'"' | b'\'' | b'`' | b'#' | b'*' | b'>' | b'|' | b',' | b';' | b'(' | b')' => 1,
            _ if byte.is_ascii_whitespace() => 1,
            _ => match number_length(bytes, here) {
                0 => return here,
                length => length,
            },
        };
    }
    here
}

/// The length of the backslashes and of the letter of an escaped line break or tab.
fn escape_length(bytes: &[u8], here: usize) -> usize {
    let slashes = length_of(bytes, here, usize::MAX, |byte| byte == b'\\');
    slashes + usize::from(matches!(byte_at(bytes, here + slashes), Some(b'n' | b'r' | b't')))
}

/// The length of a line number in a listing: `12<tab>`, `12→`, `12:`, `12 |`.
fn number_length(bytes: &[u8], here: usize) -> usize {
    let digits = length_of(bytes, here, 6, |byte| byte.is_ascii_digit());
    let rest = bytes.get(here + digits..).unwrap_or_default();
    let marks = ["\t", "\u{2192}", ":", " |"];
    match marks.iter().find(|mark| rest.starts_with(mark.as_bytes())) {
        Some(mark) if digits > 0 => digits + mark.len(),
        Some(_) | None => 0,
    }
}

/// Parses `Proc-Type: 4,ENCRYPTED` and similar headers; returns the end of that line.
fn header_line(bytes: &[u8], here: usize) -> Option<usize> {
    let name = length_of(bytes, here, 24, is_word);
    if name < 4 || byte_at(bytes, here + name) != Some(b':') || byte_at(bytes, here + name + 1) != Some(b' ')
    {
        return None;
    }
    let value = length_of(bytes, here + name, 120, |byte| !matches!(byte, b'\n' | b'\\'));
    let end = here + name + value;
    matches!(byte_at(bytes, end), Some(b'\n' | b'\\')).then_some(end)
}

/// The start of the lines that end right before `end`, if they can only be key material.
fn tail_start(text: ScanText<'_>, end: usize) -> Option<usize> {
    let is_between =
        |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'\\' | b'"' | b'\'' | b'-' | b'>');
    let (mut start, mut longest, mut lines) = (end, 0, 0);
    loop {
        let line_end = start_of(text.bytes, text.floor, start, usize::MAX, is_between);
        let line = start_of(text.bytes, text.floor, line_end, usize::MAX, is_armour);
        let length = line_end - line;
        // The last line may be short, and the letter of an escaped line break counts as part of it.
        let is_cut = || Makeup::of(&text.bytes[line..line_end]).is_mixed();
        if length == 0 || (length < LINE && lines > 1 && !is_cut()) {
            break;
        }
        (start, longest, lines) = (line, longest.max(length), lines + 1);
    }
    (longest >= SURE_LINE).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::super::redact;

    /// Lines that look like a key but are not one.
    fn lines(count: usize, between: &str) -> String {
        vec!["MIIEpAIBAAKCAQEAx7k".repeat(3); count].join(between)
    }

    fn armoured(title: &str, body: &str, between: &str) -> String {
        let dashes = "-".repeat(5);
        format!("{dashes}BEGIN {title}{dashes}{between}{body}{between}{dashes}END {title}{dashes}")
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(redact(text), expected, "{text}");
    }

    #[test]
    fn keys_are_cut_whatever_breaks_their_lines() {
        for between in [
            "\n",
            "\r\n",
            "\\n",
            "\\\\n",
            " ",
            "\n    ",
            "\n+",
            "\n-",
            "\n> ",
            "\n+> ",
            "\" +\n\"",
            "\n  12\u{2192}",
        ] {
            let key = armoured("RSA PRIVATE KEY", &lines(3, between), between);
            check(&format!("x {key} y"), "x [redacted:private-key] y");
        }
    }

    #[test]
    fn headers_and_short_lines_belong_to_the_key() {
        let body = format!("Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n{}\nab==", lines(2, "\n"));
        check(&armoured("RSA PRIVATE KEY", &body, "\n"), "[redacted:private-key]");
        check(&armoured("PGP PRIVATE KEY BLOCK", "abc", "\n"), "[redacted:private-key]");
    }

    #[test]
    fn unclosed_key_ends_where_its_lines_end() {
        let key = armoured("PRIVATE KEY", &lines(3, "\n"), "\n");
        let head = key.split("\n--").next().unwrap_or_default();
        check(&format!("{head}\nand so on, it said."), "[redacted:private-key]\nand so on, it said.");
    }

    #[test]
    fn tail_of_a_key_is_cut() {
        for between in ["\n", "\\n"] {
            let key = armoured("PRIVATE KEY", &lines(3, between), between);
            let tail = &key[key.len() - 100..];
            check(&format!("some words: {tail}"), "some words: [redacted:private-key]");
        }
    }

    #[test]
    fn text_that_mentions_a_key_header_is_kept() {
        let dashes = "-".repeat(5);
        for text in [
            format!("look for {dashes}BEGIN PRIVATE KEY{dashes} and read on"),
            format!(
                "if s.contains(\"{dashes}BEGIN PRIVATE KEY{dashes}\") {{ f(\"{dashes}END PRIVATE KEY{dashes}\") }}"
            ),
            armoured("CERTIFICATE", &lines(3, "\n"), "\n"),
        ] {
            check(&text, &text);
        }
    }
}
