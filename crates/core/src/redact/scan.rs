//! Iterates over the secrets of a text: at each stop it calls the detector for that position.
//!
//! Contains no detection rules, and does not allocate.

use std::ops::Range;

use super::bytes::{ScanText, is_word, length_of};
use super::kind::{SecretKind, SecretMatch};
use super::stops::{ScanStop, long_run, next_stop};
use super::{
    address, armour, beside, command_line, crypt, folded, named, pairs, private, provider, spoken, table,
};

/// Iterator over the secrets of a text, in order.
pub struct SecretMatches<'a> {
    bytes: &'a [u8],
    from: usize,
    /// Whether an invisible character or a colour code was passed.
    pub(super) hides: bool,
}

/// This many dashes are a horizontal rule, not part of a word; the first precedes the counted ones.
const RULE: usize = 3;

impl<'a> SecretMatches<'a> {
    pub fn of(text: &'a str) -> SecretMatches<'a> {
        SecretMatches { bytes: text.as_bytes(), from: 0, hides: false }
    }
}

impl Iterator for SecretMatches<'_> {
    type Item = SecretMatch;

    fn next(&mut self) -> Option<SecretMatch> {
        let text = ScanText { bytes: self.bytes, floor: self.from };
        let mut from = self.from;
        while let Some(stop) = next_stop(text, from) {
            if let ScanStop::Mark(here) = &stop {
                self.hides |= folded::hides(text.bytes, *here);
            }
            let (matched, next) = match_at(text, stop);
            if let Some(matched) = matched {
                self.from = matched.end;
                return Some(matched);
            }
            from = next;
        }
        self.from = self.bytes.len();
        None
    }
}

/// The match at `stop`, and the offset to continue from if there is none.
fn match_at(text: ScanText<'_>, stop: ScanStop) -> (Option<SecretMatch>, usize) {
    let run = match stop {
        ScanStop::Run(run) => run,
        ScanStop::Mark(here) => {
            let matched = match_at_mark(text, here);
            let rule = rule_length(text.bytes, here);
            // Scanning restarts after this offset and would miss a run that began before it.
            let run = if is_word(text.bytes[here]) && rule == 0 { long_run(text, here) } else { None };
            match run {
                Some(run) if matched.is_none() => run,
                Some(_) | None => return (matched, here + rule.max(1)),
            }
        }
    };
    (match_in_run(text, run.clone()), run.end)
}

/// The rest of a line of dashes whose second is at `here`; 0 if they are part of a word.
fn rule_length(bytes: &[u8], here: usize) -> usize {
    if bytes[here] != b'-' || here.checked_sub(1).is_none_or(|before| bytes[before] != b'-') {
        return 0;
    }
    let dashes = length_of(bytes, here, usize::MAX, |byte| byte == b'-');
    if dashes < RULE { 0 } else { dashes }
}

fn match_at_mark(text: ScanText<'_>, here: usize) -> Option<SecretMatch> {
    let before = here.checked_sub(1).filter(|before| *before >= text.floor);
    match (before.map_or(b'\n', |before| text.bytes[before]), text.bytes[here]) {
        (b':', b'/') => address::credentials(text, here - 1),
        (b':', b'*' | b'a'..=b'z' | b'A'..=b'Z' | b'_') => address::password_record(text, here - 1),
        (_, b'=' | b':') => named::value(text, here),
        (b'%', _) => named::value_after_encoded(text, here - 1),
        (_, b'>') => named::element(text, here),
        (_, b'|') => table::cell(text, here),
        (b' ', b'"' | b'\'') => named::after_blank(text, here),
        (b'(', _) => named::argument(text, here - 1),
        (_, b'(') => address::data_source(text, here),
        (_, b',') => named::pair(text, here),
        (b'<', b'p' | b'P') => {
            let end = private::private_end(text.bytes, here - 1)?;
            Some(SecretKind::PRIVATE.at(here - 1, end))
        }
        (b'-', b'-') => armour::block(text, here - 1),
        (_, b'-') => command_line::flag(text, here),
        _ => crypt::hash(text, here).or_else(|| spoken::password(text, here)),
    }
}

fn match_in_run(text: ScanText<'_>, run: Range<usize>) -> Option<SecretMatch> {
    if let Some(key) = provider::key_in(text, run.clone()) {
        return Some(key);
    }
    // Most long runs are names without a digit.
    if !text.bytes[run.clone()].iter().any(u8::is_ascii_digit) {
        return None;
    }
    address::webhook(text, run.clone())
        .or_else(|| beside::secret(text, run.clone()))
        .or_else(|| pairs::encoded(text.bytes, run))
}
