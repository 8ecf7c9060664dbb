//! What a word may have meant that no document has: a part of a longer word, or a slip of the finger.
//!
//! Words that are found as they are have no kin: a search that works is never made wider.

use std::cell::Cell;
use std::collections::BTreeMap;

use tantivy_fst::Automaton;

use super::sought::Word;
use super::terms::Role;

/// How a spelling is related to the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinship {
    /// It is the beginning of the word: a commit's short name.
    Shortened,
    /// It begins with the word.
    Longer,
    /// So many letters are other, missing, too many or exchanged; the first is the same.
    Near(u8),
    /// The word is somewhere in it.
    Around,
}

/// All words of some documents.
pub trait Vocabulary {
    /// Adds every spelling that is so related to `word`, with the number of documents that have it.
    fn gather(&self, kinship: Kinship, word: &str, found: &mut BTreeMap<String, u32>);
}

/// How far a word may be widened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// As far as a dictionary can be asked quickly.
    Near,
    /// Through the whole dictionary: only where a question would find nothing at all.
    Anywhere,
}

impl Reach {
    /// The kinships to try one after the other, and what each is worth.
    fn stages(self) -> &'static [(Kinship, f32)] {
        match self {
            Reach::Near => &[
                (Kinship::Shortened, 0.9),
                (Kinship::Longer, 0.8),
                (Kinship::Near(1), 0.7),
                (Kinship::Near(2), 0.5),
            ],
            Reach::Anywhere => &[(Kinship::Around, 0.5)],
        }
    }
}

const KIN_AT_MOST: usize = 24;
const SHORTEST: usize = 3;
/// From this length on a word may have a slip, or be looked for within others.
const SHORTEST_TO_SLIP: usize = 4;
/// From this length on two slips are believed.
const SHORTEST_TO_SLIP_TWICE: usize = 7;
const SHORTEST_COMMIT: usize = 7;

/// The nearest spellings that somebody has, what they count, and how many documents have them.
pub fn kin(word: &Word, reach: Reach, vocabularies: &[&dyn Vocabulary]) -> (Vec<(String, f32)>, u32) {
    for (kinship, worth) in reach.stages().iter().filter(|(kinship, _)| is_open_to(word, *kinship)) {
        let mut found = BTreeMap::new();
        vocabularies.iter().for_each(|vocabulary| vocabulary.gather(*kinship, &word.indexed, &mut found));
        if !found.is_empty() {
            return commonest(found, *worth);
        }
    }
    (Vec::new(), 0)
}

fn commonest(found: BTreeMap<String, u32>, worth: f32) -> (Vec<(String, f32)>, u32) {
    let mut found: Vec<(String, u32)> = found.into_iter().collect();
    found.sort_by_key(|(_, holders)| std::cmp::Reverse(*holders));
    found.truncate(KIN_AT_MOST);
    let holders = found.iter().map(|(_, holders)| holders).sum();
    (found.into_iter().map(|(spelling, _)| (spelling, worth)).collect(), holders)
}

fn is_open_to(word: &Word, kinship: Kinship) -> bool {
    // The parts of an identifier are looked for too: they may be widened in its place.
    let is_whole = word.role == Role::Whole;
    let word = word.indexed.as_str();
    let letters = word.chars().count();
    let is_wordlike = !word.bytes().any(|byte| byte.is_ascii_digit());
    match kinship {
        Kinship::Shortened => is_commit(word) && letters > SHORTEST_COMMIT,
        Kinship::Longer => !word.is_ascii() || (letters >= SHORTEST && (is_wordlike || is_commit(word))),
        Kinship::Near(1) => is_wordlike && letters >= SHORTEST_TO_SLIP,
        Kinship::Near(_) => is_wordlike && !is_whole && letters >= SHORTEST_TO_SLIP_TWICE,
        Kinship::Around => is_wordlike && !is_whole && letters >= SHORTEST_TO_SLIP,
    }
}

fn is_commit(word: &str) -> bool {
    word.len() >= SHORTEST_COMMIT && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether `spelling` is so related to `word`; what an index answers from its dictionary.
pub fn is_kin(spelling: &str, kinship: Kinship, word: &str) -> bool {
    match kinship {
        Kinship::Shortened => spelling.len() >= SHORTEST_COMMIT && word.starts_with(spelling),
        Kinship::Longer => spelling.starts_with(word),
        Kinship::Near(distance) => {
            spelling.as_bytes().first() == word.as_bytes().first()
                && Slips::new(word, distance).accepts(spelling.as_bytes())
        }
        Kinship::Around => spelling.contains(word),
    }
}

/// The short names of a commit, longest first.
pub fn shortened(word: &str) -> impl Iterator<Item = &str> {
    (SHORTEST_COMMIT..word.len()).rev().filter_map(|end| word.get(..end))
}

const LONGEST: usize = 32;

/// Accepts what is at most `distance` slips away from a word; an exchange of neighbours is one.
pub struct Slips<'a> {
    word: &'a [u8],
    distance: u8,
}

/// Two rows of the table of distances, and the byte that led from one to the other.
#[derive(Clone, Copy)]
pub struct Rows {
    before: [u8; LONGEST + 1],
    now: [u8; LONGEST + 1],
    byte: u8,
}

impl<'a> Slips<'a> {
    pub fn new(word: &'a str, distance: u8) -> Slips<'a> {
        Slips { word: &word.as_bytes()[..word.len().min(LONGEST)], distance }
    }

    fn accepts(&self, spelling: &[u8]) -> bool {
        let rows = spelling.iter().fold(self.start(), |rows, byte| self.accept(&rows, *byte));
        self.is_match(&rows)
    }
}

impl Automaton for Slips<'_> {
    type State = Rows;

    fn start(&self) -> Rows {
        let now = std::array::from_fn(|at| at as u8);
        Rows { before: [u8::MAX / 2; LONGEST + 1], now, byte: 0 }
    }

    fn is_match(&self, rows: &Rows) -> bool {
        rows.now[self.word.len()] <= self.distance
    }

    fn can_match(&self, rows: &Rows) -> bool {
        rows.now[..=self.word.len()].iter().any(|slips| *slips <= self.distance)
    }

    fn accept(&self, rows: &Rows, byte: u8) -> Rows {
        let mut next = Rows { before: rows.now, now: rows.now, byte };
        next.now[0] = rows.now[0].saturating_add(1);
        for (at, letter) in self.word.iter().enumerate() {
            let other = rows.now[at] + u8::from(*letter != byte);
            let mut least = other.min(rows.now[at + 1] + 1).min(next.now[at] + 1);
            let is_exchange = at > 0 && *letter == rows.byte && self.word[at - 1] == byte;
            if is_exchange {
                least = least.min(rows.before[at - 1] + 1);
            }
            next.now[at + 1] = least.min(u8::MAX / 2);
        }
        next
    }
}

/// Accepts what has the word somewhere in it, until so many letters were looked at.
pub struct Within<'a> {
    word: &'a [u8],
    left: Cell<u32>,
}

/// A dictionary cannot be asked for the middle of its words: all are looked at, but no more than this.
const LOOKED_AT: u32 = 1_000_000;

impl<'a> Within<'a> {
    pub fn new(word: &'a str) -> Within<'a> {
        Within { word: word.as_bytes(), left: Cell::new(LOOKED_AT) }
    }

    /// How much of the word stands at the end, after `byte` followed so much of it.
    fn follow(&self, mut matched: usize, byte: u8) -> usize {
        while matched > 0 && self.word[matched] != byte {
            matched = self.overlap(matched);
        }
        if self.word[matched] == byte { matched + 1 } else { matched }
    }

    /// The longest beginning of the word that is also the end of its first `length` bytes.
    fn overlap(&self, length: usize) -> usize {
        (0..length)
            .rev()
            .find(|shorter| self.word[length - shorter..length] == self.word[..*shorter])
            .unwrap_or(0)
    }
}

impl Automaton for Within<'_> {
    type State = usize;

    fn start(&self) -> usize {
        0
    }

    fn is_match(&self, matched: &usize) -> bool {
        *matched == self.word.len()
    }

    fn can_match(&self, _matched: &usize) -> bool {
        self.left.get() > 0
    }

    fn accept(&self, matched: &usize, byte: u8) -> usize {
        self.left.set(self.left.get().saturating_sub(1));
        if self.is_match(matched) { *matched } else { self.follow(*matched, byte) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Words(&'static [&'static str]);

    impl Vocabulary for Words {
        fn gather(&self, kinship: Kinship, word: &str, found: &mut BTreeMap<String, u32>) {
            let related = self.0.iter().filter(|spelling| is_kin(spelling, kinship, word));
            found.extend(related.map(|spelling| ((*spelling).to_owned(), 1)));
        }
    }

    #[track_caller]
    fn check(word: &str, words: &'static [&'static str], expected: &[&str]) {
        let word = Word { indexed: word.to_owned(), written: word.to_owned(), role: Role::Word };
        let words: [&dyn Vocabulary; 1] = [&Words(words)];
        let near = kin(&word, Reach::Near, &words);
        let (found, holders) = if near.1 > 0 { near } else { kin(&word, Reach::Anywhere, &words) };
        let found: Vec<&str> = found.iter().map(|(spelling, _)| spelling.as_str()).collect();
        assert_eq!(found, expected, "{word:?}");
        assert_eq!(holders as usize, expected.len());
    }

    #[test]
    fn slips_are_letters_other_missing_too_many_or_exchanged() {
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
            let within = Within::new(word);
            within.is_match(
                &spelling.bytes().fold(within.start(), |matched, byte| within.accept(&matched, byte)),
            )
        };
        assert!(accepts("anab", "bananabread") && accepts("aab", "aaab") && !accepts("aab", "abab"));
    }

    #[test]
    fn numbers_have_no_kin() {
        check("5433", &["5432", "54331"], &[]);
    }
}
