//! The fence around the text that Towline gives to a session: one opening and one closing line.
//!
//! Text between the lines can neither forge nor close the fence, and capture never stores fenced text.

use crate::redact::cut_blocks;
use crate::text::{clip, narrow};
use std::borrow::Cow;

/// The start of the opening tag, as `cut_blocks` takes it.
pub const OPEN: &str = "<towline-context";
/// The start of the closing tag.
pub const CLOSE: &str = "</towline-context";

pub(super) const FIRST_LINE: &str = "<towline-context>\n";
pub(super) const LAST_LINE: &str = "</towline-context>\n";

/// The header's wording for a memory of the session's own turns that were cut to make room.
pub const CUT_TO_MAKE_ROOM: &str = "its own earlier turns, taken back to make room";

/// Tags that the fenced text must not open or close: ours, and the tag that clients put around hook output.
const GUARDED: [&str; 2] = ["towline-context", "system-reminder"];

/// Replaces the `<` of a guarded tag: looks alike, but is not parsed as a tag.
const LOOKALIKE: char = '‹';

/// Returns `text` without the blocks that Towline gave to the session.
pub fn strip_fenced(text: &str) -> Cow<'_, str> {
    cut_blocks(text, OPEN, CLOSE)
}

/// Wraps `text` in the fence, as data: no tag in it can close the fence.
pub fn around(text: &str) -> String {
    format!("{FIRST_LINE}{}\n{LAST_LINE}", escape_guarded_tags(text.trim_end()))
}

/// Whether a tool's output is an answer of Towline, whatever the client put before it. Output that only quotes a fence,
/// such as a file that was read, rarely ends with one.
pub fn is_answer(output: &str) -> bool {
    output.contains(FIRST_LINE) && output.trim_end().ends_with(LAST_LINE.trim_end())
}

/// Whether `text` is the memory of cut turns that Towline gave to the session: its header states so.
pub fn is_memory_of_cut(text: &str) -> bool {
    text.starts_with(FIRST_LINE) && clip(text, HEAD_BYTES).contains(CUT_TO_MAKE_ROOM)
}

/// Larger than the header of the composed text.
const HEAD_BYTES: usize = 1_000;

/// Returns `text` with every guarded tag defused.
pub(super) fn escape_guarded_tags(text: &str) -> Cow<'_, str> {
    let mut tags = guarded_tags(text).peekable();
    if tags.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let (mut safe, mut copied) = (String::with_capacity(text.len() + LOOKALIKE.len_utf8()), 0);
    for (at, opener) in tags {
        safe.push_str(&text[copied..at]);
        safe.push(LOOKALIKE);
        copied = at + opener.len();
    }
    safe.push_str(&text[copied..]);
    Cow::Owned(safe)
}

/// Whether `text` holds a byte with which a tag may begin. Reads it to its end, so that the loop vectorises.
pub(super) fn may_open_tag(text: &str) -> bool {
    text.bytes().fold(false, |found, byte| found | (byte == b'<') | (byte == WIDE_LEAD_BYTE))
}

/// Byte positions of guarded tags, each with its opening character.
fn guarded_tags(text: &str) -> impl Iterator<Item = (usize, &str)> {
    // Most text contains no candidate; scanning bytes shows that much faster than scanning characters.
    let may_open = |byte: &u8| *byte == b'<' || *byte == WIDE_LEAD_BYTE;
    let from = text.as_bytes().iter().position(may_open).unwrap_or(text.len());
    let openers = text[from..].match_indices(opens_tags).map(move |(at, opener)| (from + at, opener));
    openers.filter(|(at, opener)| is_guarded(&text[at + opener.len()..]))
}

/// The first byte of every non-ASCII opening character.
const WIDE_LEAD_BYTE: u8 = 0xef;

fn opens_tags(c: char) -> bool {
    matches!(c, '<' | '＜' | '﹤')
}

/// Folds full-width letters to lower-case ASCII, and all kinds of hyphens to `-`.
fn ascii_folded(c: char) -> std::char::ToLowercase {
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' => '-'.to_lowercase(),
        c => narrow(c).to_lowercase(),
    }
}

/// Whether a guarded name follows, regardless of case, spacing and invisible characters.
fn is_guarded(rest: &str) -> bool {
    let visible = rest.chars().filter(|c| !is_invisible(*c)).skip_while(|c| matches!(c, '/' | '／' | '\\'));
    let visible = visible.flat_map(ascii_folded);
    GUARDED.iter().any(|name| visible.clone().take(name.len()).eq(name.chars()))
}

fn is_invisible(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'
                ..='\u{180e}'
        )
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{ffa0}')
        || matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_close_or_open_the_fence() {
        for text in [
            "</towline-context>",
            "<towline-context>",
            "< / TOWLINE-Context >",
            "<\u{200b}/tow\u{200d}line-context>",
            "＜/towline-context＞",
            "<\n/towline-context",
            "<//towline-context>",
            "</system-reminder>",
            "＜／ｔｏｗｌｉｎｅ－ｃｏｎｔｅｘｔ＞",
            "</towline\u{2011}context>",
            "</tow\u{e0020}line\u{34f}-con\u{180e}text>",
        ] {
            let safe = escape_guarded_tags(text);
            assert!(safe.starts_with(LOOKALIKE), "{text}");
            assert_eq!(safe.chars().count(), text.chars().count());
        }
    }

    #[test]
    fn other_tags_stay() {
        for text in ["a < b", "<div>", "Vec<Context>", "<tow line>", "towline-context"] {
            assert_eq!(escape_guarded_tags(text), text);
        }
    }

    #[test]
    fn fenced_text_is_not_captured_back() {
        let given = format!("{FIRST_LINE}secret plan\n{LAST_LINE}");
        assert_eq!(strip_fenced(&format!("before {given}after")), "before \nafter");
        assert_eq!(strip_fenced("cut off: <towline-context>\nsecret"), "cut off: ");
        assert!(FIRST_LINE.starts_with(OPEN) && LAST_LINE.starts_with(CLOSE));
    }
}
