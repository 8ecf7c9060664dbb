//! Splits a text into the words that likeness compares: in order, stemmed and classified.
//!
//! Understands no language. Names, numbers and negations have kinds of their own, so that comparisons can be strict
//! about them.

use crate::text::narrow;
use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

/// One word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// As written, in lower case.
    pub raw: String,
    /// Without its ending; used for comparison.
    pub stem: String,
    pub kind: TokenKind,
}

impl Token {
    pub fn is_content(&self) -> bool {
        !matches!(self.kind, TokenKind::Filler | TokenKind::Negation)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Plain,
    /// A path, an identifier, a package: compared exactly.
    Name,
    /// Any word with a digit.
    Number,
    /// A function word without meaning of its own.
    Filler,
    /// Negates a sentence.
    Negation,
}

const FILLERS: &[&str] = &[
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "to", "of", "in", "on", "at", "for", "and",
    "or", "it", "its", "this", "that", "these", "those", "with", "by", "as", "from", "into", "we", "i",
    "you", "they", "he", "she", "our", "their", "your", "my", "has", "have", "had", "do", "does", "did",
    "will", "would", "should", "must", "can", "when", "because", "since", "so", "then", "there", "please",
    "also", "always",
];

const NEGATIONS: &[&str] = &[
    "not", "no", "never", "dont", "doesnt", "didnt", "cannot", "cant", "wont", "isnt", "arent", "wasnt",
    "shouldnt", "mustnt", "without", "avoid", "nor", "neither", "none", "couldnt", "wouldnt",
];

/// For lookups: every word of every compared text is one.
static FILLING: LazyLock<HashSet<&str>> = LazyLock::new(|| FILLERS.iter().copied().collect());
static NEGATING: LazyLock<HashSet<&str>> = LazyLock::new(|| NEGATIONS.iter().copied().collect());

/// Negations in scripts written without spaces.
const NEGATIONS_WITHIN: &[&str] = &["ない", "ません", "禁止", "没有", "不", "别", "勿", "안 ", "않"];

/// Characters that may join two letters of one word.
const JOINTS: &[char] = &['_', '.', '/', '-', ':', '@', '\'', '’'];

pub(super) fn words(text: &str) -> Vec<Token> {
    let mut words = vec![];
    let mut run = String::new();
    let letters: Vec<char> = text.chars().map(narrow).collect();
    let is_part = |c: &char| c.is_alphanumeric() && !is_dense(*c);
    for (at, c) in letters.iter().enumerate() {
        let is_between = || at > 0 && is_part(&letters[at - 1]) && letters.get(at + 1).is_some_and(is_part);
        if is_part(c) || *c == '_' || (JOINTS.contains(c) && is_between()) {
            run.push(*c);
        } else if !run.is_empty() {
            push_run(&std::mem::take(&mut run), &mut words);
        }
        if is_dense(*c) {
            words.push(bigram(*c, letters.get(at + 1).filter(|next| is_dense(**next))));
        }
    }
    if !run.is_empty() {
        push_run(&run, &mut words);
    }
    if NEGATIONS_WITHIN.iter().any(|negation| text.contains(negation)) {
        words.push(Token { raw: "not".into(), stem: "not".into(), kind: TokenKind::Negation });
    }
    words
}

/// The stems of all words but fillers and negations.
pub(super) fn content(words: &[Token]) -> BTreeSet<&str> {
    words.iter().filter(|word| word.is_content()).map(|word| word.stem.as_str()).collect()
}

pub(super) fn of_kind(words: &[Token], kind: TokenKind) -> BTreeSet<&str> {
    words.iter().filter(|word| word.kind == kind).map(|word| word.stem.as_str()).collect()
}

/// Jaccard similarity, from 0 to 1.
pub(super) fn overlap(one: &BTreeSet<&str>, other: &BTreeSet<&str>) -> f64 {
    let all = one.union(other).count();
    if all == 0 { 1.0 } else { one.intersection(other).count() as f64 / all as f64 }
}

/// The share of the smaller set that is in the larger, from 0 to 1.
pub(super) fn containment(one: &BTreeSet<&str>, other: &BTreeSet<&str>) -> f64 {
    let least = one.len().min(other.len());
    if least == 0 { 1.0 } else { one.intersection(other).count() as f64 / least as f64 }
}

/// Whether the character belongs to a script written without spaces.
fn is_dense(c: char) -> bool {
    matches!(u32::from(c), 0x3041..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

/// A bigram in place of a word, since word boundaries are unknown.
fn bigram(c: char, next: Option<&char>) -> Token {
    let pair: String = std::iter::once(c).chain(next.copied()).collect();
    let kind = if next.is_some() { TokenKind::Plain } else { TokenKind::Filler };
    Token { raw: pair.clone(), stem: pair, kind }
}

fn push_run(run: &str, words: &mut Vec<Token>) {
    let raw = run.to_lowercase();
    if raw.chars().any(char::is_numeric) {
        let bare = raw.strip_prefix('v').filter(|rest| rest.starts_with(char::is_numeric)).unwrap_or(&raw);
        return words.push(Token { stem: bare.to_owned(), raw: raw.clone(), kind: TokenKind::Number });
    }
    let is_joined = run.contains(['_', '.', '/', ':', '@']);
    let is_camel = run.chars().zip(run.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    if is_joined || is_camel {
        return words.push(Token { stem: raw.clone(), raw, kind: TokenKind::Name });
    }
    for part in raw.replace(['\'', '’'], "").split('-').filter(|part| !part.is_empty()) {
        let kind = match part {
            _ if FILLING.contains(part) => TokenKind::Filler,
            _ if NEGATING.contains(part) => TokenKind::Negation,
            _ => TokenKind::Plain,
        };
        words.push(Token { raw: part.to_owned(), stem: stem(part), kind });
    }
}

/// Strips plural and tense endings: `caches`, `cached` and `caching` have one stem.
pub(super) fn stem(word: &str) -> String {
    if word.len() < 4 || !word.is_ascii() {
        return word.strip_suffix('e').filter(|rest| rest.len() > 1).unwrap_or(word).to_owned();
    }
    let has_vowel = |rest: &&str| rest.len() > 1 && rest.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    let cut = |ending: &str| word.strip_suffix(ending).filter(has_vowel);
    if let Some(rest) = word.strip_suffix("ies") {
        return format!("{rest}y");
    }
    if let Some(rest) = cut("ing").or_else(|| cut("ed")) {
        return undoubled(rest).trim_end_matches('e').to_owned();
    }
    let is_plural = !["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    let rest = if is_plural { word.strip_suffix('s').unwrap_or(word) } else { word };
    rest.trim_end_matches('e').to_owned()
}

/// Undoubles the last consonant: `runn` of `running` becomes `run`.
fn undoubled(rest: &str) -> &str {
    let bytes = rest.as_bytes();
    match bytes {
        [.., a, b] if a == b && !matches!(b, b'l' | b's' | b'z') => &rest[..rest.len() - 1],
        _ => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str) -> Vec<String> {
        words(text).into_iter().filter(|word| word.kind != TokenKind::Filler).map(|word| word.stem).collect()
    }

    #[test]
    fn forms_of_a_word_are_one_word() {
        for forms in [
            ["run", "runs", "running"],
            ["cache", "caches", "cached"],
            ["use", "uses", "using"],
            ["fail", "failed", "failing"],
            ["retry", "retries", "retry"],
        ] {
            let stems: BTreeSet<String> = forms.iter().map(|form| stem(form)).collect();
            assert_eq!(stems.len(), 1, "{stems:?}");
        }
        assert_ne!(stem("string"), stem("str"));
    }

    #[test]
    fn names_and_numbers_stay_whole_and_negations_are_classified() {
        assert_eq!(
            stems("Don't edit src/paint.rs, v1.2.3 or parseAll(x_y)!"),
            ["dont", "edit", "src/paint.rs", "1.2.3", "parseall", "x_y"]
        );
        let sorts: Vec<TokenKind> = words("never 12 a_b it's").iter().map(|word| word.kind).collect();
        assert_eq!(sorts[..3], [TokenKind::Negation, TokenKind::Number, TokenKind::Name]);
    }

    #[test]
    fn scripts_without_spaces_are_compared_by_pairs_and_wide_letters_are_letters() {
        assert_eq!(stems("再試行は３回"), ["再試", "試行", "行は", "3"]);
        assert!(words("コミットしない").iter().any(|word| word.kind == TokenKind::Negation));
    }
}
