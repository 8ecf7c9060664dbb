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

/// The first stop at or behind `from`.
pub fn next_stop(text: Text<'_>, from: usize) -> Option<Stop> {
    let (mut here, mut before) = (from, two_before(text, from));
    while let Some(step) = text.bytes[here..].first_chunk::<STEP>() {
        spend(STEP);
        let [mut first, mut second] = before.map(class_of);
        let (mut marks, mut words) = (0, WORD);
        for byte in step {
            let third = class_of(*byte);
            marks |= (first >> FIRST) & (second >> SECOND) & third;
            words &= third;
            (first, second) = (second, third);
        }
        if marks & KINDS != 0
            && let Some(stop) = mark_in(text, here, step, before)
        {
            return Some(Stop::Mark(stop));
        }
        if words != 0
            && goes_on(text.bytes, here + STEP)
            && let Some(run) = long_run(text, here)
        {
            return Some(Stop::Run(run));
        }
        (here, before) = (here + STEP, [step[STEP - 2], step[STEP - 1]]);
    }
    mark_in(text, here, &text.bytes[here..], before).map(Stop::Mark)
}

/// The run around `here`, if it is long.
pub fn long_run(text: Text<'_>, here: usize) -> Option<Range<usize>> {
    let is_part = |byte: u8| class_of(byte) & WORD != 0;
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
    let [mut first, mut second] = before.map(class_of);
    let mut places = 0_u32;
    for (offset, byte) in step.iter().enumerate() {
        let third = class_of(*byte);
        let marks = (first >> FIRST) & (second >> SECOND) & third & KINDS;
        places |= u32::from(marks != 0) << offset;
        (first, second) = (second, third);
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
    let Text { bytes, floor } = text;
    let next = at(bytes, here + 1).unwrap_or(b' ');
    let before = here.checked_sub(1).filter(|before| *before >= floor).map_or(b'\n', |before| bytes[before]);
    match (before, bytes[here]) {
        (_, b'=') => may_end_name(text, here) || begins_text(bytes, here + 1),
        (_, b'>' | b',') => may_end_name(text, here),
        (b':', b'/') | (b'%', _) | (b'-', b'-') => true,
        (_, b':') => may_end_name(text, here),
        (b'(', _) => may_end_name(text, here - 1),
        (b':', b'*') => next == b':',
        (b':', _) => at(bytes, here + 3).is_some_and(|byte| byte.is_ascii_digit()),
        (_, b'(') => here >= floor + 4 && matches!(bytes[here - 4], b'@' | b'u'),
        (_, b'-') => matches!(next, b'-' | b'p' | b'u' | b'a' | b'w'),
        (b'<', _) => matches!(next, b'r' | b'R'),
        (_, _) => here >= floor + 4 && matches!(bytes[here - 4], b'p' | b'P'),
    }
}

/// Whether a quote follows: then a type may stand between the name and `=`.
fn begins_text(bytes: &[u8], here: usize) -> bool {
    let gap = usize::from(at(bytes, here) == Some(b' '));
    at(bytes, here + gap).is_some_and(|byte| is_quote(byte) || byte == b'\\')
}

/// Whether the first eight bytes of a run are followed by what the shortest long run must have behind them.
fn goes_on(bytes: &[u8], end: usize) -> bool {
    let rest = bytes.get(end..end + LONG_RUN - 2 * STEP + 1).unwrap_or_default();
    rest.iter().fold(WORD, |all, byte| all & class_of(*byte)) != 0 && !rest.is_empty()
}

/// For each byte: a bit for each kind of mark that it can be the third byte of; higher up the same for the second and
/// for the first; and whether it is a word byte. One look for each byte, and two shifts.
static CLASSES: [u64; 256] = classes();

const KINDS: u64 = (1 << SECOND) - 1;
const SECOND: u32 = 21;
const FIRST: u32 = 42;
const WORD: u64 = 1 << 63;

fn class_of(byte: u8) -> u64 {
    CLASSES[usize::from(byte)]
}

/// The last letters of endings; each is a kind of mark of its own, whose first bytes are the letters before it.
const LAST: &[u8] = b"dtescnylrhg";

/// Stands for any byte.
const ANY: &[u8] = b"";

/// What a name can end in.
const ENDS: &[u8] = b"dtescnylrhgDTESCNYLRHG0123456789_\"'`\\]*?;) ";

/// The other kinds of marks, by their three bytes.
const MARKS: [(&[u8], &[u8], &[u8]); 10] = [
    (ENDS, b" \t", b"=:"),
    (ENDS, b"\"'`", b"=:,"),
    (ANY, b"0123456789_]*?+|;", b"=:"),
    (ENDS, b":", b"="),
    (ANY, b":", b"/*0123456789"),
    (ANY, b"<%", b"pP23"),
    (b"sS", b"sS", b"wW"),
    (ENDS, b"(", b"\"'`\\"),
    (b"ci", b"px", b"("),
    (ANY, b" \t\n\r\"'`[(-", b"-"),
];

const fn classes() -> [u64; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let this = byte as u8;
        table[byte] = letters_of(this, ENDINGS) | letters_of(this, WORDS) | marks_of(this);
        if this.is_ascii_alphanumeric() || this == b'_' || this == b'-' {
            table[byte] |= WORD;
        }
        byte += 1;
    }
    table
}

/// What `byte` is to the last two letters of `endings` and the separator behind them.
const fn letters_of<T: Copy>(byte: u8, endings: &[(&str, T)]) -> u64 {
    let (mut class, mut at) = (0, 0);
    while at < endings.len() {
        let ending = endings[at].0.as_bytes();
        let (first, second) = (ending[ending.len() - 2], ending[ending.len() - 1]);
        let kind = place_of(LAST, second) as u32;
        class |= (byte.eq_ignore_ascii_case(&first) as u64) << (FIRST + kind);
        class |= (byte.eq_ignore_ascii_case(&second) as u64) << (SECOND + kind);
        class |= (has(b"=:>", byte) as u64) << kind;
        at += 1;
    }
    class
}

const fn marks_of(byte: u8) -> u64 {
    let (mut class, mut at) = (0, 0);
    while at < MARKS.len() {
        let (first, second, third) = MARKS[at];
        let kind = (LAST.len() + at) as u32;
        class |= ((first.is_empty() || has(first, byte)) as u64) << (FIRST + kind);
        class |= (has(second, byte) as u64) << (SECOND + kind);
        class |= (has(third, byte) as u64) << kind;
        at += 1;
    }
    class
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
