//! Joins a secret that was broken across lines by a terminal's edge or a fixed line length.
//!
//! Joins only if nothing else is likely: the line was full, and the continuation does not look like a word.

use super::bytes::{byte_at, length_of};
use super::makeup::Makeup;

/// A shorter line was not broken by a terminal or an encoder.
const FULL_LINE: usize = 60;

/// Fewer characters on the next line may be anything.
const LEAST_REST: usize = 8;

/// The end of the secret that reaches `end`, including its continuation on the lines below.
pub fn joined(bytes: &[u8], end: usize, is_part: impl Fn(u8) -> bool) -> usize {
    let mut end = end;
    while let Some(next) = next_line(bytes, end) {
        let length = length_of(bytes, next, usize::MAX, &is_part);
        let rest = &bytes[next..next + length];
        if !is_full(bytes, end)
            || length < LEAST_REST
            || !Makeup::of(rest).continues_secret()
            || goes_on(bytes, next + length)
        {
            break;
        }
        end = next + length;
    }
    end
}

/// The end of the `missing` characters of a fixed-length key, if the next line begins with exactly that many.
pub fn rest_of_length(
    bytes: &[u8],
    end: usize,
    missing: usize,
    is_part: impl Fn(u8) -> bool,
) -> Option<usize> {
    let next = next_line(bytes, end)?;
    let length = length_of(bytes, next, missing.saturating_add(1), is_part);
    (length == missing && !goes_on(bytes, next + length)).then_some(next + length)
}

/// The first character of the next line after its indentation, if this line ends at `end`.
fn next_line(bytes: &[u8], end: usize) -> Option<usize> {
    let rest = bytes.get(end..)?;
    let break_length = [&b"\r\n"[..], b"\n", b"\\r\\n", b"\\n"].iter().find(|it| rest.starts_with(it))?.len();
    let start = end + break_length;
    Some(start + length_of(bytes, start, 16, |byte| byte == b' '))
}

/// Whether the line that ends at `end` is full; one byte counts as one column.
fn is_full(bytes: &[u8], end: usize) -> bool {
    let from = end.saturating_sub(FULL_LINE);
    end >= FULL_LINE && !bytes[from..end].contains(&b'\n')
}

/// Whether the next byte makes the first word of the line a name: `name = …`, `name(…`.
fn goes_on(bytes: &[u8], end: usize) -> bool {
    matches!(byte_at(bytes, end), Some(b'(' | b'[' | b':' | b'{' | b'!' | b'@'))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn key_of_one_length_is_joined_when_the_rest_fits() {
        let id = format!("{}{}", "AKIA", "Z7".repeat(8));
        check(&format!("{}\n{} x", &id[..18], &id[18..]), "[redacted:aws] x");
        let other = format!("{}\n{}XY x", &id[..18], &id[18..]);
        check(&other, &other);
    }

    #[test]
    fn full_lines_are_joined() {
        let key = format!("{}{}", "sk-ant-", "aB3d".repeat(40));
        check(&format!("{}\n{}\n{} x", &key[..70], &key[70..140], &key[140..]), "[redacted:anthropic] x");
    }

    #[test]
    fn next_line_of_words_stays() {
        let key = format!("{}{}", "sk-ant-", "aB3d".repeat(16));
        check(&format!("{key}\nconfiguration follows"), "[redacted:anthropic]\nconfiguration follows");
        check(&format!("{}\nabc12345def", &key[..40]), "[redacted:anthropic]\nabc12345def");
    }
}
