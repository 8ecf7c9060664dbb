//! The adapter that feeds our terms to the index library.
//!
//! It decides nothing: `words::each_term` does.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::words::{Term, each_term};

/// A tokenizer over `each_term`.
#[derive(Clone, Default)]
pub struct WordTokenizer {
    /// All terms of the current text, concatenated.
    letters: String,
    ends: Vec<usize>,
    token: Token,
}

/// The terms of one text.
pub struct WordTokenStream<'a> {
    source: &'a mut WordTokenizer,
    next: usize,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordTokenStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordTokenStream<'a> {
        self.letters.clear();
        self.ends.clear();
        each_term(text, &mut |term: Term<'_>| {
            self.letters.push_str(term.indexed);
            self.ends.push(self.letters.len());
        });
        self.token.reset();
        WordTokenStream { source: self, next: 0 }
    }
}

impl TokenStream for WordTokenStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(end) = self.source.ends.get(self.next).copied() else { return false };
        let start = self.next.checked_sub(1).map_or(0, |before| self.source.ends[before]);
        let token = &mut self.source.token;
        token.text.clear();
        token.text.push_str(&self.source.letters[start..end]);
        token.position = self.next;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.source.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.source.token
    }
}
