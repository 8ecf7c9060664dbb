//! Words: splitting texts into terms, the terms of a query, spelling expansion, and BM25.

mod bm25;
mod kin;
mod language;
mod lexicon;
mod sought;
mod stop;
mod terms;

pub use bm25::{Bm25, Collection};
pub use kin::{
    EditAutomaton, Expansion, Relation, SCANNED_TERMS, SubstringAutomaton, TermDictionary, expand,
    is_related, short_hashes,
};
pub use language::Language;
pub use lexicon::{Column, Synonym, synonyms};
pub use sought::{MAX_TERMS, QueryTerm, QueryWord, significant_words_of, words_of};
pub use stop::is_stop_word;
pub use terms::{Role, Term, each_term, is_unspaced, plain_words};
