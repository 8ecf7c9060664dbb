//! A query that names its answer's surroundings: "what did we do about X right after Y", "in the session with Y, what
//! happened to X".
//!
//! Y is looked for first; X is then looked for in the sessions that Y decides. Nothing is done if Y is in many sessions.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::candidates::{FoundBy, RankCandidate, SearchContext};
use super::exact::share_of;
use super::hit::{BoostReason, DocAddress};
use crate::error::Result;
use crate::words::{QueryTerm, plain_words, words_of};

/// The boost of a document that has all words asked for and stands where the query says.
const REFERRED: f32 = 1.0;
/// The share of it that is left in the turn that the query names: the query tells of that one already.
const NAMED_TURN: f32 = 0.5;
/// How much of it is lost with every turn further away.
const FURTHER: f32 = 0.3;
/// A document is what the query names if it has this share of its words, by rarity.
const NAMED: f32 = 0.5;
/// With more sessions than this, the query's words do not decide one.
const SESSIONS: usize = 2;
/// The number of documents read of these sessions.
const READ: usize = 2000;

const AFTER: [&str; 6] = ["after", "following", "nach", "danach", "despues", "tras"];
const BEFORE: [&str; 2] = ["before", "antes"];
/// Words that make "after" and "before" a place among turns.
const DIRECTLY: [&str; 10] = [
    "right",
    "just",
    "directly",
    "immediately",
    "shortly",
    "straight",
    "direkt",
    "gleich",
    "justo",
    "inmediatamente",
];
/// Names that a query may use for the surroundings of its answer.
const WHOLES: [&str; 19] = [
    "session",
    "sessions",
    "conversation",
    "chat",
    "discussion",
    "thread",
    "task",
    "turn",
    "release",
    "version",
    "commit",
    "branch",
    "day",
    "sitzung",
    "unterhaltung",
    "gesprach",
    "sesion",
    "conversacion",
    "charla",
];
const JOINING: [&str; 14] = [
    "with", "that", "where", "when", "which", "about", "in", "mit", "wo", "der", "die", "con", "donde", "que",
];

/// Where the answer is, relative to the turn that the query names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Within,
    After,
    Before,
}

/// A query's parts: what names the surroundings, and what is asked for there.
#[derive(Debug, PartialEq, Eq)]
pub struct Reference {
    place: Place,
    /// Bit sets of query terms.
    named: u64,
    wanted: u64,
}

impl Reference {
    pub fn parse(text: &str, terms: &[QueryTerm]) -> Option<Reference> {
        let clauses: Vec<&str> = text.split([',', ';', '?', '!']).collect();
        let (place, clause, start, end) = (clauses.iter().enumerate()).find_map(|(number, clause)| {
            marked(clause).map(|(place, start, end)| (place, number, start, end))
        })?;
        let words: Vec<&str> = clauses[clause].split_whitespace().collect();
        let named = words[end..].join(" ");
        let mut rest: Vec<&str> = words[..start].to_vec();
        rest.extend(
            clauses.iter().enumerate().filter(|(number, _)| *number != clause).map(|(_, clause)| *clause),
        );
        let named = bits(&named, terms);
        let wanted = bits(&rest.join(" "), terms) & !named;
        (named != 0).then_some(Reference { place, named, wanted })
    }
}

/// Where a clause names surroundings: the words of the mark.
fn marked(clause: &str) -> Option<(Place, usize, usize)> {
    let words: Vec<String> = clause.split_whitespace().map(|word| plain_words(word).concat()).collect();
    let is = |at: usize, list: &[&str]| words.get(at).is_some_and(|word| list.contains(&word.as_str()));
    for at in 0..words.len() {
        if is(at, &DIRECTLY) && (is(at + 1, &AFTER) || is(at + 1, &BEFORE)) {
            let place = if is(at + 1, &AFTER) { Place::After } else { Place::Before };
            let end = at + 2 + usize::from(is(at + 2, &["we", "de", "the"]));
            return (end < words.len()).then_some((place, at, end));
        }
        if is(at, &WHOLES) && is(at + 1, &JOINING) {
            let end = at + 2 + usize::from(is(at + 1, &["in"]));
            let start = (0..at).rev().take(4).find(|start| is(*start, &["in", "from", "of", "during", "en"]));
            if let Some(start) = start.filter(|_| end < words.len()) {
                return Some((Place::Within, start, end));
            }
        }
    }
    None
}

/// The query terms that are words of a part of the query.
fn bits(text: &str, terms: &[QueryTerm]) -> u64 {
    let words = words_of(text);
    let is_in = |term: &QueryTerm| words.iter().any(|word| word.indexed == term.word.indexed);
    (0..).zip(terms).filter(|(_, term)| is_in(term)).map(|(number, _): (u32, _)| 1 << number).sum()
}

/// The turns that a query names, by session.
pub struct NamedTurns {
    reference: Reference,
    turns: HashMap<u64, Vec<u32>>,
}

impl NamedTurns {
    /// `None` if the query names none, or too many.
    pub fn find(search: &SearchContext<'_>, candidates: &[RankCandidate]) -> Option<NamedTurns> {
        let reference = Reference::parse(&search.query.text, &search.terms)?;
        let shares: Vec<f32> =
            candidates.iter().map(|candidate| share_of(search, reference.named, candidate.matched)).collect();
        let best = shares.iter().copied().fold(0.0, f32::max);
        if best < NAMED {
            return None;
        }
        let mut turns: HashMap<u64, Vec<u32>> = HashMap::new();
        for (candidate, share) in candidates.iter().zip(shares) {
            if share > best - 0.05 && candidate.facts.session != 0 {
                turns.entry(candidate.facts.session).or_default().push(candidate.facts.turn);
            }
        }
        (1..=SESSIONS).contains(&turns.len()).then_some(NamedTurns { reference, turns })
    }

    /// Documents of the named sessions that have a word of what is asked for.
    pub fn around(&self, search: &SearchContext<'_>) -> Result<BTreeMap<DocAddress, FoundBy>> {
        let mut members = BTreeSet::new();
        for session in self.turns.keys() {
            members.extend(search.in_session(*session)?.into_iter().take(READ));
        }
        let matches = search.matches_of(&members)?.into_iter();
        let is_wanted = |words: u64| self.reference.wanted == 0 || words & self.reference.wanted != 0;
        Ok(matches
            .filter(|(_, found)| is_wanted(found.words))
            .map(|(address, _)| (address, FoundBy::Matched))
            .collect())
    }

    pub fn boost(&self, search: &SearchContext<'_>, candidates: &mut [RankCandidate]) {
        let wanted = |candidate: &RankCandidate| match self.reference.wanted {
            0 => 1.0,
            wanted => share_of(search, wanted, candidate.matched),
        };
        let is_near = |candidate: &&RankCandidate| self.turns.contains_key(&candidate.facts.session);
        let best = candidates.iter().filter(is_near).map(wanted).fold(f32::MIN_POSITIVE, f32::max);
        for candidate in candidates {
            let Some(turns) = self.turns.get(&candidate.facts.session) else { continue };
            let place =
                turns.iter().map(|turn| self.nearness(*turn, candidate.facts.turn)).fold(0.0, f32::max);
            let share = wanted(candidate) / best;
            candidate.boost(BoostReason::Neighbour, REFERRED * share * place);
        }
    }

    /// From 0 to 1: how well a turn stands where the query says.
    fn nearness(&self, named: u32, turn: u32) -> f32 {
        let distance = i64::from(turn) - i64::from(named);
        let steps = match self.reference.place {
            Place::Within => return if distance == 0 { NAMED_TURN } else { 1.0 },
            Place::After => distance,
            Place::Before => -distance,
        };
        match steps {
            ..=0 => 0.0,
            steps => 1.0 / (1.0 + FURTHER * (steps - 1) as f32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a query that name the surroundings, and those that are asked for.
    #[track_caller]
    fn check(text: &str, expected: Option<(Place, &str, &str)>) {
        let terms: Vec<QueryTerm> =
            words_of(text).into_iter().map(|word| QueryTerm::exact(word, 1)).collect();
        let words = |bits: u64| {
            let named = (0_u32..).zip(&terms).filter(|(number, _)| bits >> number & 1 == 1);
            named.map(|(_, term)| term.word.written.as_str()).collect::<Vec<_>>().join(" ")
        };
        let found = Reference::parse(text, &terms)
            .map(|found| (found.place, words(found.named), words(found.wanted)));
        let expected = expected.map(|(place, named, wanted)| (place, named.to_owned(), wanted.to_owned()));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn surroundings_are_told_from_what_is_asked_for() {
        check("what changed right after cursor?", Some((Place::After, "cursor", "changed")));
        check("prices just before the audit", Some((Place::Before, "audit", "prices")));
        check("in the session with cursor, where are errors?", Some((Place::Within, "cursor", "errors")));
        check(
            "the errors change in the lantern release with cursor",
            Some((Place::Within, "cursor", "errors change")),
        );
        check("was geschah direkt nach audit", Some((Place::After, "audit", "geschah")));
    }

    #[test]
    fn words_of_time_and_wholes_alone_name_no_surroundings() {
        check("crash after the upgrade", None);
        check("in the release", None);
        check("a session that timed out", None);
        check("what did we do right after", None);
    }
}
