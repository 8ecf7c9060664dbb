//! Which memories a session is given, best first: pinned, then those that fit the work at hand, then an index of the rest.
//!
//! A pure function of what is kept and what is known of the session: the same material, the same order. Recency decides
//! only between equals. What was replaced or is held back is given to nobody.

use super::{Memory, Trust};
use crate::compose::{Remembered, RememberedKind};
use crate::id::SessionKey;
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of the session that is to be given something.
#[derive(Clone, Debug, Default)]
pub struct Here {
    pub branch: Option<String>,
    /// Files that the work was about lately.
    pub files: BTreeSet<String>,
    /// What was just asked.
    pub prompt: String,
}

/// How memories are put into words: what only the world knows is asked for those that are given.
#[derive(Clone, Copy)]
pub struct Wording<'a> {
    /// How our command is called where the session runs.
    pub program: &'a str,
    /// A time, as a person reads clocks.
    pub clock: &'a dyn Fn(Timestamp) -> String,
    /// Why a memory may no longer hold: a file that is gone or was changed since.
    pub stale: &'a dyn Fn(&Memory) -> Option<String>,
}

/// What is given, and what it stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    pub parts: Vec<Remembered>,
    /// Where those were learnt that are given with their facts, as far as that is known.
    learnt: Vec<Learnt>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Learnt {
    memory: String,
    turn: (SessionKey, u32),
    tokens: u64,
}

/// What it took to learn something: the turns that it came from, and what those took in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Took {
    pub memories: usize,
    pub turns: usize,
    pub tokens: u64,
}

impl Chosen {
    /// What it took to learn those that `is_given` says found room, by their names. A turn counts once, however many
    /// memories came of it; a title in the index counts for nothing, and neither does what has no known turn or cost.
    pub fn took(&self, is_given: &dyn Fn(&str) -> bool) -> Took {
        let mut turns = BTreeMap::new();
        let mut memories = 0;
        for learnt in self.learnt.iter().filter(|learnt| is_given(&learnt.memory)) {
            memories += 1;
            let tokens: &mut u64 = turns.entry(&learnt.turn).or_default();
            *tokens = learnt.tokens.max(*tokens);
        }
        Took { memories, turns: turns.len(), tokens: turns.values().sum() }
    }
}

/// More than these are listed by their titles only.
const WITH_FACTS: usize = 12;
const LISTED: usize = 40;
const FACTS: usize = 3;

/// Chooses among these. `next_steps` are what earlier sessions left to be done, the newest first.
pub fn choose(candidates: Vec<Memory>, next_steps: &[String], here: &Here, wording: Wording<'_>) -> Chosen {
    let standing: Vec<Memory> = candidates.into_iter().filter(Memory::stands).collect();
    let (pinned, rest): (Vec<Memory>, Vec<Memory>) =
        standing.into_iter().partition(|memory| memory.pinned_at.is_some());
    let ranked = ranked(rest, here);
    let (fitting, others) = ranked.split_at(ranked.iter().take(WITH_FACTS).filter(|it| it.fits).count());
    let others = &others[..others.len().min(LISTED)];
    let whole = pinned.iter().chain(fitting.iter().map(|it| &it.memory));
    let learnt = whole.filter_map(learnt).collect();
    let program = wording.program;
    let more = format!("`{program} show m12` gives one whole, `{program} search WORDS` finds others");
    let parts = [
        part(
            RememberedKind::Pinned,
            "Pinned by the person",
            "pinned",
            pinned.iter().map(|memory| wording.whole(memory)),
        ),
        part(
            RememberedKind::NextSteps,
            "Left to be done by earlier sessions",
            "stated as next steps",
            next_steps.iter().cloned(),
        ),
        part(
            RememberedKind::Memories,
            &format!("Memories that may matter here ({more})"),
            "they share words, files or the branch with the work at hand",
            fitting.iter().map(|it| wording.whole(&it.memory)),
        ),
        part(
            RememberedKind::Index,
            &format!("Other memories of this project ({more})"),
            "the rest, newest first",
            others.iter().map(|it| wording.in_short(&it.memory)),
        ),
    ];
    Chosen { parts: parts.into_iter().filter(|part| !part.items.is_empty()).collect(), learnt }
}

fn learnt(memory: &Memory) -> Option<Learnt> {
    let source = memory.source.as_ref().filter(|_| memory.cost > 0)?;
    let turn = (source.session.clone(), source.turn?);
    Some(Learnt { memory: memory.name(), turn, tokens: memory.cost })
}

fn part(kind: RememberedKind, title: &str, why: &str, items: impl Iterator<Item = String>) -> Remembered {
    Remembered { kind, title: title.to_owned(), items: items.collect(), why: why.to_owned() }
}

impl Wording<'_> {
    /// With its facts: `m12 decision, 14:05: Use Valkey. It is free. Redis is not. [src/cache.rs]`
    fn whole(&self, memory: &Memory) -> String {
        let (content, clock) = (&memory.content, (self.clock)(memory.made_at));
        let facts = content.facts.iter().take(FACTS).map(String::as_str);
        let said = [content.title.as_str()].into_iter().chain(facts).map(|one| one.trim_end_matches('.'));
        let said = said.collect::<Vec<_>>().join(". ");
        let files: Vec<&str> = content.files.iter().take(FACTS).map(|(path, _)| path.as_str()).collect();
        let files = if files.is_empty() { String::new() } else { format!(" [{}]", files.join(", ")) };
        format!("{} {}, {clock}: {said}.{files}{}", memory.name(), content.kind, self.doubts(memory))
    }

    /// By its title, with what it would cost to read: `m12 decision, 14:05, ~90 tokens: Use Valkey`
    fn in_short(&self, memory: &Memory) -> String {
        let (content, clock) = (&memory.content, (self.clock)(memory.made_at));
        let tokens = content.text().len().div_ceil(4);
        let (name, kind, doubts) = (memory.name(), &content.kind, self.doubts(memory));
        format!("{name} {kind}, {clock}, ~{tokens} tokens: {}{doubts}", content.title)
    }

    /// What speaks against relying on it.
    fn doubts(&self, memory: &Memory) -> String {
        let less = match memory.trust {
            Trust::Web => Some("from the web".to_owned()),
            Trust::Tool => Some("from a tool's output".to_owned()),
            Trust::Team | Trust::Agent | Trust::Person => None,
        };
        let stale = (self.stale)(memory).map(|why| format!("stale: {why}"));
        let whose = memory.whose().map(|whose| format!("from {whose}"));
        let doubts: Vec<String> = stale.into_iter().chain(whose).chain(less).collect();
        if doubts.is_empty() { String::new() } else { format!(" ({})", doubts.join("; ")) }
    }
}

struct Ranked {
    memory: Memory,
    score: u64,
    /// It has something to do with the work at hand.
    fits: bool,
}

fn ranked(memories: Vec<Memory>, here: &Here) -> Vec<Ranked> {
    let words: Vec<BTreeSet<String>> = memories.iter().map(|memory| words(&memory.content.text())).collect();
    let rarity = Rarity::of(&words);
    let asked = self::words(&here.prompt);
    let scored = memories.into_iter().zip(&words).map(|(memory, words)| {
        let fit = rarity.shared(&asked, words) + by_place(&memory, here);
        Ranked { fits: fit > 0, score: fit * 100 + worth(&memory), memory }
    });
    let mut ranked: Vec<Ranked> = scored.collect();
    let newest = |it: &Ranked| (it.memory.made_at, it.memory.number);
    ranked.sort_by_key(|it| std::cmp::Reverse((it.fits, it.score, newest(it))));
    // What only fills up is an index by time.
    let first_other = ranked.iter().position(|it| !it.fits).unwrap_or(ranked.len());
    ranked[first_other..].sort_by_key(|it| std::cmp::Reverse(newest(it)));
    ranked
}

/// Files say most about what a memory is for, a branch of its own a little.
fn by_place(memory: &Memory, here: &Here) -> u64 {
    let files = memory.content.files.iter().filter(|(path, _)| here.files.contains(path)).count() as u64;
    let branch = memory.source.as_ref().and_then(|source| source.branch.as_deref());
    let is_trunk = |branch: &str| matches!(branch, "main" | "master" | "trunk" | "develop");
    let same = branch.is_some_and(|branch| !is_trunk(branch) && here.branch.as_deref() == Some(branch));
    files.min(3) * 4 + u64::from(same) * 3
}

/// What a memory is worth by itself: what was decided, wanted or fallen into before what was merely done.
fn worth(memory: &Memory) -> u64 {
    let by_type = match memory.content.kind.as_str() {
        "preference" => 40,
        "decision" | "gotcha" => 30,
        "security" => 25,
        "discovery" | "bugfix" => 15,
        _ => 5,
    };
    let by_trust = match memory.trust {
        Trust::Person => 20,
        Trust::Agent => 10,
        Trust::Team => 7,
        Trust::Tool => 5,
        Trust::Web => 0,
    };
    by_type + by_trust + u64::from(memory.confidence.as_percent()) / 10 + u64::from(memory.found.min(5))
}

/// How rare each word is among the candidates: what all of them hold tells nothing.
struct Rarity {
    held: BTreeMap<String, usize>,
    all: usize,
}

impl Rarity {
    fn of(words: &[BTreeSet<String>]) -> Rarity {
        let mut held = BTreeMap::new();
        for word in words.iter().flatten() {
            *held.entry(word.clone()).or_insert(0) += 1;
        }
        Rarity { held, all: words.len() }
    }

    /// What two texts share, each word by how rare it is.
    fn shared(&self, asked: &BTreeSet<String>, words: &BTreeSet<String>) -> u64 {
        let weight = |word: &&String| {
            let held = self.held.get(*word).copied().unwrap_or(0);
            let is_rare = held * 3 <= self.all.max(3);
            if is_rare { 3 } else { u64::from(held * 2 <= self.all) }
        };
        asked.intersection(words).map(|word| weight(&word)).sum()
    }
}

/// Words of three letters and more, without what every text holds; longer ones by their beginning, so that forms of one
/// word meet.
fn words(text: &str) -> BTreeSet<String> {
    let split = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let kept = split.filter(|word| word.chars().count() >= 3 && !COMMON.contains(&word.as_str()));
    kept.map(|word| word.chars().take(STEM).collect()).collect()
}

/// As much of a word as its forms share.
const STEM: usize = 6;

const COMMON: [&str; 48] = [
    "the", "and", "for", "that", "this", "with", "from", "are", "was", "were", "not", "you", "your", "can",
    "has", "have", "had", "but", "all", "any", "its", "our", "out", "use", "used", "now", "one", "two",
    "how", "why", "what", "when", "where", "which", "who", "will", "would", "should", "could", "please",
    "make", "made", "into", "then", "than", "there", "also", "like",
];

#[cfg(test)]
mod tests;
