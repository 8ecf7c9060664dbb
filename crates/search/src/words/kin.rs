//! Spelling expansion for a word that no document contains: a part of a longer word, or a typo.
//!
//! A word that is found as written is never expanded: a search that works is not made wider.

use std::collections::BTreeMap;

use tantivy_fst::Automaton;

use super::sought::QueryWord;
use super::terms::Role;

/// How a spelling is related to the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// A prefix of the word: a commit's short hash.
    Prefix,
    /// The word is its prefix.
    Extension,
    /// Edit distance; the first letter is the same.
    EditDistance(u8),
    /// Contains the word.
    Containing,
}

/// The terms of some documents.
pub trait TermDictionary {
    /// Adds every spelling with this relation to `word`, with the number of documents that contain it.
    fn gather(&self, relation: Relation, word: &str, found: &mut BTreeMap<String, u32>);
}

/// How much of the dictionary expansion may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expansion {
    /// Ranges that the dictionary can look up quickly.
    Indexed,
    /// The whole dictionary: only if a query would find nothing at all.
    FullScan,
}

impl Expansion {
    /// The relations to try in order, and their weights.
    fn stages(self) -> &'static [(Relation, f32)] {
        match self {
            Expansion::Indexed => &[
                (Relation::Prefix, 0.9),
                (Relation::Extension, 0.8),
                (Relation::EditDistance(1), 0.7),
                (Relation::EditDistance(2), 0.5),
            ],
            Expansion::FullScan => &[(Relation::Containing, 0.5)],
        }
    }
}

const MAX_EXPANSIONS: usize = 24;
const SHORTEST: usize = 3;
/// From this length on a word may have a typo, or be searched for inside others.
const SHORTEST_WITH_TYPO: usize = 4;
/// From this length on two typos are accepted.
const SHORTEST_WITH_TWO_TYPOS: usize = 7;
const SHORTEST_COMMIT: usize = 7;

/// The nearest spellings that occur, their weights, and the number of documents that contain them.
pub fn expand(
    word: &QueryWord,
    scope: Expansion,
    dictionaries: &[&dyn TermDictionary],
) -> (Vec<(String, f32)>, u32) {
    for (relation, weight) in scope.stages().iter().filter(|(relation, _)| allows(word, *relation)) {
        let mut found = BTreeMap::new();
        dictionaries.iter().for_each(|dictionary| dictionary.gather(*relation, &word.indexed, &mut found));
        if !found.is_empty() {
            return commonest(found, *weight);
        }
    }
    (Vec::new(), 0)
}

fn commonest(found: BTreeMap<String, u32>, weight: f32) -> (Vec<(String, f32)>, u32) {
    let mut found: Vec<(String, u32)> = found.into_iter().collect();
    found.sort_by_key(|(_, doc_freq)| std::cmp::Reverse(*doc_freq));
    found.truncate(MAX_EXPANSIONS);
    let doc_freq = found.iter().map(|(_, doc_freq)| doc_freq).sum();
    (found.into_iter().map(|(spelling, _)| (spelling, weight)).collect(), doc_freq)
}

fn allows(word: &QueryWord, relation: Relation) -> bool {
    // The parts of an identifier are query words too: they are expanded in its place.
    let is_whole = word.role == Role::Whole;
    let word = word.indexed.as_str();
    let letters = word.chars().count();
    let is_wordlike = !word.bytes().any(|byte| byte.is_ascii_digit());
    match relation {
        Relation::Prefix => is_commit(word) && letters > SHORTEST_COMMIT,
        Relation::Extension => !word.is_ascii() || (letters >= SHORTEST && (is_wordlike || is_commit(word))),
        Relation::EditDistance(1) => is_wordlike && letters >= SHORTEST_WITH_TYPO,
        Relation::EditDistance(_) => is_wordlike && !is_whole && letters >= SHORTEST_WITH_TWO_TYPOS,
        Relation::Containing => is_wordlike && !is_whole && letters >= SHORTEST_WITH_TYPO,
    }
}

fn is_commit(word: &str) -> bool {
    word.len() >= SHORTEST_COMMIT && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether `spelling` has this relation to `word`; an index answers the same from its dictionary.
pub fn is_related(spelling: &str, relation: Relation, word: &str) -> bool {
    match relation {
        Relation::Prefix => spelling.len() >= SHORTEST_COMMIT && word.starts_with(spelling),
        Relation::Extension => spelling.starts_with(word),
        Relation::EditDistance(distance) => {
            spelling.as_bytes().first() == word.as_bytes().first()
                && EditAutomaton::new(word, distance).accepts(spelling.as_bytes())
        }
        Relation::Containing => spelling.contains(word),
    }
}

/// The short hashes of a commit, longest first.
pub fn short_hashes(word: &str) -> impl Iterator<Item = &str> {
    (SHORTEST_COMMIT..word.len()).rev().filter_map(|end| word.get(..end))
}

const LONGEST: usize = 32;

/// Accepts spellings within `distance` edits of a word (Damerau-Levenshtein: a transposition is one edit).
pub struct EditAutomaton<'a> {
    word: &'a [u8],
    distance: u8,
}

/// Two rows of the distance matrix, and the byte that led from one to the other.
#[derive(Clone, Copy)]
pub struct EditRows {
    before: [u8; LONGEST + 1],
    now: [u8; LONGEST + 1],
    byte: u8,
    /// The number of bytes that were read.
    read: usize,
}

/// More edits than are ever accepted.
const FAR: u8 = u8::MAX / 2;

impl<'a> EditAutomaton<'a> {
    pub fn new(word: &'a str, distance: u8) -> EditAutomaton<'a> {
        EditAutomaton { word: &word.as_bytes()[..word.len().min(LONGEST)], distance }
    }

    /// The part of a row that can be within the distance: columns further from the diagonal are not.
    fn band(&self, read: usize) -> (usize, usize) {
        let distance = usize::from(self.distance);
        let end = (read + distance + 1).min(self.word.len() + 1);
        (read.saturating_sub(distance).min(end - 1), end)
    }

    fn accepts(&self, spelling: &[u8]) -> bool {
        let rows = spelling.iter().fold(self.start(), |rows, byte| self.accept(&rows, *byte));
        self.is_match(&rows)
    }
}

impl Automaton for EditAutomaton<'_> {
    type State = EditRows;

    fn start(&self) -> EditRows {
        let now = std::array::from_fn(|at| at as u8);
        EditRows { before: [FAR; LONGEST + 1], now, byte: 0, read: 0 }
    }

    fn is_match(&self, rows: &EditRows) -> bool {
        rows.now[self.word.len()] <= self.distance
    }

    fn can_match(&self, rows: &EditRows) -> bool {
        let (first, end) = self.band(rows.read);
        rows.now[first..end].iter().any(|edits| *edits <= self.distance)
    }

    fn accept(&self, rows: &EditRows, byte: u8) -> EditRows {
        let mut next = EditRows { before: rows.now, now: [FAR; LONGEST + 1], byte, read: rows.read + 1 };
        next.now[0] = rows.now[0].saturating_add(1).min(FAR);
        let (first, end) = self.band(next.read);
        for at in first.saturating_sub(1)..end - 1 {
            let letter = &self.word[at];
            let other = rows.now[at] + u8::from(*letter != byte);
            let mut least = other.min(rows.now[at + 1] + 1).min(next.now[at] + 1);
            let is_transposition = at > 0 && *letter == rows.byte && self.word[at - 1] == byte;
            if is_transposition {
                least = least.min(rows.before[at - 1] + 1);
            }
            next.now[at + 1] = least.min(FAR);
        }
        next
    }
}

/// Accepts spellings that contain the word.
pub struct SubstringAutomaton<'a> {
    word: &'a [u8],
}

/// A dictionary has no index on the middle of its terms: all are read, and more than this many would take too long.
pub const SCANNED_TERMS: usize = 50_000;

impl<'a> SubstringAutomaton<'a> {
    pub fn new(word: &'a str) -> SubstringAutomaton<'a> {
        SubstringAutomaton { word: word.as_bytes() }
    }

    /// The length of the matched prefix after `byte` (Knuth-Morris-Pratt).
    fn follow(&self, mut matched: usize, byte: u8) -> usize {
        while matched > 0 && self.word[matched] != byte {
            matched = self.overlap(matched);
        }
        if self.word[matched] == byte { matched + 1 } else { matched }
    }

    /// The longest proper prefix of the word that is also a suffix of its first `length` bytes.
    fn overlap(&self, length: usize) -> usize {
        (0..length)
            .rev()
            .find(|shorter| self.word[length - shorter..length] == self.word[..*shorter])
            .unwrap_or(0)
    }
}

impl Automaton for SubstringAutomaton<'_> {
    type State = usize;

    fn start(&self) -> usize {
        0
    }

    fn is_match(&self, matched: &usize) -> bool {
        *matched == self.word.len()
    }

    fn can_match(&self, _matched: &usize) -> bool {
        true
    }

    fn accept(&self, matched: &usize, byte: u8) -> usize {
        if self.is_match(matched) { *matched } else { self.follow(*matched, byte) }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A dictionary of these words.
    pub(in crate::words) struct Words(pub &'static [&'static str]);

    impl TermDictionary for Words {
        fn gather(&self, relation: Relation, word: &str, found: &mut BTreeMap<String, u32>) {
            let related = self.0.iter().filter(|spelling| is_related(spelling, relation, word));
            found.extend(related.map(|spelling| ((*spelling).to_owned(), 1)));
        }
    }

    #[track_caller]
    fn check(word: &str, words: &'static [&'static str], expected: &[&str]) {
        let word = QueryWord { indexed: word.to_owned(), written: word.to_owned(), role: Role::Word };
        let words: [&dyn TermDictionary; 1] = [&Words(words)];
        let indexed = expand(&word, Expansion::Indexed, &words);
        let (found, doc_freq) =
            if indexed.1 > 0 { indexed } else { expand(&word, Expansion::FullScan, &words) };
        let found: Vec<&str> = found.iter().map(|(spelling, _)| spelling.as_str()).collect();
        assert_eq!(found, expected, "{word:?}");
        assert_eq!(doc_freq as usize, expected.len());
    }

    #[test]
    fn typos_are_substitutions_deletions_insertions_and_transpositions() {
        for typed in ["cahce", "cach", "caache", "cashe"] {
            check(typed, &["cache", "catch-all"], &["cache"]);
        }
        check("postgressqll", &["postgresql"], &["postgresql"]);
        check("cat", &["cut"], &[]);
    }

    #[test]
    fn longer_words_come_before_near_ones() {
        check("conf", &["config", "cond"], &["config"]);
        check("ebounc", &["redebounced", "lorem"], &["redebounced"]);
    }

    #[test]
    fn commits_are_known_by_their_short_names_and_the_other_way_round() {
        check("1a96b21", &["1a96b2134f"], &["1a96b2134f"]);
        check("1a96b2134f", &["1a96b21"], &["1a96b21"]);
    }

    #[test]
    fn word_within_another_is_followed_past_false_beginnings() {
        let accepts = |word: &str, spelling: &str| {
            let within = SubstringAutomaton::new(word);
            within.is_match(
                &spelling.bytes().fold(within.start(), |matched, byte| within.accept(&matched, byte)),
            )
        };
        assert!(accepts("anab", "bananabread") && accepts("aab", "aaab") && !accepts("aab", "abab"));
    }

    #[test]
    fn numbers_are_not_expanded() {
        check("5433", &["5432", "54331"], &[]);
    }
}
