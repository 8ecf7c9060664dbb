//! Words made fit to be given: without control characters, on one line where that is needed, cut in the middle where they
//! are too long.
//!
//! A cut says how much is missing and how to get it. No character is cut in half.

use super::budget::Budget;
use super::fence::defused;
use crate::text::clip;
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
pub fn plain(text: &str) -> String {
    let text = text.trim();
    if is_plain(text) {
        return defused(text).into_owned();
    }
    let text: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    defused(text.trim()).into_owned()
}

/// Whether nothing has to be left out, as can be seen byte by byte: no control character is of two bytes but those that
/// begin with 0xc2.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=0x7e | b'\n' | b'\t' | 0x80..=0xc1 | 0xc3..))
}

/// Returns `text` on one line, at most `longest` characters of it.
pub fn one_line(text: &str, longest: usize) -> String {
    if text.len() <= longest && is_one_line(text) {
        return defused(text).into_owned();
    }
    let text = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut line = String::new();
    for word in text {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > longest.saturating_mul(4) {
            break;
        }
    }
    let line = defused(&line);
    if line.len() <= longest || line.chars().count() <= longest {
        return line.into_owned();
    }
    let kept: Vec<char> = line.chars().take(longest.saturating_sub(1)).collect();
    kept.into_iter().chain(['…']).collect()
}

/// Whether it stands on one line already, as can be seen byte by byte.
fn is_one_line(text: &str) -> bool {
    let is_spaced = text.starts_with(' ') || text.ends_with(' ') || text.contains("  ");
    !is_spaced && text.bytes().all(|byte| matches!(byte, b' '..=0x7e))
}

/// Returns `text` if `room` holds it, else its beginning and its end around a note on what is missing. The note ends with
/// `how`, the command that gives all of it. `None` if there is no room for a beginning and an end.
pub fn fitted(text: &str, how: &str, room: Budget) -> Option<Fitted> {
    let text = plain(text);
    if text.len() <= room.most_bytes() && room.holds(&text) {
        return Some(Fitted { text, is_cut: false });
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

/// A text that is too long, and the places at which it may be cut.
struct Cutting<'a> {
    text: &'a str,
    characters: usize,
    how: &'a str,
    /// From the start on.
    heads: Vec<usize>,
    /// From the end back.
    tails: Vec<usize>,
}

impl<'a> Cutting<'a> {
    /// More than `longest` bytes are kept of neither end.
    fn of(text: &'a str, how: &'a str, longest: usize) -> Cutting<'a> {
        let heads = bounds(text, 0..clip(text, longest).len()).collect();
        let far = text.len().saturating_sub(longest);
        let from = (far..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        let mut tails: Vec<usize> = bounds(text, from..text.len()).collect();
        tails.push(text.len());
        tails.reverse();
        Cutting { text, characters: text.chars().count(), how, heads, tails }
    }

    fn most(&self) -> usize {
        (self.heads.len() + self.tails.len()).saturating_sub(2)
    }

    /// The first and the last of the text, `kept` characters in all or a little less.
    fn keep(&self, kept: usize) -> String {
        let head = self.heads.get(kept.div_ceil(2)).or(self.heads.last()).copied().unwrap_or(0);
        let tail = self.tails.get(kept / 2).or(self.tails.last()).copied().unwrap_or(self.text.len());
        let head = between_words_before(&self.text[..head]);
        let tail = between_words_behind(&self.text[tail.max(head.len())..]);
        let missing = self.characters - head.chars().count() - tail.chars().count();
        format!("{head}\n[… {missing} characters cut: {} …]\n{tail}", self.how).trim_end().to_owned()
    }
}

/// Where a text may be cut: not before what is drawn onto the character in front of it, unless that never ends.
fn bounds(text: &str, within: Range<usize>) -> impl Iterator<Item = usize> + '_ {
    const JOINER: char = '\u{200d}';
    /// No sign of any script is made of more.
    const MOST_JOINED: usize = 32;
    let start = within.start;
    let mut before = text[..start].chars().next_back().unwrap_or(' ');
    let mut joined = 0;
    text[within].char_indices().filter_map(move |(at, c)| {
        let is_apart = (before != JOINER && c.width() != Some(0)) || joined >= MOST_JOINED;
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
