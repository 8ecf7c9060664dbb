//! Words made fit to be given: without control characters, on one line where that is needed, cut in the middle where they
//! are too long.
//!
//! A cut says how much is missing and how to get it. No character is cut in half.

use super::budget::Budget;
use super::fence::defused;
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
    let text: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    defused(text.trim()).into_owned()
}

/// Returns `text` on one line, at most `longest` characters of it.
pub fn one_line(text: &str, longest: usize) -> String {
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
    if line.chars().count() <= longest {
        return line.into_owned();
    }
    let kept: Vec<char> = line.chars().take(longest.saturating_sub(1)).collect();
    kept.into_iter().chain(['…']).collect()
}

/// Returns `text` if `room` holds it, else its beginning and its end around a note on what is missing. The note ends with
/// `how`, the command that gives all of it. `None` if there is no room for a beginning and an end.
pub fn fitted(text: &str, how: &str, room: Budget) -> Option<Fitted> {
    let text = plain(text);
    if text.len() <= room.most_bytes() && room.holds(&text) {
        return Some(Fitted { text, is_cut: false });
    }
    let bounds: Vec<usize> = bounds(&text);
    let (mut least, mut most) = (0, bounds.len().min(room.most_bytes()));
    let mut best = None;
    while least <= most {
        let kept = usize::midpoint(least, most);
        let candidate = around_note(&text, &bounds, kept, how);
        if room.holds(&candidate) {
            best = (kept > 0).then_some(candidate);
            least = kept + 1;
        } else if kept == 0 {
            break;
        } else {
            most = kept - 1;
        }
    }
    best.map(|text| Fitted { text, is_cut: true })
}

/// The places at which a text may be cut: never before what is drawn onto the character in front of it.
fn bounds(text: &str) -> Vec<usize> {
    const JOINER: char = '\u{200d}';
    let mut before = ' ';
    let mut bounds = vec![];
    for (at, c) in text.char_indices() {
        if before != JOINER && c.width() != Some(0) {
            bounds.push(at);
        }
        before = c;
    }
    bounds
}

fn around_note(text: &str, bounds: &[usize], kept: usize, how: &str) -> String {
    let at = |index: usize| bounds.get(index).copied().unwrap_or(text.len());
    let head = between_words_before(&text[..at(kept.div_ceil(2))]);
    let tail = between_words_behind(&text[at(bounds.len() - kept / 2)..]);
    let missing = text[head.len()..text.len() - tail.len()].chars().count();
    format!("{head}\n[… {missing} characters cut: {how} …]\n{tail}")
}

fn between_words_before(head: &str) -> &str {
    match head.rfind(char::is_whitespace) {
        Some(space) if head[space..].chars().count() <= NEAR && space > 0 => head[..space].trim_end(),
        Some(_) | None => head,
    }
}

fn between_words_behind(tail: &str) -> &str {
    match tail.find(char::is_whitespace) {
        Some(space) if tail[..space].chars().count() <= NEAR => tail[space..].trim_start(),
        Some(_) | None => tail,
    }
}
