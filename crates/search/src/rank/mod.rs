//! From a question to hits in order: words choose, meaning and structure rank.
//!
//! Every hit says why it is where it is. Nothing here writes, and no question is an error.

mod boosts;
mod candidates;
mod dates;
mod filter;
mod meaning;
mod structure;

use crate::document::Kind;
use crate::index::Error;
use crate::query::Query;
use crate::source::Source;
use crate::vectors::Near;

use candidates::{Candidate, Found};

/// A document that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub id: i64,
    pub kind: Kind,
    pub at: i64,
    /// Higher is better; of use only beside the other hits of the same question.
    pub score: f32,
    /// Words of the question that the document has, as they were asked.
    pub words: Vec<String>,
    pub boosts: Vec<Boost>,
}

/// What moved a hit up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boost {
    pub why: Why,
    pub by: f32,
}

/// Why a hit is where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// It has words of the question.
    Words,
    /// It means something like it.
    Meaning,
    /// The document before or after it fits.
    Neighbour,
    /// Its session as a whole fits.
    Session,
    /// Quoted words stand there together.
    Phrase,
    /// A file that was named, or that is being worked on.
    File,
    /// The project that was named, or the one at hand.
    Project,
    /// The branch at hand.
    Branch,
    /// The question names its time.
    Date,
    /// The question asks for the latest.
    Recent,
    /// What was distilled says more than what was merely said.
    Kind,
}

/// How much is done for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Words alone.
    Words,
    /// Words and meaning.
    Meaning,
    /// Everything.
    Whole,
}

/// Scores that differ by less are the same: then the newer one comes first.
const SAME: f32 = 0.002;

/// `near` is the question beside the vectors of a model's, where there is one.
pub fn rank(
    tier: Tier,
    query: &Query,
    sources: &[&dyn Source],
    near: Option<&Near<'_>>,
) -> Result<Vec<Hit>, Error> {
    let found = Found::look(query, sources, near)?;
    let mut candidates = found.candidates(tier)?;
    match tier {
        Tier::Words => {
            candidates.iter_mut().for_each(|candidate| candidate.boost(Why::Words, candidate.words))
        }
        Tier::Meaning => meaning::fuse(&found, &mut candidates),
        Tier::Whole => {
            meaning::fuse(&found, &mut candidates);
            structure::lend(&found, &mut candidates)?;
            boosts::add(&found, &mut candidates)?;
        }
    }
    Ok(in_order(&found, candidates))
}

fn in_order(found: &Found<'_>, mut candidates: Vec<Candidate>) -> Vec<Hit> {
    let step = |candidate: &Candidate| (candidate.score() / SAME).round() as i64;
    candidates.sort_by_key(|candidate| {
        std::cmp::Reverse((step(candidate), candidate.facts.at, candidate.facts.id))
    });
    candidates.truncate(found.query.limit);
    candidates.into_iter().map(|candidate| hit(found, candidate)).collect()
}

fn hit(found: &Found<'_>, candidate: Candidate) -> Hit {
    let words = (0..).zip(&found.sought).filter(|(number, _)| candidate.has(*number));
    Hit {
        id: candidate.facts.id,
        kind: candidate.facts.kind,
        at: candidate.facts.at,
        score: candidate.score(),
        words: words.map(|(_, sought)| sought.word.written.clone()).collect(),
        boosts: candidate.boosts,
    }
}
