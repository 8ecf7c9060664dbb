//! Runs the ranking stages and orders the candidates.
//!
//! Never writes, and no query is an error.

use super::candidates::{RankCandidate, SearchContext};
use super::filter::Filter;
use super::hit::{BoostReason, Hit, RankingStages};
use super::reference::NamedTurns;
use super::{boosts, exact, meaning, structure, turns};
use crate::error::Result;
use crate::query::Query;
use crate::source::DocSource;
use crate::vectors::QuerySimilarity;

/// Scores that differ by less count as equal: the newer document comes first.
const SAME: f32 = 0.002;

/// `near` holds the query's similarity to document vectors, if a model is available.
pub fn rank(
    tier: RankingStages,
    query: &Query,
    sources: &[&dyn DocSource],
    near: Option<&QuerySimilarity<'_>>,
) -> Result<Vec<Hit>> {
    let (mut filter, mut sources) = (Filter::new(query, sources)?, sources.to_vec());
    if tier == RankingStages::Words {
        // An agent waits for it, and rarity in the rest is near enough.
        filter.drop_empty_sources(&mut sources);
    }
    let mut search = SearchContext::new(tier, query, &sources, filter)?;
    search.near = near;
    let mut candidates = search.candidates(tier)?;
    match tier {
        RankingStages::Words => {
            candidates.iter_mut().for_each(|candidate| candidate.boost(BoostReason::Words, candidate.words))
        }
        RankingStages::Meaning => meaning::apply_boosts(&search, &mut candidates),
        RankingStages::Whole => {
            meaning::apply_boosts(&search, &mut candidates);
            exact::add(&search, &mut candidates);
            structure::apply_neighbour_boosts(&search, &mut candidates)?;
            if let Some(named) = NamedTurns::find(&search, &candidates) {
                named.boost(&search, &mut candidates);
            }
            boosts::add(&search, &mut candidates)?;
        }
    }
    in_order(&search, candidates)
}

fn in_order(search: &SearchContext<'_>, mut candidates: Vec<RankCandidate>) -> Result<Vec<Hit>> {
    let step = |candidate: &RankCandidate| (candidate.score() / SAME).round() as i64;
    candidates.sort_by_key(|candidate| {
        std::cmp::Reverse((step(candidate), candidate.facts.at, candidate.facts.id))
    });
    candidates = turns::one_per_turn(candidates);
    if candidates.len() < search.query.limit {
        candidates.extend(search.beyond(&candidates)?);
    }
    candidates.truncate(search.query.limit);
    Ok(candidates.into_iter().map(|candidate| hit(search, candidate)).collect())
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
