//! Where a value begins and ends: in quotes of any kind, escaped or encoded, or bare.
//!
//! Measures only. Looks no further than `PROBE` to let a value be judged; the rest is measured once it is accepted.

use super::bytes::{at, is_gap, is_quote, length_of};
use super::effort::spend;

/// So much of a value is enough to judge it.
pub const PROBE: usize = 256;

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quoting {
    /// Between two of this byte, each with so many backslashes before it.
    Quoted { quote: u8, escapes: usize },
    /// Between typographic or encoded quotes, or `<` and `>`.
    Fenced { close: &'static str },
    /// Up to what cannot be part of a value in code, addresses and sentences.
    Bare,
    /// Up to the next blank.
    ToBlank,
    /// Up to the end of the line.
    ToLineEnd,
    /// Up to the end of the line or of the string that the line stands in; quotes may be part of it.
    Header,
}

/// A value that was found, as far as it was looked at.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub start: usize,
    /// The end, or as far as the probe went.
    pub probed: usize,
    pub quoting: Quoting,
}

/// Quotes that are more than one byte, and what closes them.
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

/// Most blanks between a separator and its value.
const GAP: usize = 16;

impl Extent {
    /// The value behind a separator that ends at `from`; bare ones are measured as `bare` says.
    pub fn behind(bytes: &[u8], from: usize, bare: Quoting) -> Extent {
        let from = from + length_of(bytes, from, GAP, is_gap);
        let (start, quoting) = opening(bytes, from).unwrap_or((from, bare));
        Extent { start, probed: end_of(bytes, start, PROBE, quoting), quoting }
    }

    /// The value in quotes at `from`, if a quote is there.
    pub fn in_quotes(bytes: &[u8], from: usize) -> Option<Extent> {
        let from = from + length_of(bytes, from, GAP, is_gap);
        let (start, quoting) = opening(bytes, from)?;
        Some(Extent { start, probed: end_of(bytes, start, PROBE, quoting), quoting })
    }

    pub fn probe<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start..self.probed]
    }

    pub fn is_bare(&self) -> bool {
        match self.quoting {
            Quoting::Quoted { .. } | Quoting::Fenced { .. } => false,
            Quoting::Bare | Quoting::ToBlank | Quoting::ToLineEnd | Quoting::Header => true,
        }
    }

    /// The real end. Costs the length of the value: ask only for what is taken.
    pub fn end(&self, bytes: &[u8]) -> usize {
        end_of(bytes, self.start, usize::MAX, self.quoting)
    }
}

/// A quote at `from`, with the prefix that a language may want before it and the backslashes of strings in strings.
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
        let quote = at(bytes, from + prefix + escapes).filter(|byte| is_quote(*byte))?;
        Some((from + prefix + escapes + 1, Quoting::Quoted { quote, escapes }))
    })
}

fn end_of(bytes: &[u8], start: usize, most: usize, quoting: Quoting) -> usize {
    let is_line = |byte: u8| !matches!(byte, b'\n' | b'\r');
    let end = match quoting {
        Quoting::Quoted { quote, escapes } => quoted_end(bytes, start, most, (quote, escapes)),
        Quoting::Fenced { close } => fenced_end(bytes, start, most, close),
        Quoting::Bare => bare_end(bytes, start, most, is_bare_part),
        Quoting::ToBlank => bare_end(bytes, start, most, |byte| byte > b' ' && byte != 0x7f),
        Quoting::Header => header_end(bytes, start, most),
        Quoting::ToLineEnd => start + length_of(bytes, start, most, is_line),
    };
    spend(end - start);
    end
}

/// At the quote that closes: with no more backslashes than the opening one, or with an even number of its own on top.
fn quoted_end(bytes: &[u8], start: usize, most: usize, (quote, escapes): (u8, usize)) -> usize {
    let mut slashes = 0_usize;
    for (offset, byte) in bytes[start..].iter().enumerate().take(most) {
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
    bytes.len().min(start.saturating_add(most))
}

fn fenced_end(bytes: &[u8], start: usize, most: usize, close: &str) -> usize {
    let rest = &bytes[start..];
    let is_end = |offset: usize| rest[offset] == b'\n' || rest[offset..].starts_with(close.as_bytes());
    start + (0..rest.len().min(most)).find(|offset| is_end(*offset)).unwrap_or(rest.len().min(most))
}

/// A quote behind `=` is a parameter's; any other ends the string around the header.
fn header_end(bytes: &[u8], start: usize, most: usize) -> usize {
    let last = bytes.len().min(start.saturating_add(most));
    let mut parameter = false;
    for here in start..last {
        match bytes[here] {
            b'\n' | b'\r' => return here,
            b'\\' if matches!(at(bytes, here + 1), Some(b'n' | b'r' | b'"')) => return here,
            b'"' | b'\'' if parameter => parameter = false,
            b'"' | b'\'' if here > start && bytes[here - 1] == b'=' => parameter = true,
            b'"' | b'\'' | b'`' => return here,
            _ => {}
        }
    }
    last
}

fn is_bare_part(byte: u8) -> bool {
    byte > b' '
        && byte != 0x7f
        && !matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'&' | b'|')
        && !matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>')
}

/// Bare values end where an escaped break or quote of the string around them stands, too.
fn bare_end(bytes: &[u8], start: usize, most: usize, is_part: impl Fn(u8) -> bool) -> usize {
    let mut here = start;
    let last = bytes.len().min(start.saturating_add(most));
    while here < last && is_part(bytes[here]) && !is_quote(bytes[here]) {
        if bytes[here] == b'\\' {
            let slashes = length_of(bytes, here, last - here, |byte| byte == b'\\');
            let ends = |byte: u8| matches!(byte, b'n' | b'r' | b't' | b'u') || is_quote(byte);
            if at(bytes, here + slashes).is_none_or(ends) {
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
            (at(bytes, here + 1), at(bytes, here + 2)),
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
        let extent = Extent::behind(text.as_bytes(), 0, Quoting::Bare);
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
