//! The terms of a query.
//!
//! Stop words are dropped unless there is nothing else. A query of any length is answered: its rarest terms decide,
//! which are known only after the lookup.

use crate::source::boundary;

use super::language::Language;
use super::stop::is_stop_word;
use super::terms::{Role, Term, each_term};

/// The number of terms looked up; of a longer query, the rarest.
pub const MAX_TERMS: usize = 48;

/// The number of bytes of a query that are read.
const MAX_QUERY_BYTES: usize = 16 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryWord {
    pub indexed: String,
    pub written: String,
    pub role: Role,
}

/// A query word with all spellings that match it.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryTerm {
    pub word: QueryWord,
    /// The spellings looked up and their weights: the word itself, or related spellings if no document contains it.
    pub spellings: Vec<(String, f32)>,
    /// Its translations and their weights.
    pub translations: Vec<(String, f32)>,
    /// The number of documents that contain one of the spellings or, if none does, a translation.
    pub doc_freq: u32,
    /// How much it counts among the query's terms: parts of an identifier that is found count less.
    pub weight: f32,
}

impl QueryTerm {
    /// A term that `doc_freq` documents have as it is.
    pub fn exact(word: QueryWord, doc_freq: u32) -> QueryTerm {
        let spellings = vec![(word.indexed.clone(), 1.0)];
        QueryTerm { spellings, word, translations: Vec::new(), doc_freq, weight: 1.0 }
    }
}

/// The distinct words of `text`, in order; stop words only if there are no others.
pub fn words_of(text: &str) -> Vec<QueryWord> {
    let (significant, common) = split_words(text);
    if significant.is_empty() { common } else { significant }
}

/// The distinct words of `text` that are no stop words.
pub fn significant_words_of(text: &str) -> Vec<QueryWord> {
    split_words(text).0
}

fn split_words(text: &str) -> (Vec<QueryWord>, Vec<QueryWord>) {
    let mut words: Vec<QueryWord> = Vec::new();
    let mut known = std::collections::HashSet::<String>::new();
    each_term(bounded(text), &mut |term: Term<'_>| {
        if !known.contains(term.indexed) {
            known.insert(term.indexed.to_owned());
            words.push(QueryWord {
                indexed: term.indexed.to_owned(),
                written: term.written.to_owned(),
                role: term.role,
            });
        }
    });
    let language = Language::of(bounded(text));
    let is_common = |word: &QueryWord| {
        is_stop_word(&word.written) || language.is_some_and(|language| language.is_stop_word(&word.written))
    };
    words.into_iter().partition(|word| !is_common(word))
}

fn bounded(text: &str) -> &str {
    &text[..boundary(text, MAX_QUERY_BYTES)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = words_of(text).into_iter().map(|word| word.written).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn stop_words_and_repetitions_are_left_out() {
        check("What is the cache of the caches?", &["cache"]);
        check("to be or not to be", &["to", "be", "or", "not"]);
        check("Wo liegt die Grenze für den Preis?", &["liegt", "grenze", "preis"]);
        check("¿Qué mapas usamos ahora?", &["mapas", "ahora"]);
        check("検索はどうしましたか", &["検索", "索は"]);
        check("为什么没有用缓存", &["么没", "有用", "用缓", "缓存"]);
        check("", &[]);
    }
}
