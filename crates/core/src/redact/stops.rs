//! Where to look closer: pairs of bytes that a secret may stand behind, and long runs of word bytes.
//!
//! This is the loop that every byte goes through. It takes eight at a time and decides once for all of them; what it
//! lets pass is not looked at again. It knows places, not secrets.

use std::ops::Range;

use super::bytes::{at, length_of, start_of};
use super::family::may_end_name;
use super::scan::Text;

/// A place to look closer at.
pub enum Stop {
    /// The second of two bytes.
    Pair(usize),
    /// A long run of word bytes.
    Run(Range<usize>),
}

/// Every key of a provider has a run of this many word bytes in it.
const LONG_RUN: usize = 18;

/// The first stop at or behind `from`.
pub fn next_stop(text: Text<'_>, from: usize) -> Option<Stop> {
    let (mut here, mut before) = (from, byte_before(text, from));
    while let Some(step) = text.bytes[here..].first_chunk::<STEP>() {
        let mut first = FIRST[usize::from(before)];
        let (mut pairs, mut words) = (0, WORD);
        for byte in step {
            let second = SECOND[usize::from(*byte)];
            pairs |= first & second;
            words &= second;
            first = FIRST[usize::from(*byte)];
        }
        if pairs != 0
            && let Some(stop) = pair_in(text, here, step, before)
        {
            return Some(Stop::Pair(stop));
        }
        if words != 0
            && goes_on(text.bytes, here + STEP)
            && let Some(run) = long_run(text, here)
        {
            return Some(Stop::Run(run));
        }
        (here, before) = (here + STEP, step[STEP - 1]);
    }
    pair_in(text, here, &text.bytes[here..], before).map(Stop::Pair)
}

/// The run around `here`, if it is long.
pub fn long_run(text: Text<'_>, here: usize) -> Option<Range<usize>> {
    let is_part = |byte: u8| SECOND[usize::from(byte)] & WORD != 0;
    let start = start_of(text.bytes, text.floor, here, usize::MAX, is_part);
    let end = here + length_of(text.bytes, here, usize::MAX, is_part);
    (end - start >= LONG_RUN).then_some(start..end)
}

/// Behind a finding everything is as behind the bracket of a placeholder; the text begins like a line.
fn byte_before(text: Text<'_>, here: usize) -> u8 {
    match here.checked_sub(1) {
        None => b'\n',
        Some(before) if before < text.floor => b']',
        Some(before) => text.bytes[before],
    }
}

/// The first promising pair of a step that begins at `here`.
fn pair_in(text: Text<'_>, here: usize, step: &[u8], before: u8) -> Option<usize> {
    let (mut first, mut places) = (FIRST[usize::from(before)], 0_u32);
    for (offset, byte) in step.iter().enumerate() {
        places |= u32::from(first & SECOND[usize::from(*byte)] != 0) << offset;
        first = FIRST[usize::from(*byte)];
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

/// Whether the bytes around the pair that ends at `here` allow for a secret: a second, cheap look.
fn is_promising(text: Text<'_>, here: usize) -> bool {
    let Text { bytes, floor } = text;
    let next = at(bytes, here + 1).unwrap_or(b' ');
    let before = here.checked_sub(1).filter(|before| *before >= floor).map_or(b'\n', |before| bytes[before]);
    match (before, bytes[here]) {
        (b':', b'/') | (b'%', _) | (b'-', b'-') => true,
        (b':', b'0'..=b'9') => at(bytes, here + 3).is_some_and(|byte| byte.is_ascii_digit()),
        (b':', b'*') => next == b':',
        (_, b'=' | b':' | b'>' | b',') => may_end_name(text, here),
        (b'(', _) => may_end_name(text, here - 1),
        (_, b'(') => here >= floor + 4 && matches!(bytes[here - 4], b'@' | b'u'),
        (_, b'-') => matches!(next, b'-' | b'p' | b'u' | b'a' | b'w'),
        (b'<', _) => matches!(next, b'r' | b'R'),
        (_, _) => here >= floor + 4 && matches!(bytes[here - 4], b'p' | b'P'),
    }
}

/// Whether the first eight bytes of a run are followed by what the shortest long run must have behind them.
fn goes_on(bytes: &[u8], end: usize) -> bool {
    let rest = bytes.get(end..end + LONG_RUN - 2 * STEP + 1).unwrap_or_default();
    rest.iter().fold(WORD, |all, byte| all & SECOND[usize::from(*byte)]) != 0 && !rest.is_empty()
}

/// A bit for each kind of stop that a byte can be the first of.
static FIRST: [u16; 256] = tables().0;

/// A bit for each kind of stop that a byte can be the second of, and one for bytes of a run.
static SECOND: [u16; 256] = tables().1;

const WORD: u16 = 1 << 15;

/// Bytes that are passed with one decision. A long run has so many in a row wherever the steps fall.
const STEP: usize = 8;

/// The kinds of stops: the first byte, then the second.
const STOPS: [(&[u8], &[u8]); 9] = [
    // The separator behind a name, whose last letter is one of these; blanks, quotes, brackets, digits.
    (b"cdeghlnrstwyCDEGHLNRSTWY \t\"'`]*?+|:;0123456789_", b"="),
    (b"cdeghlnrstwyCDEGHLNRSTWY \t\"'`]*?;0123456789_", b":"),
    (b":", b"/*0123456789"),
    (b"<sS", b"pPwW"),
    (b"%", b"23"),
    (b"cdeghlnrstwyCDEGHLNRSTWY", b">"),
    (b"(px", b"(\"'`\\"),
    (b"\"'`", b","),
    (b" \t\n\r\"'`[(-", b"-"),
];

const fn tables() -> ([u16; 256], [u16; 256]) {
    let (mut firsts, mut seconds) = ([0; 256], [0; 256]);
    let mut byte = 0;
    while byte < 256 {
        let this = byte as u8;
        if this.is_ascii_alphanumeric() || this == b'_' || this == b'-' {
            seconds[byte] = WORD;
        }
        let mut kind = 0;
        while kind < STOPS.len() {
            let (first, second) = STOPS[kind];
            firsts[byte] |= (has(first, this) as u16) << kind;
            seconds[byte] |= (has(second, this) as u16) << kind;
            kind += 1;
        }
        byte += 1;
    }
    (firsts, seconds)
}

const fn has(set: &[u8], byte: u8) -> bool {
    let mut at = 0;
    while at < set.len() {
        if set[at] == byte {
            return true;
        }
        at += 1;
    }
    false
}
