//! The fence around what we give to a session: one opening and one closing line.
//!
//! Whatever text goes between them can neither forge nor close it, and what stands between them is never captured back.

use crate::redact::cut_blocks;
use crate::text::clip;
use std::borrow::Cow;

/// The head of the opening tag, as `cut_blocks` takes it.
pub const OPEN: &str = "<towline-context";
/// The head of the closing tag.
pub const CLOSE: &str = "</towline-context";

pub(super) const FIRST_LINE: &str = "<towline-context>\n";
pub(super) const LAST_LINE: &str = "</towline-context>\n";

/// How a session comes to the memory of its own turns that were taken back for the room they took.
pub const CUT_TO_MAKE_ROOM: &str = "its own earlier turns, taken back to make room";

/// Tags that carried text must not open or close: our own, and those that clients put around what hooks say.
const GUARDED: [&str; 2] = ["towline-context", "system-reminder"];

/// Stands in for the `<` of a guarded tag: reads the same, means nothing.
const HARMLESS: char = '‹';

/// Returns `text` without what we gave to a session.
pub fn without_ours(text: &str) -> Cow<'_, str> {
    cut_blocks(text, OPEN, CLOSE)
}

/// Returns `text` between the two lines, as data: nothing in it can close them.
pub fn around(text: &str) -> String {
    format!("{FIRST_LINE}{}\n{LAST_LINE}", defused(text.trim_end()))
}

/// Whether a tool's output is an answer of ours, whatever the client put before it. What only quotes a fence, such as a
/// file that is read, seldom ends with one.
pub fn is_answer(output: &str) -> bool {
    output.contains(FIRST_LINE) && output.trim_end().ends_with(LAST_LINE.trim_end())
}

/// Whether this is the memory that we gave to a session of its own turns when they were cut: its head says so.
pub fn is_memory_of_cut(text: &str) -> bool {
    text.starts_with(FIRST_LINE) && clip(text, HEAD_BYTES).contains(CUT_TO_MAKE_ROOM)
}

/// More than stands before the first thing that was said.
const HEAD_BYTES: usize = 1_000;

/// Returns `text` with every guarded tag made harmless.
pub(super) fn defused(text: &str) -> Cow<'_, str> {
    let mut tags = guarded_tags(text).peekable();
    if tags.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let (mut safe, mut done) = (String::with_capacity(text.len() + HARMLESS.len_utf8()), 0);
    for (at, opener) in tags {
        safe.push_str(&text[done..at]);
        safe.push(HARMLESS);
        done = at + opener.len();
    }
    safe.push_str(&text[done..]);
    Cow::Owned(safe)
}

/// Where a guarded tag opens, and by what.
fn guarded_tags(text: &str) -> impl Iterator<Item = (usize, &str)> {
    // Most text has nothing like it, which is known much faster by its bytes than by its characters.
    let may_open = |byte: &u8| *byte == b'<' || *byte == FIRST_OF_WIDE;
    let from = text.as_bytes().iter().position(may_open).unwrap_or(text.len());
    let openers = text[from..].match_indices(opens_tags).map(move |(at, opener)| (from + at, opener));
    openers.filter(|(at, opener)| is_guarded(&text[at + opener.len()..]))
}

/// The first byte of all that opens tags and is not ASCII.
const FIRST_OF_WIDE: u8 = 0xef;

fn opens_tags(c: char) -> bool {
    matches!(c, '<' | '＜' | '﹤')
}

/// A letter of any width as a plain small one, and whatever looks like a hyphen as one.
fn plainly(c: char) -> std::char::ToLowercase {
    let code = u32::from(c);
    let narrow = match code {
        0xff01..=0xff5e => char::from_u32(code - 0xfee0).unwrap_or(c),
        0x2010..=0x2015 | 0x2212 | 0xfe58 | 0xfe63 => '-',
        _ => c,
    };
    narrow.to_lowercase()
}

/// Whether a guarded name follows, however it is spaced, cased or interspersed with what is not seen.
fn is_guarded(rest: &str) -> bool {
    let shown = rest.chars().filter(|c| !is_unseen(*c)).skip_while(|c| matches!(c, '/' | '／' | '\\'));
    let shown = shown.flat_map(plainly);
    GUARDED.iter().any(|name| shown.clone().take(name.len()).eq(name.chars()))
}

fn is_unseen(c: char) -> bool {
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
            let safe = defused(text);
            assert!(safe.starts_with(HARMLESS), "{text}");
            assert_eq!(safe.chars().count(), text.chars().count());
        }
    }

    #[test]
    fn other_tags_stay() {
        for text in ["a < b", "<div>", "Vec<Context>", "<tow line>", "towline-context"] {
            assert_eq!(defused(text), text);
        }
    }

    #[test]
    fn what_we_gave_is_not_captured_back() {
        let given = format!("{FIRST_LINE}secret plan\n{LAST_LINE}");
        assert_eq!(without_ours(&format!("before {given}after")), "before \nafter");
        assert_eq!(without_ours("cut off: <towline-context>\nsecret"), "cut off: ");
        assert!(FIRST_LINE.starts_with(OPEN) && LAST_LINE.starts_with(CLOSE));
    }
}
