//! Ranking by meaning with the static table: the similarity of each query piece, and of the query as a whole.
//!
//! Candidates are compared with each other alone; a score says nothing outside of its query.

use super::candidates::{FoundBy, RankCandidate, SearchContext};
use super::hit::BoostReason;
use crate::table::{DIMENSIONS, PIECES, WordPiece, pieces, row, share};
use crate::words::{Language, is_unspaced};

/// Pieces compared together. Over whole long documents something is always near.
const WINDOW: usize = 48;
const HALF: usize = WINDOW / 2;

/// The number of query pieces compared; of more, the rarest.
const MAX_QUERY_PIECES: usize = 48;

/// The weight of each view.
const BY_WORDS: f32 = 0.4;
const BY_PIECES: f32 = 0.3;
const BY_WHOLE: f32 = 0.3;
/// The weight of the words of a document that is found by translation: nothing else is known of it.
const BY_WORDS_OF_TRANSLATED: f32 = 0.8;

/// The weights with a model: its vector replaces the whole, and part of the pieces.
const BY_PIECES_BESIDE: f32 = 0.3;
const BY_VECTOR: f32 = 0.3;
/// A document without any word of the query is kept if its vector is at least this near.
const NEAR_BY_VECTOR: f32 = 0.35;

/// A document without any word of the query must come this near to its pieces, from 0 to 1.
const NEAR_ENOUGH: f32 = 0.4;

/// Values that differ by less than this share of the highest are not stretched to the full range.
const LEAST_SPAN: f32 = 0.25;

/// The weight of ordinary text, in documents.
const BACKGROUND: f32 = 100.0;

/// Adds each candidate's boosts for words and meaning, and drops candidates that match neither.
pub fn apply_boosts(search: &SearchContext<'_>, candidates: &mut Vec<RankCandidate>) {
    let rarity = PieceRarity::among(candidates);
    let query_pieces = query_pieces(&search.query.text, &rarity);
    let words = scaled(candidates.iter().map(|candidate| candidate.words).collect());
    let mut near = PieceSimilarity::to(&query_pieces);
    let (by_pieces, by_whole): (Vec<f32>, Vec<f32>) =
        candidates.iter().map(|candidate| near.of(&candidate.pieces, &rarity)).unzip();
    let by_vector = by_vector(search, candidates);
    let is_known = is_in_table(&search.query.text);
    let is_kept: Vec<bool> = (candidates.iter().zip(by_pieces.iter().zip(&by_vector)))
        .map(|(candidate, (pieces, vector))| {
            let is_near =
                (is_known && *pieces >= NEAR_ENOUGH) || vector.is_some_and(|near| near >= NEAR_BY_VECTOR);
            candidate.found_by != FoundBy::Nearby || is_near
        })
        .collect();
    let has_meaning = is_known || by_vector.iter().any(Option::is_some);
    let meaning = combined(scaled(by_pieces), scaled(by_whole), by_vector);
    for (number, candidate) in candidates.iter_mut().enumerate() {
        let (by_words, meaning) = if has_meaning && candidate.is_translated() {
            // The table cannot read it, and does not know that it is far.
            (BY_WORDS_OF_TRANSLATED, 0.0)
        } else if has_meaning {
            (BY_WORDS, meaning[number])
        } else {
            (1.0, 0.0)
        };
        candidate.boost(BoostReason::Words, by_words * words[number]);
        candidate.boost(BoostReason::Meaning, meaning);
    }
    let mut is_kept = is_kept.into_iter();
    candidates.retain(|_| is_kept.next().unwrap_or(true));
}

/// Whether the table can tell anything about a query: it knows English.
fn is_in_table(query: &str) -> bool {
    Language::of(query).is_none() && !query.chars().any(is_unspaced)
}

/// Similarity by a model's vectors; `None` without a model, or for documents without a vector yet.
fn by_vector(search: &SearchContext<'_>, candidates: &[RankCandidate]) -> Vec<Option<f32>> {
    let ids: Vec<i64> = candidates.iter().map(|candidate| candidate.facts.id).collect();
    search.near.map_or_else(|| vec![None; ids.len()], |near| near.of(&ids))
}

/// The combined score of the three views of meaning. A document without a vector is judged by its whole instead.
fn combined(by_pieces: Vec<f32>, by_whole: Vec<f32>, by_vector: Vec<Option<f32>>) -> Vec<f32> {
    let table = by_pieces.iter().zip(&by_whole);
    if by_vector.iter().all(Option::is_none) {
        return table.map(|(pieces, whole)| BY_PIECES * pieces + BY_WHOLE * whole).collect();
    }
    let mut vectors = scaled(by_vector.iter().flatten().copied().collect()).into_iter();
    let sentence =
        |(vector, whole): (&Option<f32>, &f32)| vector.and_then(|_| vectors.next()).unwrap_or(*whole);
    let sentences: Vec<f32> = by_vector.iter().zip(&by_whole).map(sentence).collect();
    let both = by_pieces.iter().zip(sentences);
    both.map(|(pieces, sentence)| BY_PIECES_BESIDE * pieces + BY_VECTOR * sentence).collect()
}

/// Scales values to 0..1. If all are nearly equal, a small difference stays small.
pub fn scaled(mut values: Vec<f32>) -> Vec<f32> {
    let least = values.iter().copied().fold(f32::INFINITY, f32::min);
    let most = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let span = (most - least).max(LEAST_SPAN * most.abs()).max(f32::MIN_POSITIVE);
    values.iter_mut().for_each(|value| *value = (*value - least) / span);
    values
}

/// How rare a piece is, by how many candidates contain it and how common it is in ordinary text.
struct PieceRarity {
    holders: Vec<u16>,
    documents: f32,
}

impl PieceRarity {
    fn among(candidates: &[RankCandidate]) -> PieceRarity {
        let mut holders = vec![0_u16; PIECES];
        let mut last = vec![u16::MAX; PIECES];
        for (number, candidate) in (0_u16..).zip(candidates) {
            for piece in candidate.pieces.iter().map(|piece| usize::from(*piece)) {
                if last[piece] != number {
                    last[piece] = number;
                    holders[piece] += 1;
                }
            }
        }
        PieceRarity { holders, documents: candidates.len() as f32 }
    }

    fn of(&self, piece: WordPiece) -> f32 {
        let holders = f32::from(self.holders[usize::from(piece)]);
        (1.0 + (self.documents + BACKGROUND) / (1.0 + holders + BACKGROUND * share(piece))).ln()
    }
}

/// The distinct pieces of a query with their weights.
fn query_pieces(text: &str, rarity: &PieceRarity) -> Vec<(WordPiece, f32)> {
    let mut query_pieces: Vec<(WordPiece, f32)> = Vec::new();
    for piece in pieces(text, MAX_QUERY_PIECES * 8) {
        if !query_pieces.iter().any(|(slots, _)| *slots == piece) {
            query_pieces.push((piece, rarity.of(piece)));
        }
    }
    query_pieces.sort_by(|a, b| b.1.total_cmp(&a.1));
    query_pieces.truncate(MAX_QUERY_PIECES);
    query_pieces
}

/// Similarity of pieces to those of the query; each distinct piece is compared once.
struct PieceSimilarity {
    query_pieces: Vec<[f32; DIMENSIONS]>,
    weights: Vec<f32>,
    total: f32,
    /// The query as a whole, normalised.
    whole: [f32; DIMENSIONS],
    /// Index of a piece's comparison, or `UNKNOWN`.
    slots: Vec<u16>,
    /// Vectors of the compared pieces, weighted by rarity.
    vectors: Vec<[f32; DIMENSIONS]>,
    /// Cosines with each query piece, one piece after the other.
    cosines: Vec<f32>,
}

const UNKNOWN: u16 = u16::MAX;

impl PieceSimilarity {
    fn to(query_pieces: &[(WordPiece, f32)]) -> PieceSimilarity {
        let mut whole = [0.0; DIMENSIONS];
        for (piece, weight) in query_pieces {
            add_scaled(&mut whole, &vector(*piece), *weight);
        }
        PieceSimilarity {
            query_pieces: query_pieces.iter().map(|(piece, _)| normal(vector(*piece))).collect(),
            weights: query_pieces.iter().map(|(_, weight)| *weight).collect(),
            total: query_pieces.iter().map(|(_, weight)| weight).sum::<f32>().max(f32::MIN_POSITIVE),
            whole: normal(whole),
            slots: vec![UNKNOWN; PIECES],
            vectors: Vec::new(),
            cosines: Vec::new(),
        }
    }

    /// Similarity of the best window to the query's pieces, and of the document as a whole.
    fn of(&mut self, pieces: &[WordPiece], rarity: &PieceRarity) -> (f32, f32) {
        let mut whole = [0.0; DIMENSIONS];
        let mut halves: Vec<Vec<f32>> = Vec::new();
        for half in pieces.chunks(HALF) {
            let mut nearest = vec![0.0_f32; self.query_pieces.len()];
            for piece in half {
                let number = self.number_of(*piece, rarity);
                add_scaled(&mut whole, &self.vectors[number], 1.0);
                let cosines = &self.cosines[number * self.query_pieces.len()..][..self.query_pieces.len()];
                nearest.iter_mut().zip(cosines).for_each(|(most, cosine)| *most = most.max(*cosine));
            }
            halves.push(nearest);
        }
        (self.best_window(&halves), dot(&normal(whole), &self.whole))
    }

    fn best_window(&self, halves: &[Vec<f32>]) -> f32 {
        let of_pair = |pair: &[Vec<f32>]| -> f32 {
            let nearest = pair[0].iter().zip(&pair[pair.len() - 1]).map(|(a, b)| a.max(*b));
            nearest.zip(&self.weights).map(|(near, weight)| near * weight).sum::<f32>() / self.total
        };
        if halves.len() == 1 {
            return of_pair(halves);
        }
        halves.windows(2).map(of_pair).fold(0.0, f32::max)
    }

    fn number_of(&mut self, piece: WordPiece, rarity: &PieceRarity) -> usize {
        let slots = self.slots[usize::from(piece)];
        if slots != UNKNOWN {
            return usize::from(slots);
        }
        let number = self.vectors.len();
        let vector = vector(piece);
        let direction = normal(vector);
        self.cosines.extend(self.query_pieces.iter().map(|query_pieces| dot(query_pieces, &direction)));
        let mut weighted = [0.0; DIMENSIONS];
        add_scaled(&mut weighted, &vector, rarity.of(piece));
        self.vectors.push(weighted);
        self.slots[usize::from(piece)] = number as u16;
        number
    }
}

fn vector(piece: WordPiece) -> [f32; DIMENSIONS] {
    let (bytes, scale) = row(piece);
    std::array::from_fn(|at| f32::from(bytes[at] as i8) * scale)
}

fn normal(mut vector: [f32; DIMENSIONS]) -> [f32; DIMENSIONS] {
    let length = dot(&vector, &vector).sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
    vector
}

/// Eight parallel sums, which the compiler vectorises.
fn dot(a: &[f32; DIMENSIONS], b: &[f32; DIMENSIONS]) -> f32 {
    let mut sums = [0.0_f32; 8];
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for at in 0..8 {
            sums[at] += a[at] * b[at];
        }
    }
    sums.iter().sum()
}

fn add_scaled(sum: &mut [f32; DIMENSIONS], vector: &[f32; DIMENSIONS], weight: f32) {
    sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value * weight);
}
