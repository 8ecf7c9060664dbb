//! BM25, one word at a time.
//!
//! The constants were measured on conversations; the index library fixes its own, so they are not used.

const K1: f32 = 0.9;
const B: f32 = 0.4;

/// Statistics of all documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collection {
    pub documents: f32,
    /// The average number of words per document.
    pub mean_length: f32,
}

/// The score contribution of one word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25 {
    weight: f32,
    mean_length: f32,
}

impl Bm25 {
    /// For a word that occurs in `doc_freq` documents.
    pub fn new(collection: Collection, doc_freq: f32) -> Bm25 {
        Bm25 { weight: rarity(collection.documents, doc_freq), mean_length: collection.mean_length }
    }

    pub fn times(self, factor: f32) -> Bm25 {
        Bm25 { weight: self.weight * factor, ..self }
    }

    /// No document gets a higher score.
    pub fn most(self) -> f32 {
        self.weight * (K1 + 1.0)
    }

    /// The score of a document with `count` occurrences among `length` words.
    pub fn score(self, count: f32, length: f32) -> f32 {
        self.score_damped(count, self.damping(length))
    }

    /// The length-dependent term beside the count; computed for all lengths before postings are read.
    pub fn damping(self, length: f32) -> f32 {
        K1 * (1.0 - B + B * length / self.mean_length.max(1.0))
    }

    /// `score` with a precomputed `damping`.
    pub fn score_damped(self, count: f32, damping: f32) -> f32 {
        self.weight * count * (K1 + 1.0) / (count + damping)
    }
}

fn rarity(documents: f32, doc_freq: f32) -> f32 {
    (1.0 + (documents - doc_freq + 0.5).max(0.0) / (doc_freq + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLLECTION: Collection = Collection { documents: 1000.0, mean_length: 50.0 };

    #[test]
    fn rare_words_and_short_documents_count_more() {
        let (rare, common) = (Bm25::new(COLLECTION, 2.0), Bm25::new(COLLECTION, 500.0));
        assert!(rare.score(1.0, 50.0) > common.score(5.0, 50.0));
        assert!(rare.score(1.0, 10.0) > rare.score(1.0, 500.0));
        assert!(rare.score(2.0, 50.0) > rare.score(1.0, 50.0));
        assert!(Bm25::new(COLLECTION, 1000.0).score(1.0, 50.0) > 0.0);
    }
}
