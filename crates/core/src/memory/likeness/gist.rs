//! Tells cheaply that two memories are unrelated, so that a new one need not be compared with all others.
//!
//! Errs on one side: memories that `likeness` relates are never told apart here. Each condition below is weaker than the
//! rule that it stands for, and needs only hashes of words.

use super::words::{Token, TokenKind, content, words};
use super::{are_comparable, is_choice, is_completed, may_give_up, replacing, subjects};
use crate::memory::{MemoryContent, MemoryType};
use std::cmp::Ordering;

/// Sorted hashes of words.
type Hashes = Box<[u32]>;

/// The words and names that the rules compare, as hashes.
#[derive(Clone, Debug)]
pub struct Gist {
    kind: MemoryType,
    /// The words of the title that say something.
    content: Hashes,
    /// The same without verbs of choice, and without words of change as well.
    subject: Hashes,
    bare: Hashes,
    /// All names and numbers of the title.
    exact: u32,
    /// The title in order, without fillers and numbers.
    plain: u32,
    /// The words of opposites in the title, as `replacing::sides`.
    sides: u32,
    is_negative: bool,
    /// As `replacing::drops_name`.
    drops: bool,
    chooses: bool,
    reports_change: bool,
    facts: Box<[SentenceGist]>,
    concepts: Hashes,
    /// The last parts of the paths.
    files: Hashes,
    /// The title's words without the names that it says were replaced.
    stated: Hashes,
    /// For each sentence that replaces something, the replaced names and those that hold now.
    swaps: Vec<(Hashes, Hashes)>,
    /// The words of title and body, if there are such sentences.
    all: Hashes,
}

#[derive(Clone, Debug)]
struct SentenceGist {
    content: Hashes,
    exact: u32,
}

impl SentenceGist {
    fn of(sentence: &[Token]) -> SentenceGist {
        let is_exact = |word: &&Token| matches!(word.kind, TokenKind::Name | TokenKind::Number);
        SentenceGist {
            content: hashes(content(sentence).into_iter()),
            exact: joined(&hashes(sentence.iter().filter(is_exact).map(|word| &word.stem))),
        }
    }

    /// As `says_same`.
    fn may_say_same(&self, other: &SentenceGist) -> bool {
        self.exact == other.exact && overlap(&self.content, &other.content, 80)
    }
}

impl Gist {
    pub fn of(memory: &MemoryContent) -> Gist {
        let title = words(&memory.title);
        let facts: Vec<Vec<Token>> = memory.facts.iter().map(|fact| words(fact)).collect();
        let SentenceGist { content: said, exact } = SentenceGist::of(&title);
        let is_gone = |word: &&str, gone: &[String]| gone.iter().any(|name| name == word);
        let gone: Vec<String> = replacing::swapped_names(&title)
            .map(|(before, _)| before.into_iter().collect())
            .unwrap_or_default();
        let swaps: Vec<(Hashes, Hashes)> = std::iter::once(&title)
            .chain(&facts)
            .filter_map(|sentence| replacing::swapped_names(sentence))
            .filter(|(before, _)| !before.is_empty())
            .map(|(before, now)| (hashes(before.iter()), hashes(now.iter())))
            .collect();
        let all = if swaps.is_empty() { Hashes::default() } else { all_words(memory, &title, &facts) };
        Gist {
            kind: memory.kind.clone(),
            content: said,
            exact,
            subject: hashes(content(&title).into_iter().filter(|word| !replacing::is_choosing(word))),
            bare: hashes(replacing::bare(&title).iter()),
            plain: joined(&replacing::plain(&title).into_iter().map(hash).collect::<Vec<_>>()),
            sides: replacing::sides(&title),
            is_negative: replacing::is_negative(&title),
            drops: replacing::drops_name(&title),
            chooses: title.iter().any(replacing::is_verb),
            reports_change: title.iter().any(replacing::is_change),
            facts: facts.iter().map(|fact| SentenceGist::of(fact)).collect(),
            concepts: hashes(subjects(memory).iter()),
            files: hashes(memory.files.iter().map(|(path, _)| path.rsplit('/').next().unwrap_or_default())),
            stated: hashes(content(&title).into_iter().filter(|word| !is_gone(word, &gone))),
            swaps,
            all,
        }
    }

    /// Whether `likeness` may relate the two, in either order.
    pub fn may_relate(&self, other: &Gist) -> bool {
        if !are_comparable(&self.kind, &other.kind) {
            let gives_up = |one: &Gist, other: &Gist| {
                one.drops && may_give_up(&one.kind, &other.kind) && one.replaces(other)
            };
            return gives_up(self, other) || gives_up(other, self);
        }
        self.replaces(other)
            || other.replaces(self)
            || (!self.is_apart(other) && (self.may_be_same(other) || self.may_differ_in_value(other)))
    }

    fn is_apart(&self, other: &Gist) -> bool {
        !self.files.is_empty() && !other.files.is_empty() && shared(&self.files, &other.files) == 0
    }

    fn overlaps(&self, other: &Gist, part: usize) -> bool {
        overlap(&self.content, &other.content, part)
    }

    /// As `have_same_facts`.
    fn may_have_same_facts(&self, other: &Gist) -> bool {
        let (fewer, more) = if self.facts.len() <= other.facts.len() { (self, other) } else { (other, self) };
        let is_known = |fact: &SentenceGist| more.facts.iter().any(|known| fact.may_say_same(known));
        !fewer.facts.is_empty() && fewer.facts.iter().all(is_known)
    }

    fn may_be_same(&self, other: &Gist) -> bool {
        self.exact == other.exact
            && self.is_negative == other.is_negative
            && replacing::split_pair(self.sides, other.sides).is_none()
            && (self.overlaps(other, 80) || (self.overlaps(other, 34) && self.may_have_same_facts(other)))
    }

    fn may_differ_in_value(&self, other: &Gist) -> bool {
        let is_over = is_completed(&self.kind) && is_completed(&other.kind);
        !is_over
            && (self.is_opposite(other)
                || self.plain == other.plain
                || (!self.facts.is_empty() && !other.facts.is_empty() && self.overlaps(other, 80))
                || self.is_another_choice(other))
    }

    /// The same but for a negation or a pair of words.
    fn is_opposite(&self, other: &Gist) -> bool {
        let is_split = replacing::split_pair(self.sides, other.sides).is_some();
        let differing =
            || self.content.len() + other.content.len() - 2 * shared(&self.content, &other.content);
        (is_split || self.is_negative != other.is_negative) && differing() <= 2
    }

    fn is_another_choice(&self, other: &Gist) -> bool {
        if !is_choice(&self.kind)
            || self.is_negative
            || other.is_negative
            || !(self.chooses && other.chooses)
            || self.bare.len() != other.bare.len()
        {
            return false;
        }
        let shared = shared(&self.bare, &other.bare);
        let is_told = self.reports_change || other.reports_change;
        self.bare.len() == shared + 1 && (is_told || shared == 0)
    }

    /// As `replacing::explicit`.
    fn replaces(&self, older: &Gist) -> bool {
        let has = |names: &[u32]| shared(names, &older.stated) == names.len();
        (!older.is_negative || may_give_up(&self.kind, &older.kind))
            && self.swaps.iter().any(|(before, now)| {
                has(before) && (now.is_empty() || !has(now)) && self.has_subject_of(older, before, now)
            })
    }

    fn has_subject_of(&self, older: &Gist, before: &[u32], now: &[u32]) -> bool {
        if self.drops {
            return true;
        }
        let is_rest = |word: &&u32| before.binary_search(word).is_err() && now.binary_search(word).is_err();
        let rest: Vec<u32> = older.subject.iter().filter(is_rest).copied().collect();
        if shared(&self.concepts, &older.concepts) > 0 || shared(&self.files, &older.files) > 0 {
            return true;
        }
        match rest.len() {
            0 => self.subject.iter().filter(is_rest).count() <= 1,
            count => shared(&rest, &self.all) * 2 >= count,
        }
    }
}

fn all_words(memory: &MemoryContent, title: &[Token], facts: &[Vec<Token>]) -> Hashes {
    let beside = words(&format!("{}\n{}", memory.subtitle, memory.narrative));
    let all = title.iter().chain(facts.iter().flatten()).chain(&beside);
    hashes(all.filter(|word| word.is_content()).map(|word| &word.stem))
}

fn hashes<S: AsRef<str>>(words: impl Iterator<Item = S>) -> Hashes {
    let mut hashes: Vec<u32> = words.map(|word| hash(word.as_ref())).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes.into()
}

/// Whether the shared words, in percent of all, are at least `part`.
fn overlap(one: &[u32], other: &[u32], part: usize) -> bool {
    let shared = shared(one, other);
    shared * 100 >= part * (one.len() + other.len() - shared)
}

/// How many are in both; both are sorted.
fn shared(one: &[u32], other: &[u32]) -> usize {
    let (mut ours, mut theirs, mut count) = (0, 0, 0);
    while ours < one.len() && theirs < other.len() {
        let order = one[ours].cmp(&other[theirs]);
        count += usize::from(order == Ordering::Equal);
        ours += usize::from(order != Ordering::Greater);
        theirs += usize::from(order != Ordering::Less);
    }
    count
}

/// FNV-1a: two words with one hash only cost a comparison.
pub fn hash(word: &str) -> u32 {
    word.bytes().fold(0x811c_9dc5, fnv)
}

fn joined(hashes: &[u32]) -> u32 {
    hashes.iter().flat_map(|hash| hash.to_le_bytes()).fold(0x811c_9dc5, fnv)
}

fn fnv(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}
