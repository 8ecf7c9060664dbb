//! Candidate selection: the best turns by words, and documents near them.
//!
//! Candidates are not ranked here, and do not depend on the number of hits asked for: scores are relative to the other
//! candidates, so more of them would change the first hits. A query without words selects the newest documents.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::dates::Times;
use super::filter::Filter;
use super::hit::{Boost, BoostReason, DocAddress, RankingStages};
use super::projects::projects_named;
use super::reference::NamedTurns;
use super::terms::{TermLookup, collection};
use super::turns::{TurnKey, turn_of_passage};
use crate::error::Result;
use crate::query::Query;
use crate::source::{DocFacts, DocSource, Match, WeightedTerm};
use crate::table::WordPiece;
use crate::vectors::QuerySimilarity;
use crate::words::{Bm25, Collection, QueryTerm};

/// The number of turns that are ranked, and the most passages of one that are compared. A memory counts as a turn.
const CANDIDATES: usize = 200;
const PASSAGES: usize = 3;
/// The maximum number of hits per query.
const HITS_AT_MOST: usize = 5000;
/// The number of candidates added by vector, the number looked up for them, and the minimum cosine.
const BY_VECTORS: usize = 50;
const VECTORS_LOOKED_UP: usize = 1000;
const NEAR_BY_VECTORS: f32 = 0.35;
/// With no more documents than this, every one becomes a candidate.
const SMALL: f32 = 500.0;

/// How a document became a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// By its words, or as one of the newest if the query has no words.
    Matched,
    Vector,
    /// By a time that the query names.
    Time,
    /// It is near another candidate, or the store is small: it is kept only if its meaning is similar.
    Nearby,
}

/// A document to be ranked.
pub struct RankCandidate {
    pub address: DocAddress,
    pub found_by: FoundBy,
    pub facts: DocFacts,
    /// Its score by words.
    pub words: f32,
    /// Bit set of the query terms it contains.
    pub matched: u64,
    /// Those of them that it contains in another language alone.
    pub translated: u64,
    pub pieces: Vec<WordPiece>,
    pub boosts: Vec<Boost>,
}

impl RankCandidate {
    pub fn boost(&mut self, why: BoostReason, by: f32) {
        if by != 0.0 {
            self.boosts.push(Boost { why, by });
        }
    }

    pub fn score(&self) -> f32 {
        self.boosts.iter().map(|boost| boost.by).sum()
    }

    /// Whether it contains at least half of its query terms in another language.
    pub fn is_translated(&self) -> bool {
        self.translated != 0 && self.translated.count_ones() * 2 >= self.matched.count_ones()
    }

    pub fn has(&self, number: u32) -> bool {
        self.matched >> number & 1 == 1
    }
}

/// A query with its terms and the documents that it may return.
pub struct SearchContext<'a> {
    pub query: &'a Query,
    /// Times that the query names.
    pub times: Times,
    pub sources: &'a [&'a dyn DocSource],
    pub near: Option<&'a QuerySimilarity<'a>>,
    pub collection: Collection,
    pub terms: Vec<QueryTerm>,
    /// Tags of the projects that the query names.
    pub projects: Vec<String>,
    filter: Filter,
}

impl<'a> SearchContext<'a> {
    pub fn new(
        tier: RankingStages,
        query: &'a Query,
        sources: &'a [&'a dyn DocSource],
        filter: Filter,
    ) -> Result<SearchContext<'a>> {
        let times = Times::parse(query);
        let projects = projects_named(query, sources)?;
        let collection = collection(sources);
        let lookup = TermLookup { query, sources, collection, times: &times, projects: &projects };
        let terms = lookup.terms(tier)?;
        Ok(SearchContext { times, query, sources, near: None, collection, terms, projects, filter })
    }

    /// The terms, then the translations of those that have some.
    fn weighted(&self) -> Vec<WeightedTerm<'_>> {
        let terms = self.terms.iter();
        let terms = terms.map(|term| WeightedTerm { spellings: &term.spellings, bm25: self.bm25(term) });
        let translated = self
            .translated()
            .map(|(_, term)| WeightedTerm { spellings: &term.translations, bm25: self.bm25(term) });
        terms.chain(translated).collect()
    }

    /// The terms that have translations, with their numbers; no more than a bit set has room for.
    fn translated(&self) -> impl Iterator<Item = (usize, &QueryTerm)> {
        let room = (u64::BITS as usize).saturating_sub(self.terms.len());
        self.terms.iter().enumerate().filter(|(_, term)| !term.translations.is_empty()).take(room)
    }

    /// A match in which a translation counts as its term.
    fn read(&self, found: Match) -> Match {
        let own = found.words & ((1 << self.terms.len()) - 1);
        let mut translated = 0;
        for (at, (number, _)) in self.translated().enumerate() {
            translated |= (found.words >> (self.terms.len() + at) & 1) << number;
        }
        Match { score: found.score, words: own | translated, translated: translated & !own }
    }

    /// The contribution of a term to a score.
    pub fn bm25(&self, term: &QueryTerm) -> Bm25 {
        Bm25::new(self.collection, term.doc_freq as f32).times(term.weight)
    }

    /// The matches of some documents, in ascending order.
    pub fn matches_of(&self, addresses: &BTreeSet<DocAddress>) -> Result<Vec<(DocAddress, Match)>> {
        let weighted = self.weighted();
        let mut matches = Vec::with_capacity(addresses.len());
        for (source, documents) in self.sources.iter().enumerate() {
            let (first, last) = (DocAddress { source, doc: 0 }, DocAddress { source, doc: u32::MAX });
            let docs: Vec<u32> = addresses.range(first..=last).map(|address| address.doc).collect();
            let found = documents.matches_of(&weighted, &docs)?;
            let found = found.into_iter().map(|found| self.read(found));
            matches.extend(docs.into_iter().map(|doc| DocAddress { source, doc }).zip(found));
        }
        Ok(matches)
    }

    /// All live documents of a session.
    pub fn in_session(&self, session: u64) -> Result<Vec<DocAddress>> {
        let mut members = Vec::new();
        for (source, documents) in self.sources.iter().enumerate() {
            let addresses = documents.in_session(session)?.into_iter().filter(|doc| documents.is_live(*doc));
            members.extend(addresses.map(|doc| DocAddress { source, doc }));
        }
        Ok(members)
    }

    fn at(&self, address: DocAddress) -> i64 {
        self.sources[address.source].at(address.doc)
    }

    pub fn facts(&self, address: DocAddress) -> DocFacts {
        self.sources[address.source].facts(address.doc)
    }

    pub fn candidates(&self, tier: RankingStages) -> Result<Vec<RankCandidate>> {
        let matched = self.matching(CANDIDATES)?;
        let mut addresses: BTreeMap<DocAddress, FoundBy> =
            matched.iter().map(|address| (*address, FoundBy::Matched)).collect();
        for address in self.by_vectors()? {
            addresses.entry(address).or_insert(FoundBy::Vector);
        }
        if tier == RankingStages::Whole && self.times.are_named() {
            self.of_times()?.into_iter().for_each(|address| {
                addresses.entry(address).or_insert(FoundBy::Time);
            });
        }
        if tier != RankingStages::Words {
            self.fill_up(&matched, &mut addresses)?;
        }
        let mut candidates = self.compared(&addresses, tier)?;
        if tier == RankingStages::Whole
            && let Some(named) = NamedTurns::find(self, &candidates)
        {
            let around = named.around(self)?;
            for candidate in candidates.iter_mut().filter(|candidate| around.contains_key(&candidate.address))
            {
                candidate.found_by = FoundBy::Matched;
            }
            let new = around
                .into_iter()
                .filter(|(address, _)| !addresses.contains_key(address) && self.is_eligible(*address));
            candidates.extend(self.compared(&new.collect(), tier)?);
        }
        Ok(candidates)
    }

    fn compared(
        &self,
        addresses: &BTreeMap<DocAddress, FoundBy>,
        tier: RankingStages,
    ) -> Result<Vec<RankCandidate>> {
        let matches = self.matches_of(&addresses.keys().copied().collect())?;
        let candidate = |((address, found), found_by): ((DocAddress, Match), &FoundBy)| {
            let pieces = match tier {
                RankingStages::Words => Vec::new(),
                RankingStages::Meaning | RankingStages::Whole => {
                    self.sources[address.source].pieces(address.doc)?
                }
            };
            Ok(RankCandidate {
                address,
                found_by: *found_by,
                facts: self.facts(address),
                words: found.score,
                matched: found.words,
                translated: found.translated,
                pieces,
                boosts: Vec::new(),
            })
        };
        matches.into_iter().zip(addresses.values()).map(candidate).collect()
    }

    /// Hits after the ranked ones, for a caller who asks for more than are ranked: by words alone.
    pub fn beyond(&self, ranked: &[RankCandidate]) -> Result<Vec<RankCandidate>> {
        let most = self.query.limit.min(HITS_AT_MOST);
        if most <= CANDIDATES {
            return Ok(Vec::new());
        }
        let ids: HashSet<i64> = ranked.iter().map(|candidate| candidate.facts.id).collect();
        let mut turns: HashSet<TurnKey> =
            ranked.iter().filter_map(|candidate| turn_of_passage(&candidate.facts)).collect();
        let order = self.matching(most)?;
        let addresses = order.iter().map(|address| (*address, FoundBy::Matched)).collect();
        let mut compared: HashMap<DocAddress, RankCandidate> = (self
            .compared(&addresses, RankingStages::Words)?)
        .into_iter()
        .map(|candidate| (candidate.address, candidate))
        .collect();
        let mut beyond = Vec::new();
        for mut candidate in order.into_iter().filter_map(|address| compared.remove(&address)) {
            let is_new = turn_of_passage(&candidate.facts).is_none_or(|turn| turns.insert(turn));
            if is_new && !ids.contains(&candidate.facts.id) {
                candidate.boost(BoostReason::Words, f32::EPSILON);
                beyond.push(candidate);
            }
        }
        Ok(beyond)
    }

    /// The documents of at most `turns` turns: the best by words, or the newest if the query has none.
    fn matching(&self, turns: usize) -> Result<Vec<DocAddress>> {
        if self.terms.is_empty() { Ok(self.newest(turns)) } else { self.best(turns, &|_| true) }
    }

    /// The documents of at most `turns` turns with the highest scores.
    fn best(&self, turns: usize, is_wanted: &dyn Fn(DocAddress) -> bool) -> Result<Vec<DocAddress>> {
        let weighted = self.weighted();
        let mut best = TopDocs::new(turns);
        for (source, documents) in self.sources.iter().enumerate() {
            let mut take = |doc: u32, score: f32| {
                let address = DocAddress { source, doc };
                if best.accepts(score) && self.is_eligible(address) && is_wanted(address) {
                    best.push(score, address, turn_of_passage(&self.facts(address)));
                }
                best.least
            };
            match self.filter.few(source, *documents) {
                None => documents.each_match(&weighted, &mut take)?,
                Some(docs) => {
                    for (doc, found) in docs.iter().zip(documents.matches_of(&weighted, docs)?) {
                        if found.words != 0 {
                            take(*doc, found.score);
                        }
                    }
                }
            }
        }
        Ok(best.addresses())
    }

    /// Documents of the named times: the best by words, then others, which share no word with the query.
    fn of_times(&self) -> Result<Vec<DocAddress>> {
        let is_in_time = |address: DocAddress| self.times.contain(self.at(address));
        let mut of_times = self.best(CANDIDATES / 2, &is_in_time)?;
        let room = (CANDIDATES / 2).saturating_sub(of_times.len());
        of_times.extend(self.all().filter(|address| is_in_time(*address)).take(room));
        Ok(of_times)
    }

    /// Documents similar in meaning, whatever their words are.
    fn by_vectors(&self) -> Result<Vec<DocAddress>> {
        let mut addresses = Vec::new();
        let Some(near) = self.near.filter(|_| !self.terms.is_empty()) else { return Ok(addresses) };
        for id in near.nearest(NEAR_BY_VECTORS, VECTORS_LOOKED_UP) {
            for (source, documents) in self.sources.iter().enumerate() {
                let address = documents.find_id(id)?.map(|doc| DocAddress { source, doc });
                addresses.extend(address.filter(|address| self.is_eligible(*address)));
            }
            if addresses.len() >= BY_VECTORS {
                break;
            }
        }
        Ok(addresses)
    }

    fn newest(&self, most: usize) -> Vec<DocAddress> {
        let mut newest: Vec<(i64, DocAddress)> = Vec::new();
        let by_age = |a: &(i64, DocAddress), b: &(i64, DocAddress)| b.cmp(a);
        for address in self.all() {
            newest.push((self.at(address), address));
            if newest.len() > most.max(64) * 16 {
                newest.select_nth_unstable_by(most, by_age);
                newest.truncate(most);
            }
        }
        newest.sort_unstable_by(by_age);
        newest.truncate(most);
        newest.into_iter().map(|(_, address)| address).collect()
    }

    fn all(&self) -> impl Iterator<Item = DocAddress> {
        let addresses = self.sources.iter().enumerate().flat_map(|(source, documents)| {
            (0..documents.doc_count()).map(move |doc| DocAddress { source, doc })
        });
        addresses.filter(|address| self.is_eligible(*address))
    }

    fn is_eligible(&self, address: DocAddress) -> bool {
        self.sources[address.source].is_live(address.doc) && self.filter.allows(address, self.sources)
    }

    /// Few matches leave room for documents without any: those of the best sessions, and all in a small store.
    fn fill_up(&self, matched: &[DocAddress], addresses: &mut BTreeMap<DocAddress, FoundBy>) -> Result<()> {
        if addresses.len() >= CANDIDATES || self.terms.is_empty() {
            return Ok(());
        }
        let mut beside = Vec::new();
        for session in self.sessions(matched) {
            let members = self.in_session(session)?.into_iter();
            beside.extend(members.filter(|address| self.filter.allows(*address, self.sources)));
            if beside.len() > CANDIDATES {
                break;
            }
        }
        beside.truncate(CANDIDATES);
        if self.collection.documents <= SMALL {
            beside.extend(self.all());
        }
        beside.into_iter().for_each(|address| {
            addresses.entry(address).or_insert(FoundBy::Nearby);
        });
        Ok(())
    }

    /// The distinct sessions of some documents, in their order.
    fn sessions(&self, addresses: &[DocAddress]) -> Vec<u64> {
        let mut seen = BTreeSet::new();
        let sessions = addresses.iter().map(|address| self.facts(*address).session);
        sessions.filter(|session| *session != 0 && seen.insert(*session)).collect()
    }
}

/// Keeps the turns with the highest scores: of each, the best passages that score no less than the last turn.
struct TopDocs {
    turns: usize,
    /// Grows to twice what can be kept; then it is cut.
    kept: Vec<(f32, DocAddress, Option<TurnKey>)>,
    least: f32,
}

impl TopDocs {
    fn new(turns: usize) -> TopDocs {
        TopDocs { turns, kept: Vec::with_capacity(turns.min(1024) * 2), least: 0.0 }
    }

    fn accepts(&self, score: f32) -> bool {
        score > self.least
    }

    /// A document without a turn counts as one.
    fn push(&mut self, score: f32, address: DocAddress, turn: Option<TurnKey>) {
        self.kept.push((score, address, turn));
        if self.kept.len() >= self.turns.saturating_mul(2 * PASSAGES) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.kept.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut passages: HashMap<TurnKey, usize> = HashMap::new();
        let mut turns = 0;
        let mut kept = Vec::new();
        for (score, address, turn) in self.kept.drain(..) {
            let count = turn.map_or(1, |turn| {
                let count = passages.entry(turn).or_default();
                *count += 1;
                *count
            });
            turns += usize::from(count == 1);
            if count <= PASSAGES {
                kept.push((score, address, turn));
            }
            if turns == self.turns {
                self.least = score;
                break;
            }
        }
        self.kept = kept;
    }

    fn addresses(mut self) -> Vec<DocAddress> {
        self.cut();
        self.kept.into_iter().map(|(_, address, _)| address).collect()
    }
}

/// Index of each candidate by its address.
pub fn by_address(candidates: &[RankCandidate]) -> HashMap<DocAddress, usize> {
    candidates.iter().enumerate().map(|(number, candidate)| (candidate.address, number)).collect()
}
