//! Tells cheaply that two memories are unrelated, so that a new one need not be compared with all others.
//!
//! Errs on one side: memories that `likeness` relates are never told apart here. Each condition below is weaker than the
//! rule that it stands for, and needs only hashes of the words of the titles.

use super::words::{Token, TokenKind, content, words};
use super::{are_comparable, is_choice, replacing};
use crate::memory::{MemoryContent, MemoryType};
use std::cmp::Ordering;

/// The words and names that the rules compare, as hashes.
#[derive(Clone, Debug)]
pub struct Gist {
    kind: MemoryType,
    /// The words of the title that say something, sorted.
    content: Vec<u32>,
    /// The same without verbs of choice and words of change.
    bare: Vec<u32>,
    /// All names and numbers of the title.
    exact: u32,
    /// The title in order, without fillers and numbers.
    plain: u32,
    /// For each sentence that replaces something, the replaced names.
    replaced: Vec<Vec<u32>>,
}

impl Gist {
    pub fn of(memory: &MemoryContent) -> Gist {
        let title = words(&memory.title);
        let facts: Vec<Vec<Token>> = memory.facts.iter().map(|fact| words(fact)).collect();
        let sentences = std::iter::once(&title).chain(&facts);
        let replaced = sentences.map(|sentence| hashes(replacing::replaced_names(sentence).iter()));
        let is_exact = |word: &&Token| matches!(word.kind, TokenKind::Name | TokenKind::Number);
        let is_plain = |word: &&Token| !matches!(word.kind, TokenKind::Filler | TokenKind::Number);
        Gist {
            kind: memory.kind.clone(),
            content: hashes(content(&title).into_iter()),
            bare: hashes(replacing::bare(&title).iter()),
            exact: all(&hashes(title.iter().filter(is_exact).map(|word| &word.stem))),
            plain: all(&title.iter().filter(is_plain).map(|word| hash(&word.stem)).collect::<Vec<_>>()),
            replaced: replaced.filter(|names| !names.is_empty()).collect(),
        }
    }

    /// Whether `likeness` may relate the two, in either order.
    pub fn may_relate(&self, other: &Gist) -> bool {
        let shared = shared(&self.content, &other.content);
        let differing = self.content.len() + other.content.len() - 2 * shared;
        let overlap = |part: usize| shared * 100 >= part * (shared + differing);
        are_comparable(&self.kind, &other.kind)
            && (self.replaces(other)
                || other.replaces(self)
                || (self.exact == other.exact && overlap(34))
                // Opposites: the same but for a pair of words.
                || differing <= 2
                || overlap(80)
                || self.plain == other.plain
                || self.is_another_choice(other))
    }

    fn replaces(&self, other: &Gist) -> bool {
        self.replaced.iter().any(|names| shared(names, &other.content) == names.len())
    }

    fn is_another_choice(&self, other: &Gist) -> bool {
        let shared = shared(&self.bare, &other.bare);
        let is_one_beyond = |bare: &[u32]| bare.len() == shared + 1;
        is_choice(&self.kind) && is_one_beyond(&self.bare) && is_one_beyond(&other.bare)
    }
}

fn hashes<S: AsRef<str>>(words: impl Iterator<Item = S>) -> Vec<u32> {
    let mut hashes: Vec<u32> = words.map(|word| hash(word.as_ref())).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
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
fn hash(word: &str) -> u32 {
    word.bytes().fold(0x811c_9dc5, fnv)
}

fn all(hashes: &[u32]) -> u32 {
    hashes.iter().flat_map(|hash| hash.to_le_bytes()).fold(0x811c_9dc5, fnv)
}

fn fnv(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}
