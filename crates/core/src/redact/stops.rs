//! Finds offsets that deserve a closer look: three-byte marks that may precede a secret, and long runs of word bytes.
//!
//! Every byte of a text passes through this loop. It takes eight bytes at a time with one decision for all of them, and
//! does not look at rejected ones again. It knows positions, not secrets.

use std::ops::Range;

use super::bytes::{ScanText, byte_at, ends_with, is_quote, length_of, start_of};
use super::effort::spend;
use super::family::{ENDINGS, WORDS, may_end_name};
use super::{crypt, folded, spoken};

/// An offset that deserves a closer look.
pub enum ScanStop {
    /// The last of three bytes.
    Mark(usize),
    /// A long run of word bytes.
    Run(Range<usize>),
}

/// Every provider key contains a run of this many word bytes.
const LONG_RUN: usize = 18;

/// Bytes passed with one decision. A long run fills at least one chunk at any alignment.
const CHUNK: usize = 8;

/// The minimum length of a long run after its first full chunk.
const HEAD: usize = LONG_RUN - 2 * CHUNK + 1;

/// The first stop at or after `from`.
pub fn next_stop(text: ScanText<'_>, from: usize) -> Option<ScanStop> {
    let (chunks, rest) = text.bytes[from..].as_chunks::<CHUNK>();
    let (mut here, mut before, mut full) = (from, two_before(text, from), 0);
    for chunk in chunks {
        spend(CHUNK);
        let ChunkSummary { marks, head, words } = summary(chunk, before);
        // The previous chunk was all word bytes, and so are the first ones of this chunk: the run may be long.
        let goes_on = full & head;
        if marks | goes_on != 0 {
            let mark = if marks == 0 { None } else { mark_in(text, here, chunk, before) };
            let stop = first(mark, run_at(text, here, goes_on));
            if stop.is_some() {
                return stop;
            }
        }
        (here, before, full) = (here + CHUNK, [chunk[CHUNK - 2], chunk[CHUNK - 1]], words);
    }
    first(mark_in(text, here, rest, before), run_at(text, here, full))
}

/// The mark, unless a long run ends before it: scanning goes on after the mark and would miss the run.
fn first(mark: Option<usize>, run: Option<Range<usize>>) -> Option<ScanStop> {
    match (mark, run) {
        (Some(mark), Some(run)) if run.end <= mark => Some(ScanStop::Run(run)),
        (Some(mark), _) => Some(ScanStop::Mark(mark)),
        (None, run) => run.map(ScanStop::Run),
    }
}

/// The long run that reaches to `here`, if one continues there.
fn run_at(text: ScanText<'_>, here: usize, goes_on: u32) -> Option<Range<usize>> {
    if goes_on == 0 { None } else { long_run(text, here) }
}

/// Properties of eight bytes.
struct ChunkSummary {
    /// The kinds of marks that end in the chunk.
    marks: u32,
    /// `WORD` if it begins with as many word bytes as the shortest long run has after its first full chunk.
    head: u32,
    /// `WORD` if all its bytes are word bytes.
    words: u32,
}

fn summary(chunk: &[u8; CHUNK], before: [u8; 2]) -> ChunkSummary {
    let [mut first, mut second] = before;
    let (mut marks, mut head, mut words) = (0, WORD, WORD);
    for (at, byte) in chunk.iter().enumerate() {
        let third = THIRD[usize::from(*byte)];
        marks |= FIRST[usize::from(first)] & SECOND[usize::from(second)] & third;
        words &= third;
        head = if at < HEAD { words } else { head };
        (first, second) = (second, *byte);
    }
    ChunkSummary { marks, head, words }
}

/// The kinds of marks that three bytes form.
fn mark(first: u8, second: u8, third: u8) -> u32 {
    FIRST[usize::from(first)] & SECOND[usize::from(second)] & THIRD[usize::from(third)]
}

/// The run around `here`, if it is long.
pub fn long_run(text: ScanText<'_>, here: usize) -> Option<Range<usize>> {
    let is_part = |byte: u8| THIRD[usize::from(byte)] & WORD != 0;
    let start = start_of(text.bytes, text.floor, here, usize::MAX, is_part);
    let end = here + length_of(text.bytes, here, usize::MAX, is_part);
    (end - start >= LONG_RUN).then_some(start..end)
}

/// Before the previous match's end, bytes read as the bracket of a placeholder; before the text, as line breaks.
fn two_before(text: ScanText<'_>, here: usize) -> [u8; 2] {
    let before = |back: usize| match here.checked_sub(back) {
        None => b'\n',
        Some(before) if before < text.floor => b']',
        Some(before) => text.bytes[before],
    };
    [before(2), before(1)]
}

/// The first promising mark of the chunk that begins at `here`.
fn mark_in(text: ScanText<'_>, here: usize, chunk: &[u8], before: [u8; 2]) -> Option<usize> {
    let [mut first, mut second] = before;
    let mut marks = 0_u32;
    for (offset, third) in chunk.iter().enumerate() {
        marks |= u32::from(mark(first, second, *third) != 0) << offset;
        (first, second) = (second, *third);
    }
    while marks != 0 {
        let index = here + marks.trailing_zeros() as usize;
        if is_promising(text, index) {
            return Some(index);
        }
        marks &= marks - 1;
    }
    None
}

/// A second, cheap filter: whether the bytes around the mark that ends at `here` allow for a secret.
fn is_promising(text: ScanText<'_>, here: usize) -> bool {
    let [_, before] = two_before(text, here);
    let this = text.bytes[here];
    // Nearly all marks are separators after a name; this order is faster than a jump table.
    if this == b'=' {
        may_end_name(text, here) || begins_text(text.bytes, here + 1)
    } else if matches!(this, b':' | b'>' | b',' | b'|') {
        may_end_name(text, here)
    } else if before == b' ' && matches!(this, b'"' | b'\'') {
        may_end_name(text, here) || ends_with(text.bytes, text.floor, here, " by ")
    } else if before == b'(' {
        may_end_name(text, here - 1)
    } else if this == b'-' && before != b'-' {
        byte_at(text.bytes, here + 1)
            .is_some_and(|next| matches!(next, b'-' | b'p' | b'u' | b'a' | b'w' | b's' | b't' | b'k' | b'P'))
    } else {
        is_promising_mark(text, before, here)
    }
}

/// Like `is_promising`, for marks that are not separators.
fn is_promising_mark(text: ScanText<'_>, before: u8, here: usize) -> bool {
    let ScanText { bytes, floor } = text;
    let next = byte_at(bytes, here + 1).unwrap_or(b' ');
    let four_before = if here >= floor + 4 { bytes[here - 4] } else { b' ' };
    match (before, bytes[here]) {
        (b':', b'/') | (b'%' | b'-', _) => true,
        // After a port: four digits or a star.
        (b':', _) => four_before.is_ascii_digit() || bytes[here - 2] == b'*',
        (_, b'(') => matches!(four_before, b'@' | b'u'),
        (b'<', _) => matches!(next, b'r' | b'R'),
        (b's' | b'S', b'w' | b'o' | b'W' | b'O') => {
            matches!(four_before, b'p' | b'P') && spoken::word_at(text, here).is_some()
        }
        (b'u' | b'[' | 0x80.., _) if folded::hides(bytes, here) => true,
        (b'$', _) | (_, b'$' | b'S' | b'H' | b'M') => crypt::begins(text, here),
        _ => spoken::word_at(text, here).is_some() || crypt::begins(text, here),
    }
}

/// Whether a quote follows: then a type may precede the `=`.
fn begins_text(bytes: &[u8], here: usize) -> bool {
    let gap = usize::from(byte_at(bytes, here) == Some(b' '));
    byte_at(bytes, here + gap).is_some_and(|byte| is_quote(byte) || byte == b'\\')
}

/// For each byte, one bit per kind of mark that it can be the first byte of.
static FIRST: [u32; 256] = table(0);

/// The same for the second byte.
static SECOND: [u32; 256] = table(1);

/// The same for the third byte, plus `WORD` for word bytes.
static THIRD: [u32; 256] = table(2);

const WORD: u32 = 1 << 31;

/// The last letters of endings; each is its own kind of mark, whose first bytes are the letters before it.
const LAST: &[u8] = b"dtescnylrhgwk";

/// Matches any byte.
const ANY: &[u8] = b"";

/// Bytes a name can end in.
const ENDS: &[u8] = b"dtescnylrhgwkDTESCNYLRHGWK0123456789_\"'`\\]*?;) ";

/// The other kinds of marks, by their three bytes.
const MARKS: [[&[u8]; 3]; 18] = [
    [ENDS, b" \t", b"=:"],
    [ENDS, b"\"'`", b"=:,>"],
    [LETTERS, DIGITS, b"=:"],
    [ANY, b"_]*?+|;", b"=:"],
    [ENDS, b":", b"="],
    [ANY, b":", b"/"],
    [b"0123456789*", b":", LETTERS],
    [ANY, b"<%", b"pP23"],
    // `password`, `mot de passe`, `passord`; `senha`, `Kennwort`, `phrase`; `adgangskode`, `wachtwoord`.
    [b"sSmM", b"sSoO", b"wWoOtT"],
    [b"nNhH", b"hHnNrR", b"aAwW"],
    [b"gGhH", b"sStT", b"kKwW"],
    FOREIGN,
    // `$2b$`, `$6$`, `$argon2id$`, `{SSHA}`, `sha256$600000$`.
    [b"${61", b"12567yPH$apsS", b"abxy$0123456789rpcSHM"],
    // `| API key |`, `#define TOKEN "`, `identified by '`.
    [ENDS, b" `*", b"|"],
    [b"dtescnylrhgwkDTESCNYLRHGWK", b" ", b"\"'"],
    [ENDS, b"(", b"\"'`\\"],
    // `@tcp(` and `@unix(`; a colour code and an escaped invisible character, see `folded`.
    [b"ci\\\x1b", b"pxu[", b"(0123456789fF"],
    [ANY, b" \t\n\r\"'`[(-", b"-"],
];

/// Three bytes of the words for password in other scripts and with accents, see `spoken`, and of invisible
/// characters, see `folded`. None of them is in ASCII text.
const FOREIGN: [&[u8]; 3] = [
    b"\xc2\xcd\xe2\xef\xc3\xc5\xbb\xe7\xe3\xedz\x88\xe0\xba",
    b"\xad\x8f\x80\x81\xbb\xb1\x82\xd1\xa0\xa2\x83\x98\x9e\x9f\xb6\xbc\xc3\xd8\xa4\xa9",
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789\
        \x81\xaf\xb8\xb3\xb1\xb5\xbc\xbf\
        \x8b\x8c\x8d\x8e\x8f\xaa\xab\xac\xad\xae\xa0\xa1\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9",
];

const DIGITS: &[u8] = b"0123456789";
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_*";

const fn table(index: usize) -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let this = byte as u8;
        table[byte] =
            letters_of(this, index, ENDINGS) | letters_of(this, index, WORDS) | marks_of(this, index);
        if index == 2 && (this.is_ascii_alphanumeric() || this == b'_' || this == b'-') {
            table[byte] |= WORD;
        }
        byte += 1;
    }
    table
}

/// The kinds for which `byte` fits at `index` in the last two letters of an ending and the separator after it.
const fn letters_of<T: Copy>(byte: u8, index: usize, endings: &[(&str, T)]) -> u32 {
    let (mut kinds, mut at) = (0, 0);
    while at < endings.len() {
        let ending = endings[at].0.as_bytes();
        let last = ending.len() - 1;
        let fits = match index {
            0 => byte.eq_ignore_ascii_case(&ending[last - 1]),
            1 => byte.eq_ignore_ascii_case(&ending[last]),
            _ => has(b"=:>", byte),
        };
        kinds |= (fits as u32) << index_of(LAST, ending[last]);
        at += 1;
    }
    kinds
}

/// The other kinds for which `byte` fits at `index`.
const fn marks_of(byte: u8, index: usize) -> u32 {
    let (mut kinds, mut at) = (0, 0);
    while at < MARKS.len() {
        let set = MARKS[at][index];
        let fits = set.is_empty() || has(set, byte);
        kinds |= (fits as u32) << (LAST.len() + at);
        at += 1;
    }
    kinds
}

const fn has(set: &[u8], byte: u8) -> bool {
    index_of(set, byte) < set.len()
}

const fn index_of(set: &[u8], byte: u8) -> usize {
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
                        ScanText { bytes: format!("{name}{behind}        ").into_bytes().leak(), floor: 0 };
                    let stop = next_stop(text, 0);
                    assert!(matches!(stop, Some(ScanStop::Mark(_))), "{name}{behind}");
                }
            }
        }
    }

    #[test]
    fn long_runs_are_seen_wherever_the_steps_fall() {
        for shift in 0..20 {
            for length in 15..60 {
                let text = format!("{}{}{}", " ".repeat(shift), "x".repeat(length), " ".repeat(20));
                let stop = next_stop(ScanText { bytes: text.as_bytes(), floor: 0 }, 0);
                let run = match stop {
                    Some(ScanStop::Run(run)) => Some(run),
                    Some(ScanStop::Mark(_)) | None => None,
                };
                assert_eq!(run, (length >= LONG_RUN).then_some(shift..shift + length), "{shift} {length}");
            }
        }
    }
}
