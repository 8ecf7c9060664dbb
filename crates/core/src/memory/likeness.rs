//! Compares a new memory with an old one: duplicate, replacement, or neither.
//!
//! Pure and conservative, because a wrong merge hides a memory. Duplicates need the same words in the same order or the
//! same facts, about the same files, with the same names and numbers. A replacement must say so, negate the old memory,
//! or give another value for the same thing. All other pairs stay side by side.

mod gist;
mod replacing;
mod words;

pub use gist::{Gist, hash as hash_word};

use super::{MemoryContent, MemoryType};
use crate::phrases::Phrases;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use words::{Token, TokenKind, containment, content, of_kind, overlap, words};

/// The relation of a newer memory to an older one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// A duplicate.
    Same,
    /// A replacement, with the reason for the user.
    Replaces {
        why: String,
    },
    Other,
}

/// Compares two memories of one project.
pub fn likeness(newer: &MemoryContent, older: &MemoryContent) -> Likeness {
    Tokenized::of(newer).likeness_to(&Tokenized::of(older))
}

/// The facts of `newer` that no fact of `older` states.
pub fn new_facts(newer: &MemoryContent, older: &MemoryContent) -> Vec<String> {
    let known: Vec<Vec<Token>> = older.facts.iter().map(|fact| words(fact)).collect();
    let is_new = |fact: &&String| !known.iter().any(|known| says_same(&words(fact), known));
    newer.facts.iter().filter(is_new).cloned().collect()
}

/// A memory split into words, as far as they are needed: most comparisons end with the titles.
pub struct Tokenized<'c> {
    content: &'c MemoryContent,
    title: Vec<Token>,
    facts: OnceCell<Vec<Vec<Token>>>,
    body: OnceCell<Vec<Token>>,
}

impl<'c> Tokenized<'c> {
    pub fn of(content: &'c MemoryContent) -> Tokenized<'c> {
        let (facts, body) = (OnceCell::new(), OnceCell::new());
        Tokenized { content, title: words(&content.title), facts, body }
    }

    /// Compares this newer memory with an older one of the same project.
    pub fn likeness_to(&self, older: &Tokenized<'_>) -> Likeness {
        let is_comparable = are_comparable(&self.content.kind, &older.content.kind);
        let gives_up =
            may_give_up(&self.content.kind, &older.content.kind) && replacing::drops_name(&self.title);
        if !is_comparable && !gives_up {
            return Likeness::Other;
        }
        if let Some(why) = replacing::explicit(self, older) {
            return Likeness::Replaces { why };
        }
        if !is_comparable {
            return Likeness::Other;
        }
        if is_apart(self, older) {
            return Likeness::Other;
        }
        if is_same(self, older) {
            return Likeness::Same;
        }
        replacing::by_value(self, older).map_or(Likeness::Other, |why| Likeness::Replaces { why })
    }

    fn facts(&self) -> &[Vec<Token>] {
        self.facts.get_or_init(|| self.content.facts.iter().map(|fact| words(fact)).collect())
    }

    /// Everything but the title.
    fn body(&self) -> &[Token] {
        self.body.get_or_init(|| {
            let beside = words(&format!("{}\n{}", self.content.subtitle, self.content.narrative));
            self.facts().iter().flatten().cloned().chain(beside).collect()
        })
    }
}

/// A choice may be recorded as a decision, a preference or a change.
fn are_comparable(one: &MemoryType, other: &MemoryType) -> bool {
    one == other || (is_choice(one) && is_choice(other))
}

/// Whether a choice that is given up takes such a memory with it: a trap of something that is no longer used.
fn may_give_up(newer: &MemoryType, older: &MemoryType) -> bool {
    is_choice(newer) && older.as_str() == "gotcha"
}

fn is_choice(kind: &MemoryType) -> bool {
    ["decision", "preference", "change"].contains(&kind.as_str())
}

/// Completed work is never replaced: only statements about the present can become false.
fn is_completed(kind: &MemoryType) -> bool {
    ["bugfix", "feature", "refactor"].contains(&kind.as_str())
}

/// Whether both name files and share none.
fn is_apart(one: &Tokenized<'_>, other: &Tokenized<'_>) -> bool {
    let (ours, theirs) = (&one.content.files, &other.content.files);
    !ours.is_empty() && !theirs.is_empty() && !shares_file(one, other)
}

fn shares_file(one: &Tokenized<'_>, other: &Tokenized<'_>) -> bool {
    let is_end = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'));
    let is_one = |a: &str, b: &str| a == b || is_end(a, b) || is_end(b, a);
    one.content.files.iter().any(|(ours, _)| other.content.files.iter().any(|(path, _)| is_one(ours, path)))
}

/// Concepts that say what sort of memory it is, not what it is about: two memories share them by chance.
const SORTS: Phrases = Phrases(
    "what-changed|problem-solution|unfinished|trade-off|preference|why-it-exists|gotcha|how-it-works|pattern|decision",
);

/// The concepts that name a subject, in lower case.
fn subjects(content: &MemoryContent) -> BTreeSet<String> {
    let concepts = content.concepts.iter().map(|concept| concept.to_lowercase());
    concepts.filter(|concept| !SORTS.contains(concept)).collect()
}

/// The number of shared concepts that name a subject, ignoring case.
fn shared_concepts(one: &Tokenized<'_>, other: &Tokenized<'_>) -> usize {
    subjects(one.content).intersection(&subjects(other.content)).count()
}

/// Titles with fewer content words are compared together with the body.
const MIN_TITLE_WORDS: usize = 2;

fn is_same(newer: &Tokenized<'_>, older: &Tokenized<'_>) -> bool {
    if !is_strictly_alike(&newer.title, &older.title) {
        return false;
    }
    let (ours, theirs) = (content(&newer.title), content(&older.title));
    let is_same = if ours.len().min(theirs.len()) < MIN_TITLE_WORDS {
        ours == theirs && content(newer.body()) == content(older.body())
    } else {
        (is_reworded(&newer.title, &older.title) && do_bodies_agree(newer, older))
            || (overlap(&ours, &theirs) >= 0.34 && have_same_facts(newer, older))
    };
    is_same && conflict(newer, older).is_none()
}

/// Whether names, numbers and negation are equal and no word is the opposite of another.
fn is_strictly_alike(one: &[Token], other: &[Token]) -> bool {
    let same = |kind| of_kind(one, kind) == of_kind(other, kind);
    same(TokenKind::Name)
        && same(TokenKind::Number)
        && replacing::is_negative(one) == replacing::is_negative(other)
        && replacing::find_opposites(one, other).is_none()
}

/// Whether the words are the same in nearly the same order; only one side may have extra words.
fn is_reworded(one: &[Token], other: &[Token]) -> bool {
    let (ours, theirs) = (content(one), content(other));
    let is_within = ours.is_subset(&theirs) || theirs.is_subset(&ours);
    is_within && overlap(&ours, &theirs) >= 0.8 && in_order(one, other) >= 0.75
}

/// The share of words in common order (longest common subsequence), from 0 to 1.
fn in_order(one: &[Token], other: &[Token]) -> f64 {
    let stems = |words: &[Token]| -> Vec<String> {
        words.iter().filter(|word| word.is_content()).map(|word| word.stem.clone()).collect()
    };
    let (ours, theirs) = (stems(one), stems(other));
    let mut row = vec![0_usize; theirs.len() + 1];
    for word in &ours {
        let mut diagonal = 0;
        for (at, their) in theirs.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if word == their { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    let least = ours.len().min(theirs.len()).max(1);
    row.last().copied().unwrap_or(0) as f64 / least as f64
}

/// Two long bodies under one title are duplicates only if they share words.
fn do_bodies_agree(newer: &Tokenized<'_>, older: &Tokenized<'_>) -> bool {
    const LONG: usize = 5;
    let (ours, theirs) = (content(newer.body()), content(older.body()));
    ours.len().min(theirs.len()) < LONG || containment(&ours, &theirs) >= 0.3
}

/// Whether every fact of the memory with fewer facts is in the other, and the facts are more than a word or two.
fn have_same_facts(newer: &Tokenized<'_>, older: &Tokenized<'_>) -> bool {
    const ENOUGH: usize = 4;
    let (fewer, more) =
        if newer.facts().len() <= older.facts().len() { (newer, older) } else { (older, newer) };
    let is_known = |fact: &Vec<Token>| more.facts().iter().any(|other| says_same(fact, other));
    let word_count: usize = fewer.facts().iter().map(|fact| content(fact).len()).sum();
    word_count >= ENOUGH && fewer.facts().iter().all(is_known)
}

/// Whether two sentences say the same.
fn says_same(one: &[Token], other: &[Token]) -> bool {
    is_strictly_alike(one, other) && (content(one) == content(other) || is_reworded(one, other))
}

/// The indices of two contradicting facts: of the newer memory, then of the older.
fn conflict(newer: &Tokenized<'_>, older: &Tokenized<'_>) -> Option<(usize, usize)> {
    let is_own =
        |fact: &Vec<Token>, others: &[Vec<Token>]| !others.iter().any(|other| says_same(fact, other));
    for (ours, fact) in newer.facts().iter().enumerate().filter(|(_, fact)| is_own(fact, older.facts())) {
        for (theirs, other) in
            older.facts().iter().enumerate().filter(|(_, fact)| is_own(fact, newer.facts()))
        {
            if replacing::are_contradictory(fact, other) {
                return Some((ours, theirs));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
