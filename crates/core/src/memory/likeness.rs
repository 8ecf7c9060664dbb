//! Whether a new memory says what an old one says, takes its place, or neither.
//!
//! Pure, and careful: what is merged wrongly is hidden. The same is only what has the same words in the same order or the
//! same facts, about the same files, with the same names and numbers; something is replaced only where the new one says so,
//! turns the old one around, or gives another value for the same thing. All else stands beside each other.

mod replacing;
mod words;

use super::{Content, MemoryType};
use std::collections::BTreeSet;
use words::{Sort, Word, containment, content, of_sort, overlap, words};

/// What a newer memory is to an older one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// It says the same.
    Same,
    /// It holds instead; why, in words for a person.
    Replaces {
        why: String,
    },
    Other,
}

/// Compares two memories of one project, of which the first is the newer.
pub fn likeness(newer: &Content, older: &Content) -> Likeness {
    let (newer, older) = (Told::of(newer), Told::of(older));
    if !are_comparable(&newer.content.kind, &older.content.kind) {
        return Likeness::Other;
    }
    if let Some(why) = replacing::says_so(&newer, &older) {
        return Likeness::Replaces { why };
    }
    if is_apart(&newer, &older) {
        return Likeness::Other;
    }
    if is_same(&newer, &older) {
        return Likeness::Same;
    }
    replacing::by_value(&newer, &older).map_or(Likeness::Other, |why| Likeness::Replaces { why })
}

/// The facts of the newer one that the older one lacks: none of its own says the same.
pub fn new_facts(newer: &Content, older: &Content) -> Vec<String> {
    let known: Vec<Vec<Word>> = older.facts.iter().map(|fact| words(fact)).collect();
    let is_new = |fact: &&String| !known.iter().any(|known| says_same(&words(fact), known));
    newer.facts.iter().filter(is_new).cloned().collect()
}

/// A memory, taken apart.
struct Told<'c> {
    content: &'c Content,
    title: Vec<Word>,
    facts: Vec<Vec<Word>>,
    /// All that is told beside the title.
    body: Vec<Word>,
}

impl Told<'_> {
    fn of(content: &Content) -> Told<'_> {
        let facts: Vec<Vec<Word>> = content.facts.iter().map(|fact| words(fact)).collect();
        let beside = words(&format!("{}\n{}", content.subtitle, content.narrative));
        let body = facts.iter().flatten().cloned().chain(beside).collect();
        Told { content, title: words(&content.title), facts, body }
    }
}

/// A choice may be told as a decision by one and as a preference by another.
fn are_comparable(one: &MemoryType, other: &MemoryType) -> bool {
    one == other || (is_choice(one) && is_choice(other))
}

fn is_choice(kind: &MemoryType) -> bool {
    ["decision", "preference", "change"].contains(&kind.as_str())
}

/// What was done stays done: only what holds can cease to hold.
fn is_deed(kind: &MemoryType) -> bool {
    ["bugfix", "feature", "refactor"].contains(&kind.as_str())
}

/// Both name files, and none of them is the same.
fn is_apart(one: &Told<'_>, other: &Told<'_>) -> bool {
    let (ours, theirs) = (&one.content.files, &other.content.files);
    !ours.is_empty() && !theirs.is_empty() && !shares_file(one, other)
}

fn shares_file(one: &Told<'_>, other: &Told<'_>) -> bool {
    let is_end = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'));
    let is_one = |a: &str, b: &str| a == b || is_end(a, b) || is_end(b, a);
    one.content.files.iter().any(|(ours, _)| other.content.files.iter().any(|(path, _)| is_one(ours, path)))
}

/// Concepts that both name, in any case.
fn shared_concepts(one: &Told<'_>, other: &Told<'_>) -> usize {
    let lower = |content: &Content| -> BTreeSet<String> {
        content.concepts.iter().map(|concept| concept.to_lowercase()).collect()
    };
    lower(one.content).intersection(&lower(other.content)).count()
}

/// A title of fewer words says too little by itself.
const TELLING: usize = 2;

fn is_same(newer: &Told<'_>, older: &Told<'_>) -> bool {
    if !is_strictly_alike(&newer.title, &older.title) || conflict(newer, older).is_some() {
        return false;
    }
    let (ours, theirs) = (content(&newer.title), content(&older.title));
    if ours.len().min(theirs.len()) < TELLING {
        return ours == theirs && content(&newer.body) == content(&older.body);
    }
    let by_title = is_reworded(&newer.title, &older.title) && do_bodies_agree(newer, older);
    by_title || (overlap(&ours, &theirs) >= 0.34 && have_same_facts(newer, older))
}

/// No name, number or "not" is other, and no word is the opposite of one.
fn is_strictly_alike(one: &[Word], other: &[Word]) -> bool {
    let same = |sort| of_sort(one, sort) == of_sort(other, sort);
    let is_negative = |words: &[Word]| words.iter().any(|word| word.sort == Sort::Negation);
    same(Sort::Name)
        && same(Sort::Number)
        && is_negative(one) == is_negative(other)
        && replacing::opposites(one, other).is_none()
}

/// The same words in nearly the same order; one side may have a word more, but not each its own.
fn is_reworded(one: &[Word], other: &[Word]) -> bool {
    let (ours, theirs) = (content(one), content(other));
    let is_within = ours.is_subset(&theirs) || theirs.is_subset(&ours);
    is_within && overlap(&ours, &theirs) >= 0.8 && in_order(one, other) >= 0.75
}

/// How much of the words stands in the same order, from 0 to 1.
fn in_order(one: &[Word], other: &[Word]) -> f64 {
    let spoken = |words: &[Word]| -> Vec<String> {
        let says = words.iter().filter(|word| !matches!(word.sort, Sort::Filler | Sort::Negation));
        says.map(|word| word.stem.clone()).collect()
    };
    let (ours, theirs) = (spoken(one), spoken(other));
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

/// Two long accounts under one title tell of the same only if they share words.
fn do_bodies_agree(newer: &Told<'_>, older: &Told<'_>) -> bool {
    const LONG: usize = 5;
    let (ours, theirs) = (content(&newer.body), content(&older.body));
    ours.len().min(theirs.len()) < LONG || containment(&ours, &theirs) >= 0.3
}

/// Every fact of the one that has fewer is a fact of the other, and they are more than a word or two.
fn have_same_facts(newer: &Told<'_>, older: &Told<'_>) -> bool {
    const ENOUGH: usize = 4;
    let (fewer, more) = if newer.facts.len() <= older.facts.len() { (newer, older) } else { (older, newer) };
    let is_known = |fact: &Vec<Word>| more.facts.iter().any(|other| says_same(fact, other));
    let told: usize = fewer.facts.iter().map(|fact| content(fact).len()).sum();
    told >= ENOUGH && fewer.facts.iter().all(is_known)
}

/// Two sentences that say the same.
fn says_same(one: &[Word], other: &[Word]) -> bool {
    is_strictly_alike(one, other) && (content(one) == content(other) || is_reworded(one, other))
}

/// Two facts about one thing of which only one can hold: the newer, then the older.
fn conflict(newer: &Told<'_>, older: &Told<'_>) -> Option<(usize, usize)> {
    let is_own = |fact: &Vec<Word>, others: &[Vec<Word>]| !others.iter().any(|other| says_same(fact, other));
    for (ours, fact) in newer.facts.iter().enumerate().filter(|(_, fact)| is_own(fact, &older.facts)) {
        for (theirs, other) in older.facts.iter().enumerate().filter(|(_, fact)| is_own(fact, &newer.facts)) {
            if replacing::another_value(fact, other) {
                return Some((ours, theirs));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
