//! What a document gains from where it stands: beside a turn that fits, in a session that fits.
//!
//! Sessions are judged by all their documents that have words of the question, not by the candidates alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Why;
use super::candidates::{Candidate, Found, Place, by_place};
use super::meaning::scaled;
use crate::index::Error;
use crate::words::{Bm25, Collection};

/// What the turn before lends, the turn after, and the rest of the same turn.
const FROM_BEFORE: f32 = 0.3;
const FROM_AFTER: f32 = 0.1;
const FROM_SAME: f32 = 0.2;
/// What the best session lends.
const FROM_SESSION: f32 = 0.3;
/// What a match is worth that is no candidate, beside the best: meaning was not asked.
const BY_WORDS_ALONE: f32 = 0.4;

pub fn lend(found: &Found<'_>, candidates: &mut [Candidate]) -> Result<(), Error> {
    let sessions = Sessions::of(found, candidates)?;
    let best_words = candidates.iter().map(|candidate| candidate.words).fold(f32::MIN_POSITIVE, f32::max);
    let turns = turns(found, &sessions, candidates, best_words);
    let priors = sessions.priors(found);
    for candidate in candidates.iter_mut().filter(|candidate| candidate.facts.session != 0) {
        let session = candidate.facts.session;
        if let Some(turns) = turns.get(&session) {
            candidate.boost(Why::Neighbour, from_neighbours(turns, candidate));
        }
        let prior = priors.get(&session).copied().unwrap_or_default();
        candidate.boost(Why::Session, FROM_SESSION * prior);
    }
    Ok(())
}

/// The documents of the candidates' sessions that have words of the question.
struct Sessions {
    matching: BTreeMap<u64, Vec<Place>>,
    /// How many documents a session has.
    lengths: HashMap<u64, usize>,
}

impl Sessions {
    fn of(found: &Found<'_>, candidates: &[Candidate]) -> Result<Sessions, Error> {
        let mut sessions = Sessions { matching: BTreeMap::new(), lengths: HashMap::new() };
        let named: BTreeSet<u64> = candidates.iter().map(|candidate| candidate.facts.session).collect();
        for session in named.into_iter().filter(|session| *session != 0) {
            let members = found.members(session)?;
            sessions.lengths.insert(session, members.len());
            let matching = members.into_iter().filter(|place| found.matched(*place) != 0);
            sessions.matching.insert(session, matching.collect());
        }
        Ok(sessions)
    }

    /// How well each session fits, from 0 to 1: a session is a text whose words are its matching documents.
    fn priors(&self, found: &Found<'_>) -> HashMap<u64, f32> {
        let mean_length = self.lengths.values().sum::<usize>() as f32 / self.lengths.len().max(1) as f32;
        let collection = Collection { mean_length, ..found.collection };
        let words: Vec<Bm25> =
            found.sought.iter().map(|sought| Bm25::new(collection, sought.holders as f32)).collect();
        let scores = self.matching.iter().map(|(session, places)| {
            let length = self.lengths.get(session).copied().unwrap_or_default() as f32;
            let of_word = |(number, bm25): (usize, &Bm25)| {
                let count = places.iter().filter(|place| found.matched(**place) >> number & 1 == 1).count();
                bm25.score(count as f32, length)
            };
            words.iter().enumerate().map(of_word).sum::<f32>()
        });
        self.matching.keys().copied().zip(scaled(scores.collect())).collect()
    }
}

/// The two best scores of each turn, with whose the best is.
#[derive(Clone, Copy, Default)]
struct Turn {
    best: f32,
    whose: Option<Place>,
    second: f32,
}

impl Turn {
    fn add(&mut self, place: Place, score: f32) {
        if score > self.best {
            self.second = self.best;
            (self.best, self.whose) = (score, Some(place));
        } else {
            self.second = self.second.max(score);
        }
    }

    fn best_beside(&self, place: Place) -> f32 {
        if self.whose == Some(place) { self.second } else { self.best }
    }
}

type Turns = BTreeMap<u32, Turn>;

fn turns(
    found: &Found<'_>,
    sessions: &Sessions,
    candidates: &[Candidate],
    best_words: f32,
) -> HashMap<u64, Turns> {
    let known = by_place(candidates);
    let mut turns: HashMap<u64, Turns> = HashMap::new();
    for candidate in candidates {
        let session = turns.entry(candidate.facts.session).or_default();
        session.entry(candidate.facts.turn).or_default().add(candidate.place, candidate.score());
    }
    for (session, places) in &sessions.matching {
        for place in places.iter().filter(|place| !known.contains_key(place)) {
            let score = BY_WORDS_ALONE * found.score(*place) / best_words;
            let turn = found.facts(*place).turn;
            turns.entry(*session).or_default().entry(turn).or_default().add(*place, score);
        }
    }
    turns
}

fn from_neighbours(turns: &Turns, candidate: &Candidate) -> f32 {
    let turn = candidate.facts.turn;
    let best_of = |turn: Option<u32>| turn.and_then(|turn| turns.get(&turn)).map_or(0.0, |turn| turn.best);
    let same = turns.get(&turn).map_or(0.0, |turn| turn.best_beside(candidate.place));
    FROM_BEFORE * best_of(turn.checked_sub(1)) + FROM_AFTER * best_of(turn.checked_add(1)) + FROM_SAME * same
}
