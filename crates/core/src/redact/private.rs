//! Cuts blocks between an opening and a closing marker: text the user marked private, text that Towline injected.
//!
//! Blocks nest; an unclosed block runs to the end of the text; a closing marker alone is ignored. White space may stand
//! wherever a tag allows it. One pass, regardless of the number of markers and of broken ones.

use std::borrow::Cow;
use std::ops::Range;

use super::bytes::{byte_at, length_of, starts_with};
use super::effort::spend;

/// The tag around text that must not be stored. Not closed here: attributes may follow.
pub const OPEN: &str = "<private";
const CLOSE: &str = "</private";
const NAME: &str = "private";

/// Stands for the prompt of a private turn, in the journal and in lists.
pub const HIDDEN: &str = "(private)";

/// Returns `text` without its blocks from `open` to `close` (inclusive, in any case); borrowed if it has none.
///
/// A marker that begins with `<` and does not end with `>` is the head of a tag: `<name` also opens at `<name a="b">`,
/// but not at `<names>`.
pub fn cut_blocks<'a>(text: &'a str, open: &str, close: &str) -> Cow<'a, str> {
    let markers = Markers { open, close };
    let mut out = String::new();
    let mut kept = 0;
    let mut from = 0;
    while let Some(start) = markers.next_open(text.as_bytes(), from) {
        let end = markers.block_end(text.as_bytes(), start);
        out.push_str(&text[kept..start]);
        (kept, from) = (end, end);
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// Whether `text` is empty without its private blocks. Then nothing of the turn that it begins is recorded.
pub fn is_wholly_private(text: &str) -> bool {
    let text = text.trim_matches(is_blank);
    text.starts_with('<') && without_private(text).trim_matches(is_blank).is_empty()
}

/// Returns `text` without its private blocks.
pub fn without_private(text: &str) -> Cow<'_, str> {
    match tight_tags(text) {
        Cow::Borrowed(text) => cut_blocks(text, OPEN, CLOSE),
        Cow::Owned(text) => Cow::Owned(cut_blocks(&text, OPEN, CLOSE).into_owned()),
    }
}

/// White space and invisible marks, which a paste may bring along.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200d}')
}

/// Returns `text` with `< private>` and `</ private>` written as `<private>` and `</private>`: everything else looks for
/// these. Borrowed if it has none.
pub fn tight_tags(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut kept, mut from) = (0, 0);
    while let Some(found) = text[from..].find('<') {
        let start = from + found;
        from = start + 1;
        if let Some(name) = loose_tag(text.as_bytes(), start) {
            out.push_str(&text[kept..from]);
            out.push_str(if text[from..name].contains('/') { "/" } else { "" });
            (kept, from) = (name, name);
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// Longer white space and attributes do not belong to a tag.
const LONGEST_TAG: usize = 256;

/// The start of the name in a tag with white space before it. Unless the text begins with it, such a tag must be complete,
/// with nothing but attributes: `a < private` is a comparison.
fn loose_tag(bytes: &[u8], start: usize) -> Option<usize> {
    let blanks = |at: usize| at + length_of(bytes, at, LONGEST_TAG, |byte| byte.is_ascii_whitespace());
    let first = blanks(start + 1);
    let name = if byte_at(bytes, first) == Some(b'/') { blanks(first + 1) } else { first };
    let is_loose = bytes[start + 1..name.min(bytes.len())].iter().any(u8::is_ascii_whitespace);
    if !is_loose || !starts_with(bytes, name, NAME) {
        return None;
    }
    let end = name + NAME.len();
    let rest = length_of(bytes, end, LONGEST_TAG, |byte| !matches!(byte, b'<' | b'>'));
    let attributes = &bytes[end..end + rest];
    let is_whole_name = attributes.first().is_none_or(u8::is_ascii_whitespace);
    let is_complete = byte_at(bytes, end + rest) == Some(b'>')
        && (attributes.contains(&b'=') || attributes.iter().all(u8::is_ascii_whitespace));
    let begins_text = start < LONGEST_TAG && bytes[..start].iter().all(u8::is_ascii_whitespace);
    (is_whole_name && (is_complete || begins_text)).then_some(name)
}

/// The end of the private block that opens at `start`; `None` if no block opens there.
pub fn private_end(bytes: &[u8], start: usize) -> Option<usize> {
    let markers = Markers { open: OPEN, close: CLOSE };
    markers.opens(bytes, start).then(|| markers.block_end(bytes, start))
}

struct Markers<'a> {
    open: &'a str,
    close: &'a str,
}

impl Markers<'_> {
    fn next_open(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let first = *self.open.as_bytes().first()?;
        (from..bytes.len()).find(|at| bytes[*at].eq_ignore_ascii_case(&first) && self.opens(bytes, *at))
    }

    fn opens(&self, bytes: &[u8], start: usize) -> bool {
        let end = start + self.open.len();
        starts_with(bytes, start, self.open)
            && (!is_tag_head(self.open) || (opens_a_tag(bytes, end) && !is_of_code(bytes, start..end)))
    }

    /// The end of the marker that closes the block opened at `start`, or the end of the text.
    fn block_end(&self, bytes: &[u8], start: usize) -> usize {
        let mut depth = 1_usize;
        let mut from = start + self.open.len();
        while from < bytes.len() {
            spend(1);
            if self.opens(bytes, from) {
                depth += 1;
                from += self.open.len();
            } else if let Some(end) = self.close_end(bytes, from) {
                depth -= 1;
                if depth == 0 {
                    return end;
                }
                from = end;
            } else {
                from += 1;
            }
        }
        bytes.len()
    }

    fn close_end(&self, bytes: &[u8], start: usize) -> Option<usize> {
        let end = start + self.close.len();
        if self.close.is_empty() || !starts_with(bytes, start, self.close) {
            return None;
        }
        if !is_tag_head(self.close) {
            return Some(end);
        }
        let bracket = end + length_of(bytes, end, usize::MAX, |byte| byte.is_ascii_whitespace());
        (byte_at(bytes, bracket) == Some(b'>')).then_some(bracket + 1)
    }
}

fn is_tag_head(marker: &str) -> bool {
    marker.starts_with('<') && !marker.ends_with('>')
}

/// Whether the tag's name ends here, so that it is neither a longer name nor an empty element.
fn opens_a_tag(bytes: &[u8], end: usize) -> bool {
    match byte_at(bytes, end) {
        None | Some(b'>') => true,
        Some(byte) => byte.is_ascii_whitespace(),
    }
}

/// Whether the tag is a type parameter (`Local<Private>`) or only mentioned (`` `<private>` ``).
fn is_of_code(bytes: &[u8], tag: Range<usize>) -> bool {
    let before = tag.start.checked_sub(1).map_or(b' ', |before| bytes[before]);
    let is_capital = bytes[tag.clone()].iter().any(u8::is_ascii_uppercase);
    let is_parameter = is_capital && (before.is_ascii_alphanumeric() || matches!(before, b'_' | b':'));
    let is_spoken_of = before == b'`' && bytes[tag.end..].starts_with(b">`");
    is_parameter || is_spoken_of
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::redact;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(cut_blocks(text, OPEN, CLOSE), expected, "{text}");
    }

    #[test]
    fn text_without_blocks_is_borrowed() {
        assert!(matches!(cut_blocks("a <b> c", OPEN, CLOSE), Cow::Borrowed(_)));
    }

    #[test]
    fn blocks_nest_in_any_case_and_with_attributes() {
        check("a <private>b <PRIVATE>c</private> d</Private> e", "a  e");
        check("a <private why=\"x\">b</private > c", "a  c");
        check("<private>a</private>b<private>c</private>", "b");
    }

    #[test]
    fn unclosed_block_runs_to_the_end() {
        check("a <private>b <private>c</private> d", "a ");
        check("a <private b", "a ");
        check("a <private", "a ");
    }

    #[test]
    fn closing_tag_alone_and_other_names_stay() {
        for text in [
            "a </private> b",
            "<privateer>a</privateer>",
            "<private/>a",
            "public < private < internal > none",
            "a < private",
            "a < privateer>b",
            "the tag `<private>` is",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn white_space_may_stand_wherever_a_tag_allows_it() {
        for text in [
            "a < private>b</private>c",
            "a <\n private\t>b</ private >c",
            "a <private\n>b< /\nPRIVATE\n>c",
            "a < Private why = \"x\" >b</private>c",
        ] {
            assert_eq!(without_private(text), "a c", "{text}");
            assert_eq!(redact(text), "a [redacted:private]c", "{text}");
        }
        assert_eq!(without_private("a < private >b"), "a ", "unclosed");
    }

    #[test]
    fn parameters_of_types_stay() {
        for text in ["static Local<Private> New(Isolate*);", "foo::<Private>()", "C<Private Use>"] {
            check(text, text);
        }
        check("a<private>b</private>", "a");
    }

    #[test]
    fn blocks_between_any_markers_are_cut() {
        assert_eq!(cut_blocks("a[[b[[c]]d]]e", "[[", "]]"), "ae");
        assert_eq!(cut_blocks("é<x>ü</X>ß", "<x>", "</x>"), "éß");
        assert_eq!(cut_blocks("a", "", ""), "a");
    }

    #[test]
    fn prompt_of_nothing_but_private_parts_is_wholly_private() {
        assert!(is_wholly_private(" <private>a</private>\n<PRIVATE>b"));
        for text in [
            "< private>a",
            "< private a",
            "<private\n>a</private\n>",
            "\u{feff}<PRIVATE >a</ Private>\u{200b}\n",
        ] {
            assert!(is_wholly_private(text), "{text}");
        }
        assert!(!is_wholly_private("<private>a</private> b"));
        assert!(!is_wholly_private("  ") && !is_wholly_private(""));
    }
}
