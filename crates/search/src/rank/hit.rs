//! The result of a search: hits, and the reasons for their rank.
//!
//! Definitions only: it must not rank anything.

use crate::document::DocumentKind;

/// A search result.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub id: i64,
    pub kind: DocumentKind,
    pub at: i64,
    /// Higher is better; comparable only among hits of the same query.
    pub score: f32,
    /// Words of the query that the document contains, as the user wrote them.
    pub words: Vec<String>,
    pub boosts: Vec<Boost>,
}

/// One contribution to a hit's score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boost {
    pub why: BoostReason,
    pub by: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BoostReason {
    /// It contains words of the query.
    Words,
    /// Its meaning is similar.
    Meaning,
    /// A neighbouring document matches.
    Neighbour,
    /// Its session as a whole matches.
    Session,
    /// It contains a quoted phrase.
    Phrase,
    /// A file that the query names, or that is being worked on.
    File,
    /// The project that the query names, or the current one.
    Project,
    /// The current branch.
    Branch,
    /// The query names its date.
    Date,
    /// The query asks for the latest.
    Recent,
    /// Distilled kinds (memories, summaries) rank above raw text.
    Kind,
}

/// Which ranking stages run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankingStages {
    /// BM25 alone.
    Words,
    /// Words and meaning.
    Meaning,
    /// All stages.
    Whole,
}

/// A document's source and its number in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocAddress {
    pub source: usize,
    pub doc: u32,
}
