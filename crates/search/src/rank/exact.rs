//! Boosts for what the query says exactly: its words, and words that stand together.
//!
//! Looks at the candidates alone, and tells the other stages how far words decide.

use std::collections::HashSet;

use super::candidates::{RankCandidate, SearchContext};
use super::hit::BoostReason;
use crate::table::{WordPiece, pieces};

/// The boost for a candidate that contains all words of the query.
const ALL_WORDS: f32 = 0.2;
/// The boost for a candidate in which all neighbouring pieces of the query stand together.
const TOGETHER: f32 = 0.2;
/// The number of query pieces that are compared.
const PIECES_COMPARED: usize = 256;

/// How far words decide, from 0 to 1: the share of the query, by rarity, that one candidate contains, squared.
pub fn decided_by_words(search: &SearchContext<'_>, candidates: &[RankCandidate]) -> f32 {
    let shares = candidates.iter().map(|candidate| share_of_words(search, candidate));
    shares.fold(0.0, f32::max).powi(2)
}

pub fn share_of_words(search: &SearchContext<'_>, candidate: &RankCandidate) -> f32 {
    share_of(search, u64::MAX, candidate.matched)
}

/// The share of some query terms, by rarity, that a document has; both are bit sets. Terms that no document has do not count.
pub fn share_of(search: &SearchContext<'_>, terms: u64, matched: u64) -> f32 {
    let (mut all, mut own) = (0.0, 0.0);
    let known = (0_u32..).zip(&search.terms).filter(|(_, term)| term.doc_freq > 0);
    for (number, term) in known.filter(|(number, _)| terms >> number & 1 == 1) {
        let rarity = search.bm25(term).most();
        all += rarity;
        own += if matched >> number & 1 == 1 { rarity } else { 0.0 };
    }
    if all > 0.0 { own / all } else { 0.0 }
}

pub fn add(search: &SearchContext<'_>, candidates: &mut [RankCandidate]) {
    let query: Vec<WordPiece> = pieces(&search.query.text, PIECES_COMPARED);
    let pairs: HashSet<&[WordPiece]> = query.windows(2).collect();
    for candidate in candidates {
        candidate.boost(BoostReason::Words, ALL_WORDS * share_of_words(search, candidate));
        let own = candidate.pieces.windows(2).filter(|pair| pairs.contains(pair));
        let together = own.collect::<HashSet<_>>().len() as f32 / pairs.len().max(1) as f32;
        candidate.boost(BoostReason::Phrase, TOGETHER * together);
    }
}
