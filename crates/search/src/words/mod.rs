//! Finding by words: which words a text has, which of them are sought, and how well a document matches.

mod bm25;
mod kin;
mod sought;
mod stop;
mod terms;

pub use bm25::{Bm25, Collection};
pub use kin::{Kinship, Reach, Slips, Vocabulary, Within, is_kin, kin, shortened};
pub use sought::{Sought, WORDS_AT_MOST, Word, words_of};
pub use terms::{Term, each_term};
