//! Ranks memories by what they share with the current work, before all of their text is read.
//!
//! A first prompt waits while they are ranked, so a candidate borrows the columns that the score needs and nothing
//! is kept of the others. Formats nothing.

use super::{CurrentWork, Memory};
use crate::memory::{ConfidencePercent, MemoryTrust};
use crate::time::Timestamp;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Maximum number of memories with facts; the others are listed by title.
const WITH_FACTS: usize = 12;
const LISTED: usize = 40;

/// The columns of a memory that its score depends on.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    pub number: i64,
    pub made_at: Timestamp,
    pub kind: &'a str,
    pub trust: MemoryTrust,
    pub confidence: ConfidencePercent,
    /// How often it was extracted.
    pub found: u32,
    /// The branch of the session that it came from.
    pub branch: Option<&'a str>,
    /// Title, subtitle, facts and narrative, in any notation that keeps words apart.
    pub texts: [&'a str; 4],
}

/// The numbers of the memories to give, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BestMemories {
    /// Related to the current work.
    pub fitting: Vec<i64>,
    /// The rest, newest first.
    pub others: Vec<i64>,
}

/// Collects the scores of memories; `best` compares them.
pub struct Ranking<'h> {
    here: &'h CurrentWork,
    words: PromptWords,
    scores: BTreeMap<i64, Score>,
}

struct Score {
    made_at: Timestamp,
    /// The prompt's words that it contains, by their index.
    shared: Vec<usize>,
    /// The files of the current work that it is about.
    files: u64,
    shares_branch: bool,
    base: u64,
}

impl<'h> Ranking<'h> {
    pub fn new(here: &'h CurrentWork) -> Ranking<'h> {
        Ranking { here, words: PromptWords::of(&here.prompt), scores: BTreeMap::new() }
    }

    pub fn add(&mut self, candidate: Candidate<'_>) {
        let Candidate { number, made_at, branch, texts, .. } = candidate;
        let is_trunk = |branch: &str| matches!(branch, "main" | "master" | "trunk" | "develop");
        let shares_branch =
            branch.is_some_and(|branch| !is_trunk(branch) && self.here.branch.as_deref() == Some(branch));
        let (shared, base) = (self.words.shared(texts), base_score(&candidate));
        self.scores.insert(number, Score { made_at, shared, files: 0, shares_branch, base });
    }

    /// A candidate is about a file of the current work.
    pub fn add_file(&mut self, number: i64) {
        if let Some(score) = self.scores.get_mut(&number) {
            score.files += 1;
        }
    }

    /// A memory that was read as a whole, with its files.
    pub fn add_memory(&mut self, memory: &Memory) {
        let (content, facts) = (&memory.content, memory.content.facts.join("\n"));
        self.add(Candidate {
            number: memory.number,
            made_at: memory.made_at,
            kind: content.kind.as_str(),
            trust: memory.trust,
            confidence: memory.confidence,
            found: memory.found,
            branch: memory.source.as_ref().and_then(|source| source.branch.as_deref()),
            texts: [&content.title, &content.subtitle, &facts, &content.narrative],
        });
        let is_here = |path: &String| self.here.files.contains(path);
        for _ in content.files.iter().filter(|(path, _)| is_here(path)) {
            self.add_file(memory.number);
        }
    }

    pub fn best(self) -> BestMemories {
        let rarity = WordRarity::of(&self.scores);
        let score = |(number, score): (i64, Score)| {
            // Shared files count much, and a shared branch that is not the trunk a little.
            let place = score.files.min(3) * 4 + u64::from(score.shares_branch) * 3;
            let fit = rarity.weight(&score.shared) + place;
            (fit, fit * 100 + score.base, (score.made_at, number))
        };
        let scores = self.scores.into_iter().map(score);
        let (mut fitting, mut others): (Vec<_>, Vec<_>) = scores.partition(|(fit, _, _)| *fit > 0);
        fitting.sort_by_key(|(_, score, newest)| Reverse((*score, *newest)));
        // The list of the rest begins with those that fit but found no room.
        let mut listed = fitting.split_off(fitting.len().min(WITH_FACTS));
        others.sort_by_key(|(_, _, newest)| Reverse(*newest));
        listed.append(&mut others);
        listed.truncate(LISTED);
        let numbers = |ranked: Vec<(u64, u64, (Timestamp, i64))>| -> Vec<i64> {
            ranked.into_iter().map(|(_, _, (_, number))| number).collect()
        };
        BestMemories { fitting: numbers(fitting), others: numbers(listed) }
    }
}

/// The base score: decisions, preferences and traps above plain changes.
fn base_score(candidate: &Candidate<'_>) -> u64 {
    let by_type = match candidate.kind {
        "preference" => 40,
        "decision" | "gotcha" => 30,
        "security" => 25,
        "discovery" | "bugfix" => 15,
        _ => 5,
    };
    let by_trust = match candidate.trust {
        MemoryTrust::Person => 20,
        MemoryTrust::Agent => 10,
        MemoryTrust::Team => 7,
        MemoryTrust::Tool => 5,
        MemoryTrust::Web => 0,
    };
    by_type + by_trust + u64::from(candidate.confidence.as_percent()) / 10 + u64::from(candidate.found.min(5))
}

/// Document frequency of the prompt's words among the candidates: a word that all contain carries no information.
struct WordRarity {
    frequency: BTreeMap<usize, usize>,
    all: usize,
}

impl WordRarity {
    fn of(scores: &BTreeMap<i64, Score>) -> WordRarity {
        let mut frequency = BTreeMap::new();
        for word in scores.values().flat_map(|score| &score.shared) {
            *frequency.entry(*word).or_insert(0) += 1;
        }
        WordRarity { frequency, all: scores.len() }
    }

    /// The score of the words that a memory shares with the prompt, each weighted by its rarity.
    fn weight(&self, shared: &[usize]) -> u64 {
        let weight = |word: &usize| {
            let frequency = self.frequency.get(word).copied().unwrap_or(0);
            let is_rare = frequency * 3 <= self.all.max(3);
            if is_rare { 3 } else { u64::from(frequency * 2 <= self.all) }
        };
        shared.iter().map(weight).sum()
    }
}

/// The words of a prompt: three letters and more, without stop words, cut to `STEM` characters so that forms of one word
/// match.
pub(super) struct PromptWords {
    /// Sorted and distinct.
    stems: Vec<String>,
    /// The same stems as numbers, for words of ASCII; 0 stands for any other.
    packed: Vec<u64>,
    /// The bits of the first letters, which rule out most words of a text.
    firsts: u32,
}

impl PromptWords {
    pub(super) fn of(prompt: &str) -> PromptWords {
        let split = prompt.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        let kept = split.filter(|word| word.chars().count() >= 3 && !STOP_WORDS.contains(&word.as_str()));
        let mut stems: Vec<String> = kept.map(|word| word.chars().take(STEM).collect()).collect();
        stems.sort_unstable();
        stems.dedup();
        let number = |stem: &String| if stem.is_ascii() { pack(stem.as_bytes()) } else { 0 };
        let packed = stems.iter().map(number).collect();
        let firsts = stems.iter().fold(0, |bits, stem| bits | first_bit(stem.as_bytes()));
        PromptWords { stems, packed, firsts }
    }

    /// Those that a text contains, by their index.
    pub(super) fn shared(&self, texts: [&str; 4]) -> Vec<usize> {
        let mut shared = vec![];
        if self.stems.is_empty() {
            return shared;
        }
        for text in texts {
            each_run(text, &mut |run, is_ascii| {
                if !is_ascii {
                    self.add_other(run, &mut shared);
                } else if self.firsts & first_bit(run) != 0 {
                    self.add_ascii(run, &mut shared);
                }
            });
        }
        shared
    }

    fn add_ascii(&self, word: &[u8], shared: &mut Vec<usize>) {
        let stem = pack(word);
        if let Some(known) = self.packed.iter().position(|packed| *packed == stem)
            && !shared.contains(&known)
            && !STOP_WORDS.iter().any(|stop| stop.as_bytes().eq_ignore_ascii_case(word))
        {
            shared.push(known);
        }
    }

    /// A run with letters beyond ASCII is split by its characters.
    fn add_other(&self, run: &[u8], shared: &mut Vec<usize>) {
        let run = str::from_utf8(run).unwrap_or_default();
        for word in run.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= 3) {
            if word.is_ascii() {
                self.add_ascii(word.as_bytes(), shared);
                continue;
            }
            let stem: String = word.chars().flat_map(char::to_lowercase).take(STEM).collect();
            if let Ok(known) = self.stems.binary_search(&stem)
                && !shared.contains(&known)
            {
                shared.push(known);
            }
        }
    }
}

/// Passes the runs of at least three letters and digits, and whether they are ASCII alone. A byte beyond ASCII counts as a
/// letter here, so runs end at characters. An agent waits while up to two hundred memories are read: one pass with a table takes
/// an eighth of the instructions of `str::split`.
fn each_run(text: &str, each: &mut impl FnMut(&[u8], bool)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let (start, mut seen) = (at, 0);
        while let Some(class) =
            bytes.get(at).map(|byte| CLASSES[usize::from(*byte)]).filter(|class| *class != 0)
        {
            seen |= class;
            at += 1;
        }
        if at - start >= 3 {
            each(&bytes[start..at], seen & BEYOND_ASCII == 0);
        }
        at += 1;
    }
}

/// The class of a byte: 0 between words.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            128.. => BEYOND_ASCII,
            _ => 0,
        };
        byte += 1;
    }
    classes
};
const LETTER: u8 = 1;
const BEYOND_ASCII: u8 = 2;

/// The first `STEM` letters of a word of ASCII, in lower case.
fn pack(word: &[u8]) -> u64 {
    word.iter().take(STEM).fold(0, |packed, letter| packed << 8 | u64::from(letter.to_ascii_lowercase()))
}

/// A bit for the first letter; letters beyond ASCII share one.
fn first_bit(word: &[u8]) -> u32 {
    match word.first().map(u8::to_ascii_lowercase) {
        Some(letter @ b'a'..=b'z') => 1 << (letter - b'a'),
        Some(b'0'..=b'9') => 1 << 26,
        _ => 1 << 27,
    }
}

/// Length of the shared prefix of a word's forms.
const STEM: usize = 6;

const STOP_WORDS: [&str; 48] = [
    "the", "and", "for", "that", "this", "with", "from", "are", "was", "were", "not", "you", "your", "can",
    "has", "have", "had", "but", "all", "any", "its", "our", "out", "use", "used", "now", "one", "two",
    "how", "why", "what", "when", "where", "which", "who", "will", "would", "should", "could", "please",
    "make", "made", "into", "then", "than", "there", "also", "like",
];
