//! The words of a query that are worth looking for.
//!
//! Stop words are left out unless there is nothing else. A query of any length is answered: the rarest words decide,
//! and that is known only when they were looked up.

use crate::source::boundary;

use super::stop::is_stop_word;
use super::terms::{Role, Term, each_term};

/// So many words are looked for; of a longer query, the rarest.
pub const WORDS_AT_MOST: usize = 48;

/// So many bytes of a query are read.
const READ_AT_MOST: usize = 16 * 1024;

/// One word of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub indexed: String,
    pub written: String,
    pub role: Role,
}

/// A word with everything that counts as it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sought {
    pub word: Word,
    /// What is looked for in its place, and what it counts: the word itself, or its kin where nobody has it.
    pub spellings: Vec<(String, f32)>,
    /// How many documents have one of the spellings.
    pub holders: u32,
}

/// The different words of `text`, in order.
pub fn words_of(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    each_term(bounded(text), &mut |term: Term<'_>| {
        if !words.iter().any(|word| word.indexed == term.indexed) {
            words.push(Word {
                indexed: term.indexed.to_owned(),
                written: term.written.to_owned(),
                role: term.role,
            });
        }
    });
    let (telling, common): (Vec<Word>, Vec<Word>) =
        words.into_iter().partition(|word| !is_stop_word(&word.written));
    if telling.is_empty() { common } else { telling }
}

fn bounded(text: &str) -> &str {
    &text[..boundary(text, READ_AT_MOST)]
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
        check("", &[]);
    }
}
