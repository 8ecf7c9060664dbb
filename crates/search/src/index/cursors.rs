//! The postings of a query's terms in one segment, read together in the order of documents.
//!
//! Holds the scores of one window of documents, never of all. Terms that cannot lift a document above the score that is
//! asked for are only looked up in documents that contain another term (MaxScore).

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::BlockSegmentPostings;

use crate::source::Match;
use crate::words::Bm25;

/// The number of documents that are scored together: their scores stay in the processor's cache.
const WINDOW: usize = 1 << 14;

/// One spelling of a term, and the place up to which its documents were read.
struct Cursor {
    blocks: BlockSegmentPostings,
    /// The next document's place in the block.
    at: usize,
    bm25: Bm25,
    /// The term's number in the query.
    number: usize,
    /// No document gets a higher score by it.
    most: f32,
}

impl Cursor {
    /// The next document, or `u32::MAX` after the last one.
    fn doc(&mut self) -> u32 {
        if self.at >= self.blocks.block_len() {
            if self.blocks.block_len() == 0 {
                return u32::MAX;
            }
            self.blocks.advance();
            self.at = 0;
        }
        self.blocks.docs().get(self.at).copied().unwrap_or(u32::MAX)
    }

    /// How often a document contains the term. Documents must be asked for in ascending order.
    fn count_in(&mut self, doc: u32) -> Option<u32> {
        self.at = self.blocks.seek(doc);
        (self.blocks.docs().get(self.at) == Some(&doc)).then(|| self.blocks.freq(self.at))
    }
}

/// The cursors of a query, the least important term first.
pub struct Cursors<'a> {
    cursors: Vec<Cursor>,
    /// For each number of cursors from the first on: no document gets a higher score by them together.
    most: Vec<f32>,
    /// The length-dependent part of a score, for each code of a length.
    damping: [f32; 256],
    /// The code of each document's length.
    lengths: &'a FieldNormReader,
}

impl<'a> Cursors<'a> {
    /// All terms share the collection, and so the part of the score that depends on a length alone.
    pub fn new(bm25: Bm25, lengths: &'a FieldNormReader) -> Cursors<'a> {
        let length = |code: usize| FieldNormReader::id_to_fieldnorm(code as u8) as f32;
        let damping = std::array::from_fn(|code| bm25.damping(length(code)));
        Cursors { cursors: Vec::new(), most: vec![0.0], damping, lengths }
    }

    pub fn add(&mut self, blocks: BlockSegmentPostings, bm25: Bm25, number: usize) {
        self.cursors.push(Cursor { blocks, at: 0, bm25, number, most: bm25.most() });
    }

    fn rank(&mut self) {
        self.cursors.sort_by(|a, b| a.most.total_cmp(&b.most));
        let mut sum = 0.0;
        self.most.extend(self.cursors.iter().map(|cursor| {
            sum += cursor.most;
            sum
        }));
    }

    /// Passes the documents whose score exceeds the one that `each` returned last.
    pub fn each_match(mut self, each: &mut dyn FnMut(u32, f32) -> f32) {
        self.rank();
        let mut window = Window { first: 0, scores: vec![0.0; WINDOW], touched: vec![0; WINDOW / 64] };
        let mut least = 0.0_f32;
        loop {
            // The sums are rounded: a term is only left out if it is clearly too weak.
            let weak = self.most[1..].iter().take_while(|most| **most * 1.0001 < least).count();
            let next = self.cursors[weak..].iter_mut().map(Cursor::doc).min();
            let Some(first) = next.filter(|doc| *doc != u32::MAX) else { return };
            window.first = first;
            for cursor in &mut self.cursors[weak..] {
                window.add(cursor, &self.damping, self.lengths);
            }
            window.drain(&mut |doc, score| {
                let score = self.with_weak_terms(doc, score, weak, least);
                if score > least {
                    least = each(doc, score);
                }
            });
        }
    }

    /// Adds the scores of the weak terms, as long as the document may still exceed `least`.
    fn with_weak_terms(&mut self, doc: u32, mut score: f32, weak: usize, least: f32) -> f32 {
        for number in (0..weak).rev() {
            if (score + self.most[number + 1]) * 1.0001 < least {
                break;
            }
            let cursor = &mut self.cursors[number];
            if let Some(count) = cursor.count_in(doc) {
                let damping = self.damping[usize::from(self.lengths.fieldnorm_id(doc))];
                score += cursor.bm25.score_damped(count as f32, damping);
            }
        }
        score
    }

    /// The matches of some documents, given in ascending order.
    pub fn matches_of(mut self, docs: &[u32]) -> Vec<Match> {
        let mut matches = vec![Match::default(); docs.len()];
        for cursor in &mut self.cursors {
            for (doc, found) in docs.iter().zip(&mut matches) {
                if let Some(count) = cursor.count_in(*doc) {
                    let damping = self.damping[usize::from(self.lengths.fieldnorm_id(*doc))];
                    found.add(cursor.bm25.score_damped(count as f32, damping), cursor.number);
                }
            }
        }
        matches
    }
}

/// The scores of consecutive documents.
struct Window {
    first: u32,
    scores: Vec<f32>,
    /// One bit per document.
    touched: Vec<u64>,
}

impl Window {
    /// Adds the scores of all documents of the window that a cursor has.
    fn add(&mut self, cursor: &mut Cursor, damping: &[f32; 256], lengths: &FieldNormReader) {
        let end = self.first.saturating_add(WINDOW as u32);
        while cursor.doc() < end {
            let docs = &cursor.blocks.docs()[cursor.at..];
            let counts = &cursor.blocks.freqs()[cursor.at..];
            let mut read = 0;
            for (doc, count) in docs.iter().zip(counts).take_while(|(doc, _)| **doc < end) {
                let place = (doc - self.first) as usize;
                let damping = damping[usize::from(lengths.fieldnorm_id(*doc))];
                self.scores[place] += cursor.bm25.score_damped(*count as f32, damping);
                self.touched[place / 64] |= 1 << (place % 64);
                read += 1;
            }
            cursor.at += read;
        }
    }

    /// Passes every document with a score, in order, and clears the window.
    fn drain(&mut self, each: &mut dyn FnMut(u32, f32)) {
        for (number, bits) in self.touched.iter_mut().enumerate() {
            let mut left = std::mem::take(bits);
            while left != 0 {
                let place = number * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                each(self.first + place as u32, std::mem::take(&mut self.scores[place]));
            }
        }
    }
}
