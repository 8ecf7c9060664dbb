//! Ranking: query terms select candidates, meaning and structure order them.
//!
//! Every hit carries the reasons for its rank. This module never writes, and no query is an error.

mod boosts;
mod candidates;
mod dates;
mod filter;
mod meaning;
mod structure;

use crate::document::DocumentKind;
use crate::index::IndexError;
use crate::query::Query;
use crate::source::DocSource;
use crate::vectors::QuerySimilarity;

use candidates::{RankCandidate, SearchContext};

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

/// The reason for a boost.
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

/// Scores that differ by less count as equal: the newer document comes first.
const SAME: f32 = 0.002;

/// `near` holds the query's similarity to document vectors, if a model is available.
pub fn rank(
    tier: RankingStages,
    query: &Query,
    sources: &[&dyn DocSource],
    near: Option<&QuerySimilarity<'_>>,
) -> Result<Vec<Hit>, IndexError> {
    let search = SearchContext::new(query, sources, near)?;
    let mut candidates = search.candidates(tier)?;
    match tier {
        RankingStages::Words => {
            candidates.iter_mut().for_each(|candidate| candidate.boost(BoostReason::Words, candidate.words))
        }
        RankingStages::Meaning => meaning::fuse(&search, &mut candidates),
        RankingStages::Whole => {
            meaning::fuse(&search, &mut candidates);
            structure::lend(&search, &mut candidates)?;
            boosts::add(&search, &mut candidates)?;
        }
    }
    Ok(in_order(&search, candidates))
}

fn in_order(search: &SearchContext<'_>, mut candidates: Vec<RankCandidate>) -> Vec<Hit> {
    let step = |candidate: &RankCandidate| (candidate.score() / SAME).round() as i64;
    candidates.sort_by_key(|candidate| {
        std::cmp::Reverse((step(candidate), candidate.facts.at, candidate.facts.id))
    });
    candidates.truncate(search.query.limit);
    candidates.into_iter().map(|candidate| hit(search, candidate)).collect()
}

fn hit(search: &SearchContext<'_>, candidate: RankCandidate) -> Hit {
    let words = (0..).zip(&search.terms).filter(|(number, _)| candidate.has(*number));
    Hit {
        id: candidate.facts.id,
        kind: candidate.facts.kind,
        at: candidate.facts.at,
        score: candidate.score(),
        words: words.map(|(_, term)| term.word.written.clone()).collect(),
        boosts: candidate.boosts,
    }
}
