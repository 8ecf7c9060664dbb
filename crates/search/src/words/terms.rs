//! Splits prose and code into indexed terms.
//!
//! An identifier is a term as a whole, and so is each of its parts. Scripts without spaces are split into letter pairs.
//! Stop words are not dropped here: that is the query's business.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use frostem::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Longer runs of letters are data, not words.
const LONGEST: usize = 64;
/// Minimum length of an identifier's part to be a term of its own.
const SHORTEST_PART: usize = 3;

/// One term of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term<'a> {
    /// Lower-cased and stemmed, as in the index.
    pub indexed: &'a str,
    /// Lower-cased, as written.
    pub written: &'a str,
    pub role: Role,
}

/// How a term relates to its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A word by itself.
    Word,
    /// An identifier whose parts follow as terms.
    Whole,
    /// A part of an identifier.
    Part,
}

/// Calls `emit` with every term of `text`, in order. The same term may come more than once.
pub fn each_term(text: &str, emit: &mut impl FnMut(Term<'_>)) {
    let mut rest = text;
    while let Some(start) = first_letter(rest) {
        rest = &rest[start..];
        let (run, after);
        if !rest.as_bytes()[0].is_ascii() && rest.starts_with(is_unspaced) {
            let end = rest.find(|letter: char| !is_unspaced(letter)).unwrap_or(rest.len());
            (run, after) = rest.split_at(end);
            emit_pairs(run, emit);
        } else {
            (run, after) = rest.split_at(run_of_compound(rest));
            emit_compound(run, emit);
        }
        rest = after;
    }
}

/// The place of the first letter or digit.
fn first_letter(text: &str) -> Option<usize> {
    let start = text.bytes().position(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())?;
    if text.as_bytes()[start].is_ascii() {
        return Some(start);
    }
    text[start..].find(char::is_alphanumeric).map(|found| start + found)
}

/// The words of a text in lower case, without accents.
pub fn plain_words(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| lowered(word).into_owned()).collect()
}

/// Scripts that put no space between words.
pub fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FF9F}'
        | '\u{20000}'..='\u{2FA1F}')
        && letter.is_alphanumeric()
}

/// The length of the compound at the beginning of `text`: `stock_quantity`, `3.12`, `login.rs`, `e2e-test`.
fn run_of_compound(text: &str) -> usize {
    let ascii = text.bytes().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(text.len());
    let mut end = ascii;
    for (at, letter) in text[ascii..].char_indices() {
        let at = ascii + at;
        let is_part = if letter.is_ascii() {
            letter.is_ascii_alphanumeric()
        } else {
            (letter.is_alphanumeric() && !is_unspaced(letter)) || is_combining_mark(letter)
        };
        if is_part {
            end = at + letter.len_utf8();
        } else if at > end || !matches!(letter, '_' | '-' | '.') {
            break;
        }
    }
    end
}

/// Pairs of letters; a single letter only if it stands alone.
fn emit_pairs(run: &str, emit: &mut impl FnMut(Term<'_>)) {
    let ends: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    if ends.len() == 2 {
        emit(Term { indexed: run, written: run, role: Role::Word });
    }
    for pair in ends.windows(3) {
        let pair = &run[pair[0]..pair[2]];
        emit(Term { indexed: pair, written: pair, role: Role::Word });
    }
}

fn emit_compound(run: &str, emit: &mut impl FnMut(Term<'_>)) {
    let is_joined = run.bytes().any(|byte| matches!(byte, b'_' | b'-' | b'.'));
    if !is_joined {
        if run.len() <= LONGEST {
            emit_atom(run, Role::Word, emit);
        }
        return;
    }
    if run.len() <= LONGEST {
        let whole = lowered(run).replace('-', "_");
        let is_version = whole.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let role = if is_version { Role::Word } else { Role::Whole };
        emit(Term { indexed: &whole, written: &whole, role });
        if is_version {
            emit_version(&whole, emit);
            return;
        }
    }
    for atom in run.split(['_', '-', '.']).filter(|atom| !atom.is_empty() && atom.len() <= LONGEST) {
        emit_atom(atom, Role::Part, emit);
    }
}

/// `3.12.1` is also `3.12`.
fn emit_version(whole: &str, emit: &mut impl FnMut(Term<'_>)) {
    let dots: Vec<usize> = whole.match_indices('.').map(|(at, _)| at).collect();
    if let [_, second, ..] = dots[..] {
        emit(Term { indexed: &whole[..second], written: &whole[..second], role: Role::Part });
    }
}

/// A run of letters and digits: as a whole, and each word of `camelCase`.
fn emit_atom(atom: &str, role: Role, emit: &mut impl FnMut(Term<'_>)) {
    let whole = lowered(atom);
    let has_parts =
        !is_plain(atom) && CamelCaseParts(atom).next().is_some_and(|part| part.len() < atom.len());
    let role = if has_parts { Role::Whole } else { role };
    emit_stemmed(&whole, role, emit);
    if !has_parts {
        return;
    }
    for part in CamelCaseParts(atom) {
        if part.len() >= SHORTEST_PART || (part.len() == 2 && part.chars().all(char::is_alphabetic)) {
            emit_stemmed(&lowered(part), Role::Part, emit);
        }
    }
}

/// Whether these are ASCII letters of which at most the first is a capital, as in most words: they have no parts.
fn is_plain(atom: &str) -> bool {
    let [first, rest @ ..] = atom.as_bytes() else { return true };
    first.is_ascii_alphabetic() && rest.iter().all(u8::is_ascii_lowercase)
}

/// The words of a camelCase identifier: `parseHTTPHeader2` has four.
struct CamelCaseParts<'a>(&'a str);

impl<'a> Iterator for CamelCaseParts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let mut letters = self.0.char_indices().peekable();
        let (_, mut before) = letters.next()?;
        let mut end = self.0.len();
        while let Some((at, letter)) = letters.next() {
            let after = letters.peek().map(|(_, after)| *after);
            if is_boundary(before, letter, after) {
                end = at;
                break;
            }
            before = letter;
        }
        let (part, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(part)
    }
}

fn is_boundary(before: char, letter: char, after: Option<char>) -> bool {
    if before.is_numeric() != letter.is_numeric() {
        return !is_combining_mark(letter);
    }
    letter.is_uppercase()
        && (before.is_lowercase() || (before.is_uppercase() && after.is_some_and(char::is_lowercase)))
}

/// Lower-cased, without accents.
fn lowered(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(text);
    }
    if text.is_ascii() {
        return Cow::Owned(text.to_ascii_lowercase());
    }
    Cow::Owned(text.to_lowercase().nfkd().filter(|letter| !is_combining_mark(*letter)).collect())
}

fn emit_stemmed(written: &str, role: Role, emit: &mut impl FnMut(Term<'_>)) {
    if written.len() < 3 || !written.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return emit(Term { indexed: written, written, role });
    }
    // Not lent to `emit`, which may read terms itself.
    let stem = STEMS.with_borrow_mut(|stems| stems.of(written));
    emit(Term { indexed: &stem, written, role });
}

thread_local! {
    static STEMS: RefCell<Stems> = RefCell::new(Stems(vec![None; Stems::KEPT]));
}

/// The stems of words that were read lately: texts repeat their words, and stemming one costs as much as indexing it.
struct Stems(Vec<Option<(Rc<str>, Rc<str>)>>);

impl Stems {
    const KEPT: usize = 4096;

    fn of(&mut self, word: &str) -> Rc<str> {
        // A word replaces another with the same hash.
        let hash = word.bytes().fold(0_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        let kept = &mut self.0[(hash >> 16 ^ hash) as usize % Stems::KEPT];
        match kept {
            Some((same, stem)) if **same == *word => Rc::clone(stem),
            _ => {
                let stem: Rc<str> = Stemmer::new(Algorithm::English).stem(word).into();
                *kept = Some((word.into(), Rc::clone(&stem)));
                stem
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        each_term(text, &mut |term: Term<'_>| found.push(term.indexed.to_owned()));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn prose_is_stemmed() {
        check("Fixing the failing tests.", &["fix", "the", "fail", "test"]);
    }

    #[test]
    fn identifiers_are_whole_and_in_parts() {
        check("parseHTTPHeader", &["parsehttphead", "pars", "http", "header"]);
        check("stock_quantity", &["stock_quantity", "stock", "quantiti"]);
        check("src/auth/login.rs:42", &["src", "auth", "login.rs", "login", "rs", "42"]);
    }

    #[test]
    fn versions_and_codes_stay_whole() {
        check("Python 3.12.1", &["python", "3.12.1", "3.12"]);
        check("error[E0382]", &["error", "e0382", "0382"]);
        check("sha256 oauth2 ECONNREFUSED", &["sha256", "sha", "256", "oauth2", "oauth", "econnrefus"]);
    }

    #[test]
    fn scripts_without_spaces_are_pairs() {
        check("数据库连接", &["数据", "据库", "库连", "连接"]);
        check("用 Redis 缓存", &["用", "redi", "缓存"]);
    }

    #[test]
    fn accents_do_not_matter_and_data_is_no_word() {
        check("Café Über", &["cafe", "uber"]);
        check(&"x".repeat(65), &[]);
        check("... --- ___", &[]);
    }
}
