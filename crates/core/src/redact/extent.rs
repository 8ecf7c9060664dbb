//! Measures where a value begins and ends: in quotes of any kind, escaped or encoded, or bare.
//!
//! Does not judge values. Inspects at limit `PROBE` bytes until the value is accepted, and the rest only then.

use super::bytes::{byte_at, is_gap, is_quote, length_of};
use super::effort::spend;

/// This much of a value is enough to judge it.
pub const PROBE: usize = 256;

/// How a value is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quoting {
    /// Between two of this byte, each preceded by `escapes` backslashes.
    Quoted { quote: u8, escapes: usize },
    /// Between typographic or encoded quotes, or `<` and `>`.
    Fenced { close: &'static str },
    /// Up to a byte that cannot be part of a value in code, addresses and sentences.
    Bare,
    /// Up to the next blank.
    ToBlank,
    /// Up to the end of the line.
    ToLineEnd,
    /// Up to the end of the line or of the string that contains it; quotes may be part of the value.
    Header,
}

/// A value, measured as far as the probe went.
#[derive(Clone, Copy, Debug)]
pub struct ValueExtent {
    pub start: usize,
    /// The end of the value, or of the probe.
    pub probed: usize,
    pub quoting: Quoting,
}

/// Opening quotes of more than one byte, with the text that closes them.
const FENCES: [(&str, &str); 8] = [
    ("\u{201c}", "\u{201d}"),
    ("\u{2018}", "\u{2019}"),
    ("\u{ab}", "\u{bb}"),
    ("&quot;", "&"),
    ("&#34;", "&"),
    ("&#39;", "&"),
    ("%22", "%"),
    ("%27", "%"),
];

/// Maximum number of blanks between a separator and its value.
const GAP: usize = 16;

impl ValueExtent {
    /// The value after a separator that ends at `from`; `bare` says how an unquoted one is measured.
    pub fn after(bytes: &[u8], from: usize, bare: Quoting) -> ValueExtent {
        let from = from + length_of(bytes, from, GAP, is_gap);
        let (start, quoting) = opening(bytes, from).unwrap_or((from, bare));
        ValueExtent { start, probed: end_of(bytes, start, PROBE, quoting), quoting }
    }

    /// The quoted value at `from`, if a quote is there.
    pub fn in_quotes(bytes: &[u8], from: usize) -> Option<ValueExtent> {
        let from = from + length_of(bytes, from, GAP, is_gap);
        let (start, quoting) = opening(bytes, from)?;
        Some(ValueExtent { start, probed: end_of(bytes, start, PROBE, quoting), quoting })
    }

    pub fn probe<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start..self.probed]
    }

    pub fn is_bare(&self) -> bool {
        !matches!(self.quoting, Quoting::Quoted { .. } | Quoting::Fenced { .. })
    }

    /// The real end. Costs the length of the value: call it only for accepted values.
    pub fn end(&self, bytes: &[u8]) -> usize {
        end_of(bytes, self.start, usize::MAX, self.quoting)
    }
}

/// The quote at `from`, after the prefix of a string literal (`r#`) and the backslashes of nested strings.
fn opening(bytes: &[u8], from: usize) -> Option<(usize, Quoting)> {
    let rest = bytes.get(from..)?;
    if let Some((open, close)) = FENCES.iter().find(|(open, _)| rest.starts_with(open.as_bytes())) {
        return Some((from + open.len(), Quoting::Fenced { close }));
    }
    let prefix = length_of(bytes, from, 3, |byte| {
        matches!(byte, b'r' | b'b' | b'f' | b'u' | b'L' | b'@' | b'$' | b'#')
    });
    [prefix, 0].into_iter().find_map(|prefix| {
        let escapes = length_of(bytes, from + prefix, 16, |byte| byte == b'\\');
        let quote = byte_at(bytes, from + prefix + escapes).filter(|byte| is_quote(*byte))?;
        Some((from + prefix + escapes + 1, Quoting::Quoted { quote, escapes }))
    })
}

fn end_of(bytes: &[u8], start: usize, limit: usize, quoting: Quoting) -> usize {
    let is_line = |byte: u8| !matches!(byte, b'\n' | b'\r');
    let end = match quoting {
        Quoting::Quoted { quote, escapes } => quoted_end(bytes, start, limit, quote, escapes),
        Quoting::Fenced { close } => fenced_end(bytes, start, limit, close),
        Quoting::Bare => bare_end(bytes, start, limit, is_bare_part),
        Quoting::ToBlank => bare_end(bytes, start, limit, |byte| byte > b' ' && byte != 0x7f),
        Quoting::Header => header_end(bytes, start, limit),
        Quoting::ToLineEnd => start + length_of(bytes, start, limit, is_line),
    };
    spend(end - start);
    end
}

/// The closing quote: it has at limit as many backslashes as the opening one, or an even number of its own on top.
fn quoted_end(bytes: &[u8], start: usize, limit: usize, quote: u8, escapes: usize) -> usize {
    let mut slashes = 0_usize;
    for (offset, byte) in bytes[start..].iter().enumerate().take(limit) {
        match byte {
            b'\\' => slashes += 1,
            b'\n' | b'\r' => return start + offset,
            byte if *byte == quote => {
                let is_close = slashes <= escapes || (slashes - escapes).is_multiple_of(2 * (escapes + 1));
                if is_close {
                    return start + offset - slashes.min(escapes);
                }
                slashes = 0;
            }
            _ => slashes = 0,
        }
    }
    bytes.len().min(start.saturating_add(limit))
}

fn fenced_end(bytes: &[u8], start: usize, limit: usize, close: &str) -> usize {
    let rest = &bytes[start..];
    let is_end = |offset: usize| rest[offset] == b'\n' || rest[offset..].starts_with(close.as_bytes());
    start + (0..rest.len().min(limit)).find(|offset| is_end(*offset)).unwrap_or(rest.len().min(limit))
}

/// A quote after `=` belongs to a parameter; any other ends the string around the header.
fn header_end(bytes: &[u8], start: usize, limit: usize) -> usize {
    let last = bytes.len().min(start.saturating_add(limit));
    let mut parameter = false;
    for here in start..last {
        match bytes[here] {
            b'\n' | b'\r' => return here,
            // In a string of JSON, each quote of a parameter has a backslash.
            b'\\' if parameter || here > start && bytes[here - 1] == b'=' => {}
            b'\\' if matches!(byte_at(bytes, here + 1), Some(b'n' | b'r' | b'"')) => return here,
            b'"' | b'\'' if parameter => parameter = false,
            b'"' | b'\'' if here > start + 1 && opens_parameter(&bytes[here - 2..here]) => parameter = true,
            b'"' | b'\'' | b'`' => return here,
            _ => {}
        }
    }
    last
}

/// `="` or `=\"`.
fn opens_parameter(before: &[u8]) -> bool {
    before[1] == b'=' || before == b"=\\"
}

fn is_bare_part(byte: u8) -> bool {
    byte > b' '
        && byte != 0x7f
        && !matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'&' | b'|')
        && !matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>')
}

/// A bare value also ends at an escaped line break or quote of the string around it.
fn bare_end(bytes: &[u8], start: usize, limit: usize, is_part: impl Fn(u8) -> bool) -> usize {
    let mut here = start;
    let last = bytes.len().min(start.saturating_add(limit));
    while here < last && is_part(bytes[here]) && !is_quote(bytes[here]) {
        if bytes[here] == b'\\' {
            let slashes = length_of(bytes, here, last - here, |byte| byte == b'\\');
            let ends = |byte: u8| matches!(byte, b'n' | b'r' | b't' | b'u') || is_quote(byte);
            if byte_at(bytes, here + slashes).is_none_or(ends) {
                return here;
            }
            here += slashes;
        } else if is_encoded_end(bytes, here) {
            return here;
        } else {
            here += 1;
        }
    }
    here
}

/// `%26`, `%22`, `%20`, `%0A`: the end of a value in an address inside an address.
fn is_encoded_end(bytes: &[u8], here: usize) -> bool {
    bytes[here] == b'%'
        && matches!(
            (byte_at(bytes, here + 1), byte_at(bytes, here + 2)),
            (Some(b'2'), Some(b'6' | b'2' | b'0' | b'7' | b'C' | b'c'))
                | (Some(b'0'), _)
                | (Some(b'7'), Some(b'D' | b'd'))
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let extent = ValueExtent::after(text.as_bytes(), 0, Quoting::Bare);
        let end = extent.end(text.as_bytes());
        assert_eq!(&text[extent.start..end], expected, "{text}");
        assert_eq!(end, extent.probed, "short values are probed whole");
    }

    #[test]
    fn quoted_values_end_at_their_own_quote() {
        check(r#""a b" c"#, "a b");
        check(r#""a \" b" c"#, r#"a \" b"#);
        check(r#""a\\" b"#, r#"a\\"#);
        check(r#"\"a b\", \"c"#, "a b");
        check(r#"\\\"a\\\", \\\"c"#, "a");
        check(r#"\"a" b"#, "a");
        check("r#\"a\"#", "a");
        check("\u{201c}a b\u{201d} c", "a b");
        check("&quot;ab&quot; c", "ab");
        check("%22ab%22%7D", "ab");
    }

    #[test]
    fn bare_values_end_at_what_code_and_sentences_end_them() {
        for (text, expected) in [
            ("ab c", "ab"),
            ("ab;c", "ab"),
            ("ab&c", "ab"),
            ("ab)", "ab"),
            (r"ab\nc", "ab"),
            (r"a\b", r"a\b"),
            ("ab%26c", "ab"),
        ] {
            check(text, expected);
        }
    }
}
