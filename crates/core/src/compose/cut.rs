//! Prepares text for the context: strips control characters, joins lines on request, cuts out the middle if it is too
//! long.
//!
//! A cut states how much is missing and the command that shows it. Grapheme clusters are not split.

use super::budget::ContextBudget;
use super::fence::{escape_guarded_tags, may_open_tag};
use crate::escape::{is_bidi_mark, is_one_line};
use crate::text::{clip, clip_start};
use std::borrow::Cow;
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

/// The maximum distance in characters that a cut moves to fall between two words; of a short part, at most a quarter.
const MAX_SHIFT: usize = 40;

fn max_shift(part: &str) -> usize {
    MAX_SHIFT.min(part.chars().count() / 4)
}

/// A text, and whether it was cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    pub text: String,
    pub is_cut: bool,
}

/// Returns `text` as it may appear between the fences: without control characters other than line breaks and tabs.
pub fn plain(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if is_plain(text) {
        return escape_guarded_tags(text);
    }
    let is_kept = |c: &char| matches!(c, '\n' | '\t') || !(c.is_control() || is_bidi_mark(*c));
    let text: String = text.chars().filter(is_kept).collect();
    Cow::Owned(escape_guarded_tags(text.trim()).into_owned())
}

/// Whether no character has to be removed, checked by bytes: two-byte control characters begin with 0xc2, and
/// bidirectional marks with one of three other bytes.
fn is_plain(text: &str) -> bool {
    let is_allowed = |byte: &u8| {
        let begins_mark = matches!(byte, 0xc2 | 0xd8 | 0xe2 | 0xef);
        matches!(byte, b' '..=0x7e | b'\n' | b'\t' | 0x80..) && !begins_mark
    };
    // Each chunk is read to its end, so that the loop vectorises.
    text.as_bytes().chunks(128).all(|chunk| chunk.iter().fold(true, |fit, byte| fit & is_allowed(byte)))
}

/// Returns `text` on one line, at most `max_chars` characters of it.
pub fn one_line(text: &str, max_chars: usize) -> Cow<'_, str> {
    // More than `max_chars` characters, whatever they are: enough to cut a text that needs no other change.
    let head = clip(text, max_chars.saturating_mul(4).saturating_add(8)).trim_end_matches(' ');
    if is_one_line(head) && !may_open_tag(head) {
        return shortened(head, max_chars);
    }
    let text = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut line = String::new();
    for word in text {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(|c| !is_bidi_mark(*c)));
        if line.len() > max_chars.saturating_mul(4) {
            break;
        }
    }
    Cow::Owned(shortened(&escape_guarded_tags(&line), max_chars).into_owned())
}

fn shortened(line: &str, max_chars: usize) -> Cow<'_, str> {
    if line.len() <= max_chars || line.chars().count() <= max_chars {
        return Cow::Borrowed(line);
    }
    let end = line.char_indices().nth(max_chars.saturating_sub(1)).map_or(0, |(end, _)| end);
    Cow::Owned([&line[..end], "…"].concat())
}

/// Returns `text` if `room` holds it, else its beginning and end around a note about the cut. The note ends with `how`,
/// the command that shows the whole text. `None` if there is no room for a beginning and an end.
pub fn fitted(text: &str, how: &str, room: ContextBudget) -> Option<Fitted> {
    let text = plain(text);
    if room.holds(&text) {
        return Some(Fitted { text: text.into_owned(), is_cut: false });
    }
    let cutting = Cutting::of(&text, how, room.most_bytes());
    let (mut least, mut most) = (1, cutting.most());
    let mut best = None;
    while least <= most {
        let kept = usize::midpoint(least, most);
        let candidate = cutting.keep(kept);
        if room.holds(&candidate) {
            best = Some(candidate);
            least = kept + 1;
        } else {
            most = kept - 1;
        }
    }
    best.map(|text| Fitted { text, is_cut: true })
}

/// Only the note, for a text of which no beginning and end fit.
pub fn missing(text: &str, how: &str, room: ContextBudget) -> Option<Fitted> {
    let note = note(plain(text).chars().count(), how);
    room.holds(&note).then_some(Fitted { text: note, is_cut: true })
}

fn note(missing: usize, how: &str) -> String {
    format!("[… {missing} characters cut: {how} …]")
}

/// A text that is too long, and the positions at which it may be cut.
struct Cutting<'a> {
    text: &'a str,
    characters: usize,
    how: &'a str,
    heads: CutPositions,
    tails: CutPositions,
}

impl<'a> Cutting<'a> {
    /// Keeps at most `max_bytes` bytes of either end.
    fn of(text: &'a str, how: &'a str, max_bytes: usize) -> Cutting<'a> {
        let heads = CutPositions::within(text, 0..clip(text, max_bytes).len());
        let from = text.len() - clip_start(text, max_bytes).len();
        let tails = CutPositions::within(text, from..text.len()).and(text.len());
        Cutting { text, characters: text.chars().count(), how, heads, tails }
    }

    fn most(&self) -> usize {
        (self.heads.count() + self.tails.count()).saturating_sub(2)
    }

    /// The beginning and end of the text, at most `kept` characters in all.
    fn keep(&self, kept: usize) -> String {
        let head = self.heads.nth(kept.div_ceil(2)).unwrap_or(0);
        let tail = self.tails.nth_back(kept / 2).unwrap_or(self.text.len());
        let head = end_between_words(&self.text[..head]);
        let tail = start_between_words(&self.text[tail.max(head.len())..]);
        let missing = self.characters - head.chars().count() - tail.chars().count();
        format!("{head}\n{}\n{tail}", note(missing, self.how)).trim_end().to_owned()
    }
}

/// Ordered byte positions at which a text may be cut.
enum CutPositions {
    /// Every byte position: the text is ASCII.
    Every(Range<usize>),
    Some(Vec<usize>),
}

impl CutPositions {
    fn within(text: &str, range: Range<usize>) -> CutPositions {
        if text.is_ascii() { Self::Every(range) } else { Self::Some(bounds(text, range).collect()) }
    }

    /// Appends one more position.
    fn and(self, end: usize) -> CutPositions {
        match self {
            CutPositions::Every(range) => CutPositions::Every(range.start..end + 1),
            CutPositions::Some(positions) => CutPositions::Some(positions.into_iter().chain([end]).collect()),
        }
    }

    fn count(&self) -> usize {
        match self {
            CutPositions::Every(range) => range.len(),
            CutPositions::Some(positions) => positions.len(),
        }
    }

    /// The position `steps` after the first, or the last one.
    fn nth(&self, steps: usize) -> Option<usize> {
        let index = steps.min(self.count().checked_sub(1)?);
        match self {
            CutPositions::Every(range) => Some(range.start + index),
            CutPositions::Some(positions) => positions.get(index).copied(),
        }
    }

    /// The position `steps` before the last, or the first one.
    fn nth_back(&self, steps: usize) -> Option<usize> {
        self.nth(self.count().saturating_sub(1 + steps))
    }
}

/// Boundaries that do not separate a combining character from its base, unless the sequence exceeds `MAX_JOINED`.
fn bounds(text: &str, within: Range<usize>) -> impl Iterator<Item = usize> + '_ {
    const JOINER: char = '\u{200d}';
    /// No grapheme cluster of any script is longer.
    const MAX_JOINED: usize = 32;
    let start = within.start;
    let mut before = text[..start].chars().next_back().unwrap_or(' ');
    let mut joined = 0;
    text[within].char_indices().filter_map(move |(index, c)| {
        let is_combining = !c.is_ascii() && c.width() == Some(0);
        let is_boundary = (before != JOINER && !is_combining) || joined >= MAX_JOINED;
        before = c;
        joined = if is_boundary { 0 } else { joined + 1 };
        is_boundary.then_some(start + index)
    })
}

fn end_between_words(head: &str) -> &str {
    match head.rfind(char::is_whitespace) {
        Some(space) if space > 0 && head[space..].chars().count() <= max_shift(head) => {
            head[..space].trim_end()
        }
        Some(_) | None => head,
    }
}

fn start_between_words(tail: &str) -> &str {
    match tail.find(char::is_whitespace) {
        Some(space) if tail[..space].chars().count() <= max_shift(tail) => tail[space..].trim_start(),
        Some(_) | None => tail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, longest: usize, expected: &str) {
        let fitted =
            fitted(text, "tow detail a#1", ContextBudget::Characters(longest)).map(|fitted| fitted.text);
        assert_eq!(fitted.as_deref(), (!expected.is_empty()).then_some(expected), "{text}");
    }

    #[test]
    fn a_text_that_fits_loses_only_its_control_characters() {
        check("a\x1b[31mb\0\r\n\tc\u{9b}\r\n", 40, "a[31mb\n\tc");
        check("a\u{202e}b\u{61c}c\u{2066}\u{feff}“d” é", 40, "abc“d” é");
        assert_eq!(one_line("a\u{202e}b \u{200f}c“", 40), "ab c“");
    }

    #[test]
    fn a_text_that_is_too_long_keeps_its_beginning_and_its_end() {
        let text = "The first sentence is here. ".repeat(3)
            + &"middle ".repeat(100)
            + "And this is the last question?";
        check(
            &text,
            120,
            "The first sentence is here. The first\n[… 740 characters cut: tow detail a#1 …]\n\
             middle And this is the last question?",
        );
    }

    #[test]
    fn a_single_huge_word_is_cut_too() {
        let text = "x".repeat(1_000_000);
        let fitted = fitted(&text, "tow detail a#1", ContextBudget::Characters(100)).unwrap();
        assert!(
            fitted.is_cut && fitted.text.starts_with("xxx") && fitted.text.ends_with("xxx"),
            "{}",
            fitted.text
        );
    }

    #[test]
    fn a_short_beginning_is_not_lost_to_a_cut_between_words() {
        let text = format!("Mend: {}", "x".repeat(300));
        let fitted = fitted(&text, "tow detail a#1", ContextBudget::Characters(90)).unwrap().text;
        assert!(fitted.starts_with("Mend: xxxxxxxxxxx"), "{fitted}");
    }

    #[test]
    fn a_text_is_left_out_if_not_even_the_note_fits() {
        check(&"word ".repeat(50), 30, "");
    }

    #[test]
    fn a_cut_splits_no_grapheme_cluster() {
        for sign in ["e\u{301}", "👩\u{200d}💻", "⚠\u{fe0f}"] {
            let text = sign.repeat(300);
            for longest in 60..90 {
                let Some(fitted) = fitted(&text, "tow", ContextBudget::Characters(longest)) else { continue };
                let (head, rest) = fitted.text.split_once("\n[").unwrap();
                let tail = rest.split_once("]\n").map_or("", |(_, tail)| tail);
                let is_whole = |text: &str| text.replace(sign, "").is_empty();
                assert!(is_whole(head) && is_whole(tail), "{}", fitted.text);
            }
        }
    }

    #[test]
    fn endless_combining_marks_are_cut_too() {
        let text = "a".to_owned() + &"\u{ec8}".repeat(5_000);
        let fitted = fitted(&text, "tow detail a#1", ContextBudget::Characters(400)).unwrap();
        assert!(fitted.is_cut && fitted.text.contains("characters cut"), "{}", fitted.text);
    }

    #[test]
    fn one_line_has_no_line_breaks_and_says_that_it_goes_on() {
        assert_eq!(one_line(" a\r\n\tb\0c  d ", 20), "a b c d");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(one_line(&"word ".repeat(100_000), 9), "word wor…");
    }

    proptest! {
        /// The words, joined and cut one by one.
        #[test]
        fn one_line_is_the_same_whether_or_not_it_needs_joining(
            text in "([a-zé “<＜]{0,12}|[\n\t ]|x\u{202e}|</?towline){0,12}", max_chars in 1_usize..40
        ) {
            let kept: String = text.chars().filter(|c| !is_bidi_mark(*c)).collect();
            let line = escape_guarded_tags(&kept.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned();
            let expected = match line.chars().count() {
                count if count <= max_chars => line,
                _ => line.chars().take(max_chars - 1).chain(['…']).collect(),
            };
            prop_assert_eq!(one_line(&text, max_chars), expected);
        }
    }
}
