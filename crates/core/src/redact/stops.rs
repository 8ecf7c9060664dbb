//! Where to look closer: three bytes in a row that a secret may stand behind, and long runs of word bytes.
//!
//! This is the loop that every byte goes through. It takes eight at a time and decides once for all of them; what it
//! lets pass is not looked at again. It knows places, not secrets.

use std::ops::Range;

use super::bytes::{at, is_quote, length_of, start_of};
use super::effort::spend;
use super::family::{ENDINGS, WORDS, may_end_name};
use super::scan::Text;

/// A place to look closer at.
pub enum Stop {
    /// The last of three bytes.
    Mark(usize),
    /// A long run of word bytes.
    Run(Range<usize>),
}

/// Every key of a provider has a run of this many word bytes in it.
const LONG_RUN: usize = 18;

/// Bytes that are passed with one decision. A long run has so many in a row wherever the steps fall.
const STEP: usize = 8;

/// What a long run has behind its first full step, at least.
const HEAD: usize = LONG_RUN - 2 * STEP + 1;

/// The first stop at or behind `from`.
pub fn next_stop(text: Text<'_>, from: usize) -> Option<Stop> {
    let (steps, rest) = text.bytes[from..].as_chunks::<STEP>();
    let (mut here, mut before, mut full) = (from, two_before(text, from), 0);
    for step in steps {
        spend(STEP);
        let Step { marks, head, words } = summary(step, before);
        // The step before was full of word bytes, and the first ones of this step are too: the run may be long.
        let goes_on = full & head;
        if marks | goes_on != 0 {
            let mark = mark_in(text, here, step, before).map(Stop::Mark);
            let stop = mark.or_else(|| run_at(text, here, goes_on));
            if stop.is_some() {
                return stop;
            }
        }
        (here, before, full) = (here + STEP, [step[STEP - 2], step[STEP - 1]], words);
    }
    mark_in(text, here, rest, before).map(Stop::Mark).or_else(|| run_at(text, here, full))
}

/// The long run that reaches to `here`, if one goes on there.
fn run_at(text: Text<'_>, here: usize, goes_on: u32) -> Option<Stop> {
    if goes_on == 0 { None } else { long_run(text, here).map(Stop::Run) }
}

/// What is to be known of eight bytes.
struct Step {
    /// The kinds of marks that end in it.
    marks: u32,
    /// `WORD` if it begins with as many word bytes as the shortest long run has behind its first full step.
    head: u32,
    /// `WORD` if all its bytes are word bytes.
    words: u32,
}

fn summary(step: &[u8; STEP], before: [u8; 2]) -> Step {
    let [mut first, mut second] = before;
    let (mut marks, mut head, mut words) = (0, WORD, WORD);
    for (at, byte) in step.iter().enumerate() {
        let third = THIRD[usize::from(*byte)];
        marks |= FIRST[usize::from(first)] & SECOND[usize::from(second)] & third;
        words &= third;
        head = if at < HEAD { words } else { head };
        (first, second) = (second, *byte);
    }
    Step { marks, head, words }
}

/// The kinds of marks that three bytes are.
fn mark(first: u8, second: u8, third: u8) -> u32 {
    FIRST[usize::from(first)] & SECOND[usize::from(second)] & THIRD[usize::from(third)]
}

/// The run around `here`, if it is long.
pub fn long_run(text: Text<'_>, here: usize) -> Option<Range<usize>> {
    let is_part = |byte: u8| THIRD[usize::from(byte)] & WORD != 0;
    let start = start_of(text.bytes, text.floor, here, usize::MAX, is_part);
    let end = here + length_of(text.bytes, here, usize::MAX, is_part);
    (end - start >= LONG_RUN).then_some(start..end)
}

/// Behind a finding everything is as behind the bracket of a placeholder; the text begins like a line.
fn two_before(text: Text<'_>, here: usize) -> [u8; 2] {
    let before = |back: usize| match here.checked_sub(back) {
        None => b'\n',
        Some(before) if before < text.floor => b']',
        Some(before) => text.bytes[before],
    };
    [before(2), before(1)]
}

/// The first promising mark of a step that begins at `here`.
fn mark_in(text: Text<'_>, here: usize, step: &[u8], before: [u8; 2]) -> Option<usize> {
    let [mut first, mut second] = before;
    let mut places = 0_u32;
    for (offset, third) in step.iter().enumerate() {
        places |= u32::from(mark(first, second, *third) != 0) << offset;
        (first, second) = (second, *third);
    }
    while places != 0 {
        let place = here + places.trailing_zeros() as usize;
        if is_promising(text, place) {
            return Some(place);
        }
        places &= places - 1;
    }
    None
}

/// Whether the bytes around the mark that ends at `here` allow for a secret: a second, cheap look.
fn is_promising(text: Text<'_>, here: usize) -> bool {
    let [_, before] = two_before(text, here);
    let this = text.bytes[here];
    // Nearly all marks are separators behind a name; this order is quicker than a table of jumps.
    if this == b'=' {
        may_end_name(text, here) || begins_text(text.bytes, here + 1)
    } else if matches!(this, b':' | b'>' | b',') {
        may_end_name(text, here)
    } else if before == b'(' {
        may_end_name(text, here - 1)
    } else if this == b'-' && before != b'-' {
        at(text.bytes, here + 1).is_some_and(|next| matches!(next, b'-' | b'p' | b'u' | b'a' | b'w'))
    } else {
        is_promising_mark(text, before, here)
    }
}

/// As `is_promising`, for marks that are no separators.
fn is_promising_mark(text: Text<'_>, before: u8, here: usize) -> bool {
    let Text { bytes, floor } = text;
    let next = at(bytes, here + 1).unwrap_or(b' ');
    let four_before = if here >= floor + 4 { bytes[here - 4] } else { b' ' };
    match (before, bytes[here]) {
        (b':', b'/') | (b'%' | b'-', _) => true,
        // Behind a port: four digits or a star.
        (b':', _) => four_before.is_ascii_digit() || bytes[here - 2] == b'*',
        (_, b'(') => matches!(four_before, b'@' | b'u'),
        (b'<', _) => matches!(next, b'r' | b'R'),
        (_, _) => matches!(four_before, b'p' | b'P'),
    }
}

/// Whether a quote follows: then a type may stand between the name and `=`.
fn begins_text(bytes: &[u8], here: usize) -> bool {
    let gap = usize::from(at(bytes, here) == Some(b' '));
    at(bytes, here + gap).is_some_and(|byte| is_quote(byte) || byte == b'\\')
}

/// For each byte a bit for each kind of mark that it can be the first byte of.
static FIRST: [u32; 256] = table(0);

/// The same for the second byte.
static SECOND: [u32; 256] = table(1);

/// The same for the third byte; and whether it is a word byte.
static THIRD: [u32; 256] = table(2);

const WORD: u32 = 1 << 31;

/// The last letters of endings; each is a kind of mark of its own, whose first bytes are the letters before it.
const LAST: &[u8] = b"dtescnylrhg";

/// Stands for any byte.
const ANY: &[u8] = b"";

/// What a name can end in.
const ENDS: &[u8] = b"dtescnylrhgDTESCNYLRHG0123456789_\"'`\\]*?;) ";

/// The other kinds of marks, by their three bytes.
const MARKS: [[&[u8]; 3]; 12] = [
    [ENDS, b" \t", b"=:"],
    [ENDS, b"\"'`", b"=:,"],
    [LETTERS, DIGITS, b"=:"],
    [ANY, b"_]*?+|;", b"=:"],
    [ENDS, b":", b"="],
    [ANY, b":", b"/"],
    [b"0123456789*", b":", LETTERS],
    [ANY, b"<%", b"pP23"],
    [b"sS", b"sS", b"wW"],
    [ENDS, b"(", b"\"'`\\"],
    [b"ci", b"px", b"("],
    [ANY, b" \t\n\r\"'`[(-", b"-"],
];

const DIGITS: &[u8] = b"0123456789";
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_*";

const fn table(place: usize) -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let this = byte as u8;
        table[byte] =
            letters_of(this, place, ENDINGS) | letters_of(this, place, WORDS) | marks_of(this, place);
        if place == 2 && (this.is_ascii_alphanumeric() || this == b'_' || this == b'-') {
            table[byte] |= WORD;
        }
        byte += 1;
    }
    table
}

/// The kinds for which `byte` can stand at `place` in the last two letters of an ending and the separator behind.
const fn letters_of<T: Copy>(byte: u8, place: usize, endings: &[(&str, T)]) -> u32 {
    let (mut kinds, mut at) = (0, 0);
    while at < endings.len() {
        let ending = endings[at].0.as_bytes();
        let last = ending.len() - 1;
        let fits = match place {
            0 => byte.eq_ignore_ascii_case(&ending[last - 1]),
            1 => byte.eq_ignore_ascii_case(&ending[last]),
            _ => has(b"=:>", byte),
        };
        kinds |= (fits as u32) << place_of(LAST, ending[last]);
        at += 1;
    }
    kinds
}

/// The other kinds for which `byte` can stand at `place`.
const fn marks_of(byte: u8, place: usize) -> u32 {
    let (mut kinds, mut at) = (0, 0);
    while at < MARKS.len() {
        let set = MARKS[at][place];
        let fits = set.is_empty() || has(set, byte);
        kinds |= (fits as u32) << (LAST.len() + at);
        at += 1;
    }
    kinds
}

const fn has(set: &[u8], byte: u8) -> bool {
    place_of(set, byte) < set.len()
}

const fn place_of(set: &[u8], byte: u8) -> usize {
    let mut at = 0;
    while at < set.len() && set[at] != byte {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_is_a_mark() {
        for (ending, _) in ENDINGS.iter().chain(WORDS) {
            for name in [format!("x {ending}"), format!("X {}", ending.to_uppercase())] {
                for behind in ["=", ":", " = ", "\": ", "1=", "\", \"", "(\""] {
                    let text =
                        Text { bytes: format!("{name}{behind}        ").into_bytes().leak(), floor: 0 };
                    let stop = next_stop(text, 0);
                    assert!(matches!(stop, Some(Stop::Mark(_))), "{name}{behind}");
                }
            }
        }
    }

    #[test]
    fn long_runs_are_seen_wherever_the_steps_fall() {
        for shift in 0..20 {
            for length in 15..60 {
                let text = format!("{}{}{}", " ".repeat(shift), "x".repeat(length), " ".repeat(20));
                let stop = next_stop(Text { bytes: text.as_bytes(), floor: 0 }, 0);
                let run = match stop {
                    Some(Stop::Run(run)) => Some(run),
                    Some(Stop::Mark(_)) | None => None,
                };
                assert_eq!(run, (length >= LONG_RUN).then_some(shift..shift + length), "{shift} {length}");
            }
        }
    }
}
