//! Words that mean about the same, in five languages: what a query says, a document may say in other words.
//!
//! The lexicon is a text in the binary, read in place. It knows the common words of software work; it is asked only for a
//! query, and changes nothing in the index.

use super::language::Language;
use super::sought::QueryTerm;
use super::terms::{Term, each_term, is_unspaced, plain_words};
use crate::source::boundary;

static TEXT: &str = include_str!("lexicon.txt");

/// The weight of another word of the same language. Translations count in full: the caller knows how much they matter.
const SYNONYM: f32 = 0.4;
/// Words that are compared by their stems have the same letters up to here.
const SAME_BEGINNING: usize = 3;

/// The words of a query that are compared, and the bytes that they are taken from: a long one says enough by itself.
const WORDS: usize = 48;
const BYTES: usize = 1024;

/// A column of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    English,
    German,
    Spanish,
    Japanese,
    Chinese,
}

impl Column {
    pub const ALL: [Column; 5] =
        [Column::English, Column::German, Column::Spanish, Column::Japanese, Column::Chinese];

    /// Words, as they are indexed, of which nearly every text in the language has one.
    pub fn common_words(self) -> &'static [&'static str] {
        match self {
            Column::English => &["the", "is", "of", "and", "to"],
            Column::German => &["und", "der", "die", "nicht", "ist", "wird"],
            Column::Spanish => &["que", "el", "los", "para", "por", "una"],
            Column::Japanese => &["する", "した", "です", "ます", "まし", "して"],
            Column::Chinese => &["我们", "可以", "这个", "没有", "使用", "之后"],
        }
    }
}

/// An indexed word that a query's term stands for, too.
#[derive(Clone, Debug, PartialEq)]
pub struct Synonym {
    /// The number of the term.
    pub term: usize,
    pub indexed: String,
    pub weight: f32,
    /// Whether it is of another language than what the query says.
    pub is_translation: bool,
}

/// The other words for a query's terms, in these languages.
pub fn synonyms(query: &str, terms: &[QueryTerm], wanted: &[Column]) -> Vec<Synonym> {
    let said = Said::new(query, terms);
    let mut found = Vec::new();
    for concept in TEXT.lines().filter(|line| !line.starts_with('#')) {
        for (column, phrases) in columns(concept) {
            let mut named: Vec<usize> =
                phrases.split_ascii_whitespace().flat_map(|phrase| said.terms_of(column, phrase)).collect();
            named.sort_unstable();
            named.dedup();
            named.into_iter().for_each(|term| {
                let others = columns(concept).filter(|(other, _)| *other == column || wanted.contains(other));
                found.extend(others.flat_map(|(other, phrases)| other_words(term, phrases, other != column)));
            });
        }
    }
    found
}

/// The columns of a line.
fn columns(concept: &str) -> impl Iterator<Item = (Column, &str)> {
    Column::ALL.into_iter().zip(concept.split('|'))
}

/// The indexed words of the phrases of one column.
fn other_words(term: usize, phrases: &str, is_translation: bool) -> Vec<Synonym> {
    let mut found = Vec::new();
    for phrase in phrases.split_ascii_whitespace() {
        let words = indexed_words(phrase);
        let weight = if is_translation { 1.0 } else { SYNONYM } / words.len().max(1) as f32;
        found.extend(words.into_iter().map(|indexed| Synonym { term, indexed, weight, is_translation }));
    }
    found
}

/// The indexed words of a phrase; a word of an unspaced script is its pairs of letters.
fn indexed_words(phrase: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in phrase.split('_') {
        each_term(word, &mut |term: Term<'_>| words.push(term.indexed.to_owned()));
    }
    // A single letter of an unspaced script is indexed only where it stands alone.
    words.retain(|word| word.is_ascii() || word.chars().count() > 1);
    words
}

/// A word of a query, in lower case without accents, and as it is indexed.
struct SaidWord {
    plain: String,
    indexed: String,
}

/// The words of a query, prepared for comparing.
struct Said<'a> {
    text: String,
    words: Vec<SaidWord>,
    language: Option<Language>,
    terms: &'a [QueryTerm],
}

impl<'a> Said<'a> {
    fn new(query: &str, terms: &'a [QueryTerm]) -> Said<'a> {
        let query = &query[..boundary(query, BYTES)];
        let words = plain_words(query).into_iter().take(WORDS);
        let words = words.map(|plain| SaidWord { indexed: indexed_word(&plain), plain }).collect();
        Said { text: query.to_lowercase(), words, language: Language::of(query), terms }
    }

    /// The terms that a phrase of a column is said by; of an unspaced script, that of its first pair of letters.
    fn terms_of(&self, column: Column, phrase: &str) -> Vec<usize> {
        if phrase.starts_with(is_unspaced) {
            return self.term_of_unspaced(phrase).into_iter().collect();
        }
        let length = phrase.split('_').count();
        let is_said = |words: &[SaidWord]| {
            words.iter().zip(phrase.split('_')).all(|(word, wanted)| is_same(column, word, wanted))
        };
        let Some(at) = self.words.windows(length).position(is_said) else { return Vec::new() };
        let terms = self.words[at..at + length].iter().filter_map(|word| {
            let is_term =
                |term: &QueryTerm| term.word.indexed == word.indexed || term.word.written == word.plain;
            self.terms.iter().position(is_term)
        });
        terms.filter(|term| self.reads(column, &self.terms[*term])).collect()
    }

    fn term_of_unspaced(&self, phrase: &str) -> Option<usize> {
        let second = phrase.char_indices().nth(1)?.0;
        let pair = &phrase[..second + phrase[second..].chars().next()?.len_utf8()];
        let is_said = self.text.contains(phrase);
        self.terms.iter().position(|term| is_said && term.word.indexed == pair)
    }

    /// Whether a word is taken for one of this language: it is the query's, or no document has the word.
    fn reads(&self, column: Column, term: &QueryTerm) -> bool {
        let language = match column {
            Column::English => None,
            Column::German => Some(Language::German),
            Column::Spanish => Some(Language::Spanish),
            Column::Japanese | Column::Chinese => return true,
        };
        self.language == language || term.doc_freq == 0
    }
}

/// Whether a word of a query is one of the lexicon, perhaps with another ending.
fn is_same(column: Column, word: &SaidWord, wanted: &str) -> bool {
    if word.plain == wanted {
        return true;
    }
    let beginning = wanted.get(..SAME_BEGINNING.min(wanted.len())).unwrap_or(wanted);
    if !word.plain.starts_with(beginning) {
        return false;
    }
    match column {
        Column::English => indexed_word(wanted) == word.indexed,
        Column::German => Language::German.is_same_stem(&word.plain, wanted),
        Column::Spanish => Language::Spanish.is_same_stem(&word.plain, wanted),
        Column::Japanese | Column::Chinese => false,
    }
}

fn indexed_word(word: &str) -> String {
    let mut indexed = String::new();
    each_term(word, &mut |term: Term<'_>| {
        if indexed.is_empty() {
            term.indexed.clone_into(&mut indexed);
        }
    });
    indexed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::words_of;

    #[track_caller]
    fn check(query: &str, wanted: &[Column], expected: &[&str]) {
        let terms: Vec<QueryTerm> =
            words_of(query).into_iter().map(|word| QueryTerm::exact(word, 1)).collect();
        let found = synonyms(query, &terms, wanted);
        for word in expected {
            assert!(found.iter().any(|synonym| synonym.indexed == *word), "{query}: {word} in {found:?}");
        }
        assert!(!expected.is_empty() || found.is_empty(), "{query}: {found:?}");
    }

    #[test]
    fn lexicon_has_five_columns_in_lower_case_without_accents() {
        for line in TEXT.lines().filter(|line| !line.starts_with('#')) {
            assert_eq!(line.split('|').count(), Column::ALL.len(), "{line}");
            for (_, phrases) in columns(line).take(3) {
                for word in phrases.split_ascii_whitespace().flat_map(|phrase| phrase.split('_')) {
                    assert_eq!(plain_words(word).concat(), word, "{line}");
                }
            }
        }
    }

    #[test]
    fn words_are_known_by_their_endings_and_phrases_as_a_whole() {
        check("it crashed", &[], &["panic", "abort"]);
        check("file descriptors", &[], &["fd"]);
        check("descriptors of a lantern", &[], &[]);
    }

    #[test]
    fn words_are_translated_into_the_languages_that_are_wanted() {
        check("warehouse", &[Column::German, Column::Japanese], &["lager", "在庫"]);
        check("warum ist das lager leer", &[Column::English], &["stock"]);
        check("データベースの移行", &[Column::English], &["databas"]);
    }
}
