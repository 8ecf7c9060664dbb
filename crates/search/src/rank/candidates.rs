//! Which documents are worth a second look: the best by words, and those beside them.
//!
//! Nothing is ranked here. A question without words asks for the newest.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::dates::Times;
use super::filter::Filter;
use super::{Boost, Tier, Why};
use crate::index::Error;
use crate::query::Query;
use crate::source::{Facts, Matches, Source, Weighed};
use crate::table::Piece;
use crate::vectors::Near;
use crate::words::{Bm25, Collection, Reach, Sought, Vocabulary, WORDS_AT_MOST, Word, kin, words_of};

/// So many documents get a second look.
const CANDIDATES: usize = 200;
/// No question gets more hits than this.
const HITS_AT_MOST: usize = 5000;
/// So many get one by a model's vectors, of at most so many that are looked up; each must come so near.
const BY_VECTORS: usize = 50;
const VECTORS_LOOKED_UP: usize = 1000;
const NEAR_BY_VECTORS: f32 = 0.35;
/// Where there are no more documents than this, every one gets a second look.
const SMALL: f32 = 500.0;

/// Where a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub source: usize,
    pub place: u32,
}

/// How a document came to be a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By its words, or as one of the newest where there were none.
    Asked,
    /// By its vector.
    Vector,
    /// By a time that was named.
    Time,
    /// It is near another one, or the store is small: it must prove itself by its meaning.
    Beside,
}

/// A document that gets a second look.
pub struct Candidate {
    pub place: Place,
    pub way: Way,
    pub facts: Facts,
    /// Its score by words.
    pub words: f32,
    /// Which words it has, bit by bit.
    pub matched: u64,
    pub pieces: Vec<Piece>,
    pub boosts: Vec<Boost>,
}

impl Candidate {
    pub fn boost(&mut self, why: Why, by: f32) {
        if by != 0.0 {
            self.boosts.push(Boost { why, by });
        }
    }

    pub fn score(&self) -> f32 {
        self.boosts.iter().map(|boost| boost.by).sum()
    }

    pub fn has(&self, number: u32) -> bool {
        self.matched >> number & 1 == 1
    }
}

/// What a question found by words.
pub struct Found<'a> {
    pub query: &'a Query,
    /// Times that the question names.
    pub times: Times,
    pub sources: &'a [&'a dyn Source],
    pub near: Option<&'a Near<'a>>,
    pub collection: Collection,
    pub sought: Vec<Sought>,
    /// One for each source.
    pub matches: Vec<Matches>,
}

impl<'a> Found<'a> {
    pub fn look(
        query: &'a Query,
        sources: &'a [&'a dyn Source],
        near: Option<&'a Near<'a>>,
    ) -> Result<Found<'a>, Error> {
        let collection = collection(sources);
        let times = Times::named(query);
        let sought = sought(query, &times, sources)?;
        let mut found = Found { times, query, sources, near, collection, sought, matches: Vec::new() };
        let weighed: Vec<Weighed<'_>> = (0..found.sought.len())
            .map(|number| Weighed { spellings: &found.sought[number].spellings, bm25: found.bm25(number) })
            .collect();
        let matches = sources.iter().map(|source| source.matches(&weighed)).collect::<Result<_, _>>()?;
        found.matches = matches;
        Ok(found)
    }

    pub fn bm25(&self, number: usize) -> Bm25 {
        Bm25::new(self.collection, self.sought[number].holders as f32)
    }

    fn wanted(&self) -> usize {
        CANDIDATES.max(self.query.limit.min(HITS_AT_MOST))
    }

    pub fn score(&self, place: Place) -> f32 {
        self.matches[place.source].scores[place.place as usize]
    }

    pub fn matched(&self, place: Place) -> u64 {
        self.matches[place.source].words[place.place as usize]
    }

    /// All places of a session's documents.
    pub fn members(&self, session: u64) -> Result<Vec<Place>, Error> {
        let mut members = Vec::new();
        for (source, documents) in self.sources.iter().enumerate() {
            let places = documents.members(session)?.into_iter().filter(|place| documents.is_there(*place));
            members.extend(places.map(|place| Place { source, place }));
        }
        Ok(members)
    }

    fn at(&self, place: Place) -> i64 {
        self.sources[place.source].at(place.place)
    }

    pub fn facts(&self, place: Place) -> Facts {
        self.sources[place.source].facts(place.place)
    }

    pub fn candidates(&self, tier: Tier) -> Result<Vec<Candidate>, Error> {
        let filter = Filter::new(self.query, self.sources)?;
        let asked = if self.sought.is_empty() { self.newest(&filter) } else { self.best(&filter) };
        let mut places: BTreeMap<Place, Way> = asked.iter().map(|place| (*place, Way::Asked)).collect();
        for place in self.by_vectors(&filter)? {
            places.entry(place).or_insert(Way::Vector);
        }
        let times = &self.times;
        if tier == Tier::Whole && times.are_named() {
            self.of_times(times, &filter).into_iter().for_each(|place| {
                places.entry(place).or_insert(Way::Time);
            });
        }
        if tier != Tier::Words {
            self.fill_up(&asked, &mut places, &filter)?;
        }
        places.into_iter().map(|(place, way)| self.candidate(place, way, tier)).collect()
    }

    fn candidate(&self, place: Place, way: Way, tier: Tier) -> Result<Candidate, Error> {
        let pieces = match tier {
            Tier::Words => Vec::new(),
            Tier::Meaning | Tier::Whole => self.sources[place.source].pieces(place.place)?,
        };
        Ok(Candidate {
            place,
            way,
            facts: self.facts(place),
            words: self.score(place),
            matched: self.matched(place),
            pieces,
            boosts: Vec::new(),
        })
    }

    /// The best by words.
    fn best(&self, filter: &Filter) -> Vec<Place> {
        let mut best = Top::new(self.wanted());
        for (source, matches) in self.matches.iter().enumerate() {
            for (place, score) in (0u32..).zip(&matches.scores).filter(|(_, score)| **score > 0.0) {
                let place = Place { source, place };
                if best.would_take(*score) && self.is_open(place, filter) {
                    best.take(*score, place);
                }
            }
        }
        best.places()
    }

    /// A question that names a time may have no other word in common with its answer.
    fn of_times(&self, times: &Times, filter: &Filter) -> Vec<Place> {
        let mut best = Top::new(CANDIDATES / 2);
        for place in self.all(filter) {
            let score = self.score(place) + f32::EPSILON;
            if best.would_take(score) && times.hold(self.at(place)) {
                best.take(score, place);
            }
        }
        best.places()
    }

    /// Those that mean something like it, whatever their words are.
    fn by_vectors(&self, filter: &Filter) -> Result<Vec<Place>, Error> {
        let mut places = Vec::new();
        let Some(near) = self.near.filter(|_| !self.sought.is_empty()) else { return Ok(places) };
        for id in near.nearest(NEAR_BY_VECTORS, VECTORS_LOOKED_UP) {
            for (source, documents) in self.sources.iter().enumerate() {
                let place = documents.place_of(id)?.map(|place| Place { source, place });
                places.extend(place.filter(|place| self.is_open(*place, filter)));
            }
            if places.len() >= BY_VECTORS {
                break;
            }
        }
        Ok(places)
    }

    fn newest(&self, filter: &Filter) -> Vec<Place> {
        let mut newest: Vec<(i64, Place)> = self.all(filter).map(|place| (self.at(place), place)).collect();
        newest.sort_unstable_by(|a, b| b.cmp(a));
        newest.truncate(self.wanted());
        newest.into_iter().map(|(_, place)| place).collect()
    }

    fn all(&self, filter: &Filter) -> impl Iterator<Item = Place> {
        let places = self.sources.iter().enumerate().flat_map(|(source, documents)| {
            (0..documents.places()).map(move |place| Place { source, place })
        });
        places.filter(|place| self.is_open(*place, filter))
    }

    fn is_open(&self, place: Place, filter: &Filter) -> bool {
        self.sources[place.source].is_there(place.place) && filter.lets(place, self.sources)
    }

    /// Few matches leave room for documents without any: those beside the best, and in a small store all.
    fn fill_up(
        &self,
        asked: &[Place],
        places: &mut BTreeMap<Place, Way>,
        filter: &Filter,
    ) -> Result<(), Error> {
        if places.len() >= CANDIDATES || self.sought.is_empty() {
            return Ok(());
        }
        let mut beside = Vec::new();
        for session in self.sessions(asked) {
            beside
                .extend(self.members(session)?.into_iter().filter(|place| filter.lets(*place, self.sources)));
            if beside.len() > CANDIDATES {
                break;
            }
        }
        beside.truncate(CANDIDATES);
        if self.collection.documents <= SMALL {
            beside.extend(self.all(filter));
        }
        beside.into_iter().for_each(|place| {
            places.entry(place).or_insert(Way::Beside);
        });
        Ok(())
    }

    /// The sessions of some documents, in their order.
    fn sessions(&self, places: &[Place]) -> Vec<u64> {
        let mut seen = BTreeSet::new();
        let sessions = places.iter().map(|place| self.facts(*place).session);
        sessions.filter(|session| *session != 0 && seen.insert(*session)).collect()
    }
}

fn collection(sources: &[&dyn Source]) -> Collection {
    let documents: u32 = sources.iter().map(|source| source.places()).sum();
    let words: u64 = sources.iter().map(|source| source.words()).sum();
    Collection { documents: documents as f32, mean_length: words as f32 / documents.max(1) as f32 }
}

/// The words worth looking for, each with its kin where nobody has it; the rarest of too many.
fn sought(query: &Query, times: &Times, sources: &[&dyn Source]) -> Result<Vec<Sought>, Error> {
    let mut found = Vec::new();
    for word in words_of(&query.text) {
        let holders: u32 =
            sources.iter().map(|source| source.holders(&word.indexed)).sum::<Result<_, _>>()?;
        found.push((word, holders));
    }
    if found.len() > WORDS_AT_MOST {
        found.retain(|(_, holders)| *holders > 0);
        found.sort_by_key(|(_, holders)| *holders);
        found.truncate(WORDS_AT_MOST);
    }
    let vocabularies: Vec<&dyn Vocabulary> =
        sources.iter().map(|source| *source as &dyn Vocabulary).collect();
    let mut sought: Vec<Sought> = found.into_iter().map(|(word, holders)| as_it_is(word, holders)).collect();
    for reach in [Reach::Near, Reach::Anywhere] {
        let finds_nothing = sought.iter().all(|sought| sought.holders == 0);
        if reach == Reach::Near || finds_nothing {
            let widened = sought.iter_mut().filter(|sought| !times.are_named_by(&sought.word.written));
            widened.for_each(|sought| widen(sought, reach, &vocabularies));
        }
    }
    Ok(sought)
}

fn as_it_is(word: Word, holders: u32) -> Sought {
    Sought { spellings: vec![(word.indexed.clone(), 1.0)], word, holders }
}

/// Gives a word that nobody has its kin.
fn widen(sought: &mut Sought, reach: Reach, vocabularies: &[&dyn Vocabulary]) {
    if sought.holders == 0 {
        (sought.spellings, sought.holders) = kin(&sought.word, reach, vocabularies);
    }
}

/// The highest of many scores.
struct Top {
    most: usize,
    /// Twice as many as wanted at most; then the lower half is thrown away.
    kept: Vec<(f32, Place)>,
    least: f32,
}

impl Top {
    fn new(most: usize) -> Top {
        Top { most, kept: Vec::with_capacity(most.min(1024) * 2), least: 0.0 }
    }

    fn would_take(&self, score: f32) -> bool {
        score > self.least
    }

    fn take(&mut self, score: f32, place: Place) {
        self.kept.push((score, place));
        if self.kept.len() >= self.most.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.kept.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.kept.truncate(self.most);
        if self.kept.len() == self.most {
            self.least = self.kept.last().map_or(0.0, |(score, _)| *score);
        }
    }

    fn places(mut self) -> Vec<Place> {
        self.cut();
        self.kept.into_iter().map(|(_, place)| place).collect()
    }
}

/// Candidates by their place.
pub fn by_place(candidates: &[Candidate]) -> HashMap<Place, usize> {
    candidates.iter().enumerate().map(|(number, candidate)| (candidate.place, number)).collect()
}
