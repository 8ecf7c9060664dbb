//! Words made fit to be given: without control characters, on one line where that is needed, cut in the middle where they
//! are too long.
//!
//! A cut says how much is missing and how to get it. No character is cut in half.

use super::budget::Budget;
use super::fence::defused;
use crate::escape::turns_direction;
use crate::text::{clip, clip_start};
use std::borrow::Cow;
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

/// How far a cut moves to fall between two words.
const NEAR: usize = 40;

/// Text, and whether it is all there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    pub text: String,
    pub is_cut: bool,
}

/// Returns `text` as it may stand between the fences: line breaks and tabs are all that is left of control characters.
pub fn plain(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if is_plain(text) {
        return defused(text);
    }
    let is_kept = |c: &char| matches!(c, '\n' | '\t') || !(c.is_control() || turns_direction(*c));
    let text: String = text.chars().filter(is_kept).collect();
    Cow::Owned(defused(text.trim()).into_owned())
}

/// Whether nothing has to be left out, as can be seen byte by byte: control characters of two bytes begin with 0xc2, and
/// marks that turn the direction of writing with three others.
fn is_plain(text: &str) -> bool {
    let is_fit = |byte: &u8| {
        let begins_mark = matches!(byte, 0xc2 | 0xd8 | 0xe2 | 0xef);
        matches!(byte, b' '..=0x7e | b'\n' | b'\t' | 0x80..) && !begins_mark
    };
    // Each stretch to its end, so that many bytes are looked at by one instruction.
    text.as_bytes().chunks(128).all(|stretch| stretch.iter().fold(true, |fits, byte| fits & is_fit(byte)))
}

/// Returns `text` on one line, at most `longest` characters of it.
pub fn one_line(text: &str, longest: usize) -> Cow<'_, str> {
    if text.len() <= longest && is_one_line(text) {
        return defused(text);
    }
    let text = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut line = String::new();
    for word in text {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(|c| !turns_direction(*c)));
        if line.len() > longest.saturating_mul(4) {
            break;
        }
    }
    let line = defused(&line);
    if line.len() <= longest || line.chars().count() <= longest {
        return Cow::Owned(line.into_owned());
    }
    Cow::Owned(line.chars().take(longest.saturating_sub(1)).chain(['…']).collect())
}

/// Whether it stands on one line already: nothing but single spaces is between its words.
fn is_one_line(text: &str) -> bool {
    let mut before = ' ';
    let is_fit = |c: char| {
        let is_second_space = before == ' ' && c == ' ';
        before = c;
        match c {
            ' '..='~' => !is_second_space,
            '\0'..='\x7f' => false,
            c => !c.is_whitespace() && !c.is_control() && !turns_direction(c),
        }
    };
    text.chars().all(is_fit) && before != ' '
}

/// Returns `text` if `room` holds it, else its beginning and its end around a note on what is missing. The note ends with
/// `how`, the command that gives all of it. `None` if there is no room for a beginning and an end.
pub fn fitted(text: &str, how: &str, room: Budget) -> Option<Fitted> {
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

/// The note alone, for a text that cannot be cut where there is room.
pub fn missing(text: &str, how: &str, room: Budget) -> Option<Fitted> {
    let note = note(plain(text).chars().count(), how);
    room.holds(&note).then_some(Fitted { text: note, is_cut: true })
}

fn note(missing: usize, how: &str) -> String {
    format!("[… {missing} characters cut: {how} …]")
}

/// A text that is too long, and the places at which it may be cut.
struct Cutting<'a> {
    text: &'a str,
    characters: usize,
    how: &'a str,
    heads: Places,
    tails: Places,
}

impl<'a> Cutting<'a> {
    /// More than `longest` bytes are kept of neither end.
    fn of(text: &'a str, how: &'a str, longest: usize) -> Cutting<'a> {
        let heads = Places::within(text, 0..clip(text, longest).len());
        let from = text.len() - clip_start(text, longest).len();
        let tails = Places::within(text, from..text.len()).and(text.len());
        Cutting { text, characters: text.chars().count(), how, heads, tails }
    }

    fn most(&self) -> usize {
        (self.heads.number() + self.tails.number()).saturating_sub(2)
    }

    /// The first and the last of the text, `kept` characters in all or a little less.
    fn keep(&self, kept: usize) -> String {
        let head = self.heads.nth(kept.div_ceil(2)).unwrap_or(0);
        let tail = self.tails.nth_back(kept / 2).unwrap_or(self.text.len());
        let head = between_words_before(&self.text[..head]);
        let tail = between_words_behind(&self.text[tail.max(head.len())..]);
        let missing = self.characters - head.chars().count() - tail.chars().count();
        format!("{head}\n{}\n{tail}", note(missing, self.how)).trim_end().to_owned()
    }
}

/// Where a text may be cut, in order.
enum Places {
    /// Before each byte: all of them are characters that stand by themselves.
    Every(Range<usize>),
    Some(Vec<usize>),
}

impl Places {
    fn within(text: &str, stretch: Range<usize>) -> Places {
        if text.is_ascii() { Places::Every(stretch) } else { Places::Some(bounds(text, stretch).collect()) }
    }

    /// One more, which comes next.
    fn and(self, end: usize) -> Places {
        match self {
            Places::Every(stretch) => Places::Every(stretch.start..end + 1),
            Places::Some(places) => Places::Some(places.into_iter().chain([end]).collect()),
        }
    }

    fn number(&self) -> usize {
        match self {
            Places::Every(stretch) => stretch.len(),
            Places::Some(places) => places.len(),
        }
    }

    /// So many behind the first, or the last.
    fn nth(&self, steps: usize) -> Option<usize> {
        let at = steps.min(self.number().checked_sub(1)?);
        match self {
            Places::Every(stretch) => Some(stretch.start + at),
            Places::Some(places) => places.get(at).copied(),
        }
    }

    /// So many before the last, or the first.
    fn nth_back(&self, steps: usize) -> Option<usize> {
        self.nth(self.number().saturating_sub(1 + steps))
    }
}

/// Not before what is drawn onto the character in front of it, unless that never ends.
fn bounds(text: &str, within: Range<usize>) -> impl Iterator<Item = usize> + '_ {
    const JOINER: char = '\u{200d}';
    /// No sign of any script is made of more.
    const MOST_JOINED: usize = 32;
    let start = within.start;
    let mut before = text[..start].chars().next_back().unwrap_or(' ');
    let mut joined = 0;
    text[within].char_indices().filter_map(move |(at, c)| {
        let is_drawn_onto = !c.is_ascii() && c.width() == Some(0);
        let is_apart = (before != JOINER && !is_drawn_onto) || joined >= MOST_JOINED;
        before = c;
        joined = if is_apart { 0 } else { joined + 1 };
        is_apart.then_some(start + at)
    })
}

fn between_words_before(head: &str) -> &str {
    match head.rfind(char::is_whitespace) {
        Some(space) if space > 0 && head[space..].chars().count() <= NEAR => head[..space].trim_end(),
        Some(_) | None => head,
    }
}

fn between_words_behind(tail: &str) -> &str {
    match tail.find(char::is_whitespace) {
        Some(space) if tail[..space].chars().count() <= NEAR => tail[space..].trim_start(),
        Some(_) | None => tail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, longest: usize, expected: &str) {
        let fitted = fitted(text, "tow detail a#1", Budget::Characters(longest)).map(|fitted| fitted.text);
        assert_eq!(fitted.as_deref(), (!expected.is_empty()).then_some(expected), "{text}");
    }

    #[test]
    fn what_fits_is_given_as_it_is_without_control_characters() {
        check("a\x1b[31mb\0\r\n\tc\u{9b}\r\n", 40, "a[31mb\n\tc");
        check("a\u{202e}b\u{61c}c\u{2066}\u{feff}“d” é", 40, "abc“d” é");
        assert_eq!(one_line("a\u{202e}b \u{200f}c“", 40), "ab c“");
    }

    #[test]
    fn what_is_too_long_keeps_its_beginning_and_its_end() {
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
        let fitted = fitted(&text, "tow detail a#1", Budget::Characters(100)).unwrap();
        assert!(
            fitted.is_cut && fitted.text.starts_with("xxx") && fitted.text.ends_with("xxx"),
            "{}",
            fitted.text
        );
    }

    #[test]
    fn nothing_is_given_where_not_even_the_note_fits() {
        check(&"word ".repeat(50), 30, "");
    }

    #[test]
    fn no_sign_is_torn_from_what_is_drawn_onto_it() {
        for sign in ["e\u{301}", "👩\u{200d}💻", "⚠\u{fe0f}"] {
            let text = sign.repeat(300);
            for longest in 60..90 {
                let Some(fitted) = fitted(&text, "tow", Budget::Characters(longest)) else { continue };
                let (head, rest) = fitted.text.split_once("\n[").unwrap();
                let tail = rest.split_once("]\n").map_or("", |(_, tail)| tail);
                let is_whole = |text: &str| text.replace(sign, "").is_empty();
                assert!(is_whole(head) && is_whole(tail), "{}", fitted.text);
            }
        }
    }

    #[test]
    fn marks_without_end_on_one_character_are_cut_too() {
        let text = "a".to_owned() + &"\u{ec8}".repeat(5_000);
        let fitted = fitted(&text, "tow detail a#1", Budget::Characters(400)).unwrap();
        assert!(fitted.is_cut && fitted.text.contains("characters cut"), "{}", fitted.text);
    }

    #[test]
    fn one_line_has_no_line_breaks_and_says_that_it_goes_on() {
        assert_eq!(one_line(" a\r\n\tb\0c  d ", 20), "a b c d");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(one_line(&"word ".repeat(100_000), 9), "word wor…");
    }
}
