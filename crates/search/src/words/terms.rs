//! Splits prose and code into indexed terms.
//!
//! An identifier is a term as a whole, and so is each of its parts. Scripts without spaces are split into letter pairs.
//! Stop words are not dropped here: that is the query's business.

use std::borrow::Cow;

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
    while let Some(start) = rest.find(char::is_alphanumeric) {
        rest = &rest[start..];
        let (run, after);
        if rest.starts_with(is_unspaced) {
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

/// Scripts that put no space between words.
fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FF9F}'
        | '\u{20000}'..='\u{2FA1F}')
        && letter.is_alphanumeric()
}

/// The length of the compound at the beginning of `text`: `stock_quantity`, `3.12`, `login.rs`, `e2e-test`.
fn run_of_compound(text: &str) -> usize {
    let mut end = 0;
    for (at, letter) in text.char_indices() {
        let is_part = (letter.is_alphanumeric() && !is_unspaced(letter)) || is_combining_mark(letter);
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
    let is_joined = run.contains(['_', '-', '.']);
    if is_joined && run.len() <= LONGEST {
        let whole = lowered(run).replace('-', "_");
        let is_version = whole.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let role = if is_version { Role::Word } else { Role::Whole };
        emit(Term { indexed: &whole, written: &whole, role });
        if is_version {
            emit_version(&whole, emit);
            return;
        }
    }
    let role = if is_joined { Role::Part } else { Role::Word };
    for atom in run.split(['_', '-', '.']).filter(|atom| !atom.is_empty() && atom.len() <= LONGEST) {
        emit_atom(atom, role, emit);
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
    let has_parts = CamelCaseParts(atom).next().is_some_and(|part| part.len() < atom.len());
    let role = if has_parts { Role::Whole } else { role };
    emit(Term { indexed: &stemmed(&whole), written: &whole, role });
    for part in CamelCaseParts(atom).filter(|_| has_parts) {
        if part.len() >= SHORTEST_PART || (part.len() == 2 && part.chars().all(char::is_alphabetic)) {
            let part = lowered(part);
            emit(Term { indexed: &stemmed(&part), written: &part, role: Role::Part });
        }
    }
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

fn stemmed(word: &str) -> Cow<'_, str> {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(word);
    }
    Stemmer::new(Algorithm::English).stem(word)
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
