//! Boosts for a document's context: neighbouring turns and sessions that match.
//!
//! A session is judged by all its documents that contain query terms, not by the candidates alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::candidates::{RankCandidate, SearchContext, by_address};
use super::exact::decided_by_words;
use super::hit::{BoostReason, DocAddress};
use crate::error::Result;
use crate::source::Match;
use crate::words::{Bm25, Collection};

/// Shares of the score of the previous turn, the next turn, and the rest of the same turn.
const FROM_BEFORE: f32 = 0.2;
const FROM_AFTER: f32 = 0.1;
const FROM_SAME: f32 = 0.2;
/// The boost from a session that has all of the query.
const FROM_SESSION: f32 = 0.9;
/// The part of these boosts that is lost if one document contains all words of the query.
const LESS_BY_WORDS: f32 = 0.8;
/// The weight of a match that is no candidate, relative to the best: its meaning was not compared.
const BY_WORDS_ALONE: f32 = 0.4;

pub fn apply_neighbour_boosts(search: &SearchContext<'_>, candidates: &mut [RankCandidate]) -> Result<()> {
    let sessions = SessionMatches::of(search, candidates)?;
    let best_words = candidates.iter().map(|candidate| candidate.words).fold(f32::MIN_POSITIVE, f32::max);
    let turns = turns(search, &sessions, candidates, best_words);
    let priors = sessions.priors(search, candidates);
    let share = 1.0 - LESS_BY_WORDS * decided_by_words(search, candidates);
    let in_session = candidates.iter_mut().zip(priors).filter(|(candidate, _)| candidate.facts.session != 0);
    for (candidate, prior) in in_session {
        let session = candidate.facts.session;
        if let Some(turns) = turns.get(&session) {
            candidate.boost(BoostReason::Neighbour, share * from_neighbours(turns, candidate));
        }
        candidate.boost(BoostReason::Session, share * FROM_SESSION * prior);
    }
    Ok(())
}

/// The documents of the candidates' sessions that contain query terms.
struct SessionMatches {
    matching: BTreeMap<u64, Vec<(DocAddress, Match)>>,
    /// The number of documents per session.
    lengths: HashMap<u64, usize>,
}

impl SessionMatches {
    fn of(search: &SearchContext<'_>, candidates: &[RankCandidate]) -> Result<SessionMatches> {
        let mut sessions = SessionMatches { matching: BTreeMap::new(), lengths: HashMap::new() };
        let named: BTreeSet<u64> = candidates.iter().map(|candidate| candidate.facts.session).collect();
        let mut sessions_of = HashMap::new();
        for session in named.into_iter().filter(|session| *session != 0) {
            let in_session = search.in_session(session)?;
            sessions.lengths.insert(session, in_session.len());
            sessions.matching.insert(session, Vec::new());
            sessions_of.extend(in_session.into_iter().map(|address| (address, session)));
        }
        for (address, found) in search.matches_of(&sessions_of.keys().copied().collect())? {
            let session = sessions_of.get(&address).filter(|_| found.words != 0);
            let matching = session.and_then(|session| sessions.matching.get_mut(session));
            matching.into_iter().for_each(|matching| matching.push((address, found)));
        }
        Ok(sessions)
    }

    /// How much of the query the rest of each candidate's session has, from 0 to 1: BM25 over the session, with its matching
    /// documents as terms. The candidate itself does not count: its words have their own score.
    fn priors(&self, search: &SearchContext<'_>, candidates: &[RankCandidate]) -> Vec<f32> {
        let mean_length = self.lengths.values().sum::<usize>() as f32 / self.lengths.len().max(1) as f32;
        let collection = Collection { mean_length, ..search.collection };
        let words: Vec<Bm25> = search
            .terms
            .iter()
            .map(|term| Bm25::new(collection, term.doc_freq as f32).times(term.weight))
            .collect();
        let counts: HashMap<u64, Vec<u32>> = self
            .matching
            .iter()
            .map(|(session, matching)| (*session, counts(matching, words.len())))
            .collect();
        let asked = search.terms.iter().filter(|term| term.doc_freq > 0);
        let all: f32 = asked.map(|term| search.bm25(term).most()).sum();
        let share = |candidate: &RankCandidate| {
            let session = candidate.facts.session;
            let Some(counts) = counts.get(&session) else { return 0.0 };
            let length = self.lengths.get(&session).copied().unwrap_or_default() as f32;
            let of_word = |(number, bm25): (usize, &Bm25)| {
                let own = if candidate.has(number as u32) { 1.0 } else { 0.0 };
                bm25.score(counts[number] as f32 - own, length)
            };
            words.iter().enumerate().map(of_word).sum::<f32>() / all.max(f32::MIN_POSITIVE)
        };
        candidates.iter().map(share).collect()
    }
}

/// How many documents have each term.
fn counts(matching: &[(DocAddress, Match)], terms: usize) -> Vec<u32> {
    let count = |number| matching.iter().filter(|(_, found)| found.has(number)).count() as u32;
    (0..terms).map(count).collect()
}

/// The two best scores of a turn, and the document with the best.
#[derive(Clone, Copy, Default)]
struct TurnScores {
    best: f32,
    best_document: Option<DocAddress>,
    second: f32,
}

impl TurnScores {
    fn add(&mut self, address: DocAddress, score: f32) {
        if score > self.best {
            self.second = self.best;
            (self.best, self.best_document) = (score, Some(address));
        } else {
            self.second = self.second.max(score);
        }
    }

    fn best_beside(&self, address: DocAddress) -> f32 {
        if self.best_document == Some(address) { self.second } else { self.best }
    }
}

type Turns = BTreeMap<u32, TurnScores>;

fn turns(
    search: &SearchContext<'_>,
    sessions: &SessionMatches,
    candidates: &[RankCandidate],
    best_words: f32,
) -> HashMap<u64, Turns> {
    let is_candidate = by_address(candidates);
    let mut turns: HashMap<u64, Turns> = HashMap::new();
    for candidate in candidates {
        let session = turns.entry(candidate.facts.session).or_default();
        session.entry(candidate.facts.turn).or_default().add(candidate.address, candidate.score());
    }
    for (session, addresses) in &sessions.matching {
        for (address, found) in addresses.iter().filter(|(address, _)| !is_candidate.contains_key(address)) {
            let score = BY_WORDS_ALONE * found.score / best_words;
            let turn = search.facts(*address).turn;
            turns.entry(*session).or_default().entry(turn).or_default().add(*address, score);
        }
    }
    turns
}

fn from_neighbours(turns: &Turns, candidate: &RankCandidate) -> f32 {
    let turn = candidate.facts.turn;
    let best_of = |turn: Option<u32>| turn.and_then(|turn| turns.get(&turn)).map_or(0.0, |turn| turn.best);
    let same = turns.get(&turn).map_or(0.0, |turn| turn.best_beside(candidate.address));
    FROM_BEFORE * best_of(turn.checked_sub(1)) + FROM_AFTER * best_of(turn.checked_add(1)) + FROM_SAME * same
}
