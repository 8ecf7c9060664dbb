//! What documents mean, by the static table: how near each piece of the question comes, and the whole.
//!
//! Candidates are compared with each other alone; a score says nothing outside of its question.

use super::Why;
use super::candidates::{Candidate, Found, Way};
use crate::table::{DIMENSIONS, PIECES, Piece, pieces, row, share};

/// Pieces that are looked at together. Over whole long documents something is always near.
const WINDOW: usize = 48;
const HALF: usize = WINDOW / 2;

/// Pieces of a question that are compared; of more, the rarest.
const ASKED_AT_MOST: usize = 48;

/// What each view is worth.
const BY_WORDS: f32 = 0.4;
const BY_PIECES: f32 = 0.3;
const BY_WHOLE: f32 = 0.3;

/// The same where a model has its say: its vector takes the place of the whole, and of part of the pieces.
const BY_PIECES_BESIDE: f32 = 0.2;
const BY_VECTOR: f32 = 0.4;
/// A document without any word of the question may come so near by its vector instead.
const NEAR_BY_VECTOR: f32 = 0.35;

/// A document without any word of the question must come so near to its pieces, from 0 to 1.
const NEAR_ENOUGH: f32 = 0.4;

/// Scores that differ by less than this share of the highest are not drawn apart to the full.
const LEAST_SPAN: f32 = 0.25;

/// Ordinary texts weigh as many documents as this.
const BACKGROUND: f32 = 100.0;

/// Gives each candidate its share for words and for meaning.
pub fn fuse(found: &Found<'_>, candidates: &mut Vec<Candidate>) {
    let rarity = Rarity::among(candidates);
    let asked = asked(&found.query.text, &rarity);
    let words = scaled(candidates.iter().map(|candidate| candidate.words).collect());
    let mut near = Nearness::to(&asked);
    let (by_pieces, by_whole): (Vec<f32>, Vec<f32>) =
        candidates.iter().map(|candidate| near.of(&candidate.pieces, &rarity)).unzip();
    let by_vector = by_vector(found, candidates);
    let is_kept: Vec<bool> = (candidates.iter().zip(by_pieces.iter().zip(&by_vector)))
        .map(|(candidate, (pieces, vector))| {
            let is_near = *pieces >= NEAR_ENOUGH || vector.is_some_and(|near| near >= NEAR_BY_VECTOR);
            candidate.way != Way::Beside || is_near
        })
        .collect();
    let meaning = joined(scaled(by_pieces), scaled(by_whole), by_vector);
    for (number, candidate) in candidates.iter_mut().enumerate() {
        candidate.boost(Why::Words, BY_WORDS * words[number]);
        candidate.boost(Why::Meaning, meaning[number]);
    }
    let mut is_kept = is_kept.into_iter();
    candidates.retain(|_| is_kept.next().unwrap_or(true));
}

/// How near candidates come by a model's vectors: nothing where there is no model, or no vector yet.
fn by_vector(found: &Found<'_>, candidates: &[Candidate]) -> Vec<Option<f32>> {
    let ids: Vec<i64> = candidates.iter().map(|candidate| candidate.facts.id).collect();
    found.near.map_or_else(|| vec![None; ids.len()], |near| near.of(&ids))
}

/// What the three views of meaning are worth together. What has no vector is judged by its whole instead.
fn joined(by_pieces: Vec<f32>, by_whole: Vec<f32>, by_vector: Vec<Option<f32>>) -> Vec<f32> {
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

/// From 0 for the least to 1 for the most. Where all are nearly the same, a small difference stays small.
pub fn scaled(mut values: Vec<f32>) -> Vec<f32> {
    let least = values.iter().copied().fold(f32::INFINITY, f32::min);
    let most = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let span = (most - least).max(LEAST_SPAN * most.abs()).max(f32::MIN_POSITIVE);
    values.iter_mut().for_each(|value| *value = (*value - least) / span);
    values
}

/// How much a piece tells, by how many candidates have it and how common it is elsewhere.
struct Rarity {
    holders: Vec<u16>,
    documents: f32,
}

impl Rarity {
    fn among(candidates: &[Candidate]) -> Rarity {
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
        Rarity { holders, documents: candidates.len() as f32 }
    }

    fn of(&self, piece: Piece) -> f32 {
        let holders = f32::from(self.holders[usize::from(piece)]);
        (1.0 + (self.documents + BACKGROUND) / (1.0 + holders + BACKGROUND * share(piece))).ln()
    }
}

/// The pieces of a question with their weights, each once.
fn asked(text: &str, rarity: &Rarity) -> Vec<(Piece, f32)> {
    let mut asked: Vec<(Piece, f32)> = Vec::new();
    for piece in pieces(text, ASKED_AT_MOST * 8) {
        if !asked.iter().any(|(known, _)| *known == piece) {
            asked.push((piece, rarity.of(piece)));
        }
    }
    asked.sort_by(|a, b| b.1.total_cmp(&a.1));
    asked.truncate(ASKED_AT_MOST);
    asked
}

/// How near pieces are to those of the question; each piece is compared once, however often it occurs.
struct Nearness {
    asked: Vec<[f32; DIMENSIONS]>,
    weights: Vec<f32>,
    total: f32,
    /// The question as a whole, of length 1.
    whole: [f32; DIMENSIONS],
    /// Where a piece's comparison is, or `UNKNOWN`.
    known: Vec<u16>,
    /// Vectors of the known pieces, weighted by rarity.
    vectors: Vec<[f32; DIMENSIONS]>,
    /// Cosines with each piece that was asked, one piece after the other.
    cosines: Vec<f32>,
}

const UNKNOWN: u16 = u16::MAX;

impl Nearness {
    fn to(asked: &[(Piece, f32)]) -> Nearness {
        let mut whole = [0.0; DIMENSIONS];
        for (piece, weight) in asked {
            add_scaled(&mut whole, &vector(*piece), *weight);
        }
        Nearness {
            asked: asked.iter().map(|(piece, _)| normal(vector(*piece))).collect(),
            weights: asked.iter().map(|(_, weight)| *weight).collect(),
            total: asked.iter().map(|(_, weight)| weight).sum::<f32>().max(f32::MIN_POSITIVE),
            whole: normal(whole),
            known: vec![UNKNOWN; PIECES],
            vectors: Vec::new(),
            cosines: Vec::new(),
        }
    }

    /// How near the nearest pieces come, in the best window, and how near the document as a whole.
    fn of(&mut self, pieces: &[Piece], rarity: &Rarity) -> (f32, f32) {
        let mut whole = [0.0; DIMENSIONS];
        let mut halves: Vec<Vec<f32>> = Vec::new();
        for half in pieces.chunks(HALF) {
            let mut nearest = vec![0.0_f32; self.asked.len()];
            for piece in half {
                let number = self.number_of(*piece, rarity);
                add_scaled(&mut whole, &self.vectors[number], 1.0);
                let cosines = &self.cosines[number * self.asked.len()..][..self.asked.len()];
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

    fn number_of(&mut self, piece: Piece, rarity: &Rarity) -> usize {
        let known = self.known[usize::from(piece)];
        if known != UNKNOWN {
            return usize::from(known);
        }
        let number = self.vectors.len();
        let vector = vector(piece);
        let direction = normal(vector);
        self.cosines.extend(self.asked.iter().map(|asked| dot(asked, &direction)));
        let mut weighted = [0.0; DIMENSIONS];
        add_scaled(&mut weighted, &vector, rarity.of(piece));
        self.vectors.push(weighted);
        self.known[usize::from(piece)] = number as u16;
        number
    }
}

fn vector(piece: Piece) -> [f32; DIMENSIONS] {
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

/// Eight sums side by side: what the compiler makes into one instruction on several numbers.
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
