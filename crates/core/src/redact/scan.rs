//! The secrets of a text, one after the other: asks at each stop those who know that kind of place.
//!
//! Decides nothing itself, and allocates nothing.

use std::ops::Range;

use super::bytes::{is_word, length_of};
use super::kind::Kind;
use super::stops::{Stop, long_run, next_stop};
use super::{address, armour, beside, command_line, named, private, provider, spoken};

/// A secret: what kind it is and which bytes it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

/// The text, and how far one may look back in it: to the end of the finding before.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    pub bytes: &'a [u8],
    pub floor: usize,
}

/// The secrets of a text, in order.
pub struct Findings<'a> {
    bytes: &'a [u8],
    from: usize,
}

/// Dashes that draw a line, and belong to no word; the first is passed when they are counted.
const RULE: usize = 3;

impl<'a> Findings<'a> {
    pub fn of(text: &'a str) -> Findings<'a> {
        Findings { bytes: text.as_bytes(), from: 0 }
    }
}

impl Iterator for Findings<'_> {
    type Item = Finding;

    fn next(&mut self) -> Option<Finding> {
        let text = Text { bytes: self.bytes, floor: self.from };
        let mut from = self.from;
        while let Some(stop) = next_stop(text, from) {
            let (found, next) = look_at(text, stop);
            if let Some(found) = found {
                self.from = found.end;
                return Some(found);
            }
            from = next;
        }
        self.from = self.bytes.len();
        None
    }
}

/// What is found at `stop`, and where the scan goes on if that is nothing.
fn look_at(text: Text<'_>, stop: Stop) -> (Option<Finding>, usize) {
    let run = match stop {
        Stop::Run(run) => run,
        Stop::Mark(here) => {
            let found = at_stop(text, here);
            let rule = rule_length(text.bytes, here);
            // The steps begin anew behind this place, and would not see a run that begins before it.
            let run = if is_word(text.bytes[here]) && rule == 0 { long_run(text, here) } else { None };
            match run {
                Some(run) if found.is_none() => run,
                Some(_) | None => return (found, here + rule.max(1)),
            }
        }
    };
    (in_run(text, run.clone()), run.end)
}

/// The rest of a line of dashes whose second is at `here`; 0 if they are part of a word.
fn rule_length(bytes: &[u8], here: usize) -> usize {
    if bytes[here] != b'-' || here.checked_sub(1).is_none_or(|before| bytes[before] != b'-') {
        return 0;
    }
    let dashes = length_of(bytes, here, usize::MAX, |byte| byte == b'-');
    if dashes < RULE { 0 } else { dashes }
}

fn at_stop(text: Text<'_>, here: usize) -> Option<Finding> {
    let before = here.checked_sub(1).filter(|before| *before >= text.floor);
    match (before.map_or(b'\n', |before| text.bytes[before]), text.bytes[here]) {
        (b':', b'/') => address::credentials(text, here - 1),
        (b':', b'*' | b'a'..=b'z' | b'A'..=b'Z' | b'_') => address::password_record(text, here - 1),
        (_, b'=' | b':') => named::value(text, here),
        (b'%', _) => named::value_behind_encoded(text, here - 1),
        (_, b'>') => named::element(text, here),
        (b'(', _) => named::argument(text, here - 1),
        (_, b'(') => address::data_source(text, here),
        (_, b',') => named::pair(text, here),
        (b'<', b'p' | b'P') => {
            let end = private::private_end(text.bytes, here - 1)?;
            Some(Finding { kind: Kind::PRIVATE, start: here - 1, end })
        }
        (b'-', b'-') => armour::block(text, here - 1),
        (_, b'-') => command_line::flag(text, here),
        (_, b'w' | b'W') => spoken::password(text, here),
        _ => None,
    }
}

fn in_run(text: Text<'_>, run: Range<usize>) -> Option<Finding> {
    if let Some(key) = provider::key_in(text, run.clone()) {
        return Some(key);
    }
    // Most long runs are names without a digit.
    if !text.bytes[run.clone()].iter().any(u8::is_ascii_digit) {
        return None;
    }
    address::webhook(text, run.clone()).or_else(|| beside::secret(text, run))
}
