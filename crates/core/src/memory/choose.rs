//! Selects the memories a session is given, best first: pinned, relevant to the current work, an index of the rest.
//!
//! Every line states the level of its trust. Pure and deterministic. Recency decides only between equal scores. Never
//! selects superseded or quarantined memories.

use super::{Memory, MemoryTrust};
use crate::compose::{MemorySection, MemorySectionKind};
use crate::id::SessionKey;
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// The current work of the session that receives memories.
#[derive(Clone, Debug, Default)]
pub struct CurrentWork {
    pub branch: Option<String>,
    /// Files touched recently.
    pub files: BTreeSet<String>,
    /// The current prompt.
    pub prompt: String,
}

/// Formats memories. The callbacks do IO, so they are called only for selected memories.
#[derive(Clone, Copy)]
pub struct MemoryFormatter<'a> {
    /// The name of our command in the session's environment.
    pub program: &'a str,
    /// Formats a time for the user.
    pub clock: &'a dyn Fn(Timestamp) -> String,
    /// The reason a memory may be outdated: a file that is gone or was changed since.
    pub stale: &'a dyn Fn(&Memory) -> Option<String>,
}

/// The selected memories, formatted, with their cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemorySelection {
    pub parts: Vec<MemorySection>,
    /// The sources of memories given with their facts, if known.
    learnt: Vec<LearningCost>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct LearningCost {
    memory: String,
    turn: (SessionKey, u32),
    tokens: u64,
}

/// The cost of learning the given memories: their source turns and the tokens those used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectionCost {
    pub memories: usize,
    pub turns: usize,
    pub tokens: u64,
}

impl MemorySelection {
    /// The cost of the memories for which `is_given` returns true, by name. A turn counts once, however many memories
    /// came from it. Index entries and memories without a known turn or cost do not count.
    pub fn cost_of(&self, is_given: &dyn Fn(&str) -> bool) -> SelectionCost {
        let mut turns = BTreeMap::new();
        let mut memories = 0;
        for learnt in self.learnt.iter().filter(|learnt| is_given(&learnt.memory)) {
            memories += 1;
            let tokens: &mut u64 = turns.entry(&learnt.turn).or_default();
            *tokens = learnt.tokens.max(*tokens);
        }
        SelectionCost { memories, turns: turns.len(), tokens: turns.values().sum() }
    }
}

/// Maximum number of memories with facts; the others are listed by title.
const WITH_FACTS: usize = 12;
const LISTED: usize = 40;
const FACTS: usize = 3;

/// Selects from `candidates`. `next_steps` are the open steps of earlier sessions, newest first.
pub fn choose(
    candidates: Vec<Memory>,
    next_steps: &[String],
    here: &CurrentWork,
    wording: MemoryFormatter<'_>,
) -> MemorySelection {
    let standing: Vec<Memory> = candidates.into_iter().filter(Memory::is_current).collect();
    let (pinned, rest): (Vec<Memory>, Vec<Memory>) =
        standing.into_iter().partition(|memory| memory.pinned_at.is_some());
    let ranked = ranked(rest, here);
    let (fitting, others) = ranked.split_at(ranked.iter().take(WITH_FACTS).filter(|it| it.fits).count());
    let others = &others[..others.len().min(LISTED)];
    let whole = pinned.iter().chain(fitting.iter().map(|it| &it.memory));
    let learnt = whole.filter_map(learning_cost).collect();
    let program = wording.program;
    let more = format!(
        "each from the person, an agent or outside (web, tools, files, others); `{program} show m12` gives one whole, \
         `{program} search WORDS` finds others"
    );
    let parts = [
        part(
            MemorySectionKind::Pinned,
            "Pinned by the person",
            "pinned",
            pinned.iter().map(|memory| wording.whole(memory)),
        ),
        part(
            MemorySectionKind::NextSteps,
            "Left to be done by earlier sessions",
            "stated as next steps",
            next_steps.iter().cloned(),
        ),
        part(
            MemorySectionKind::Memories,
            &format!("Memories that may matter here ({more})"),
            "they share words, files or the branch with the work at hand",
            fitting.iter().map(|it| wording.whole(&it.memory)),
        ),
        part(
            MemorySectionKind::Index,
            &format!("Other memories of this project ({more})"),
            "the rest, newest first",
            others.iter().map(|it| wording.in_short(&it.memory)),
        ),
    ];
    MemorySelection { parts: parts.into_iter().filter(|part| !part.items.is_empty()).collect(), learnt }
}

fn learning_cost(memory: &Memory) -> Option<LearningCost> {
    let source = memory.source.as_ref().filter(|_| memory.cost > 0)?;
    let turn = (source.session.clone(), source.turn?);
    Some(LearningCost { memory: memory.name(), turn, tokens: memory.cost })
}

fn part(
    kind: MemorySectionKind,
    title: &str,
    why: &str,
    items: impl Iterator<Item = String>,
) -> MemorySection {
    MemorySection { kind, title: title.to_owned(), items: items.collect(), why: why.to_owned() }
}

impl MemoryFormatter<'_> {
    /// A memory with its facts: `m12 decision, agent, 14:05: Use Valkey. It is free. Redis is not. [src/cache.rs]`
    fn whole(&self, memory: &Memory) -> String {
        let (content, clock) = (&memory.content, (self.clock)(memory.made_at));
        let facts = content.facts.iter().take(FACTS).map(String::as_str);
        let text = [content.title.as_str()].into_iter().chain(facts).map(|one| one.trim_end_matches('.'));
        let text = text.collect::<Vec<_>>().join(". ");
        let files: Vec<&str> = content.files.iter().take(FACTS).map(|(path, _)| path.as_str()).collect();
        let files = if files.is_empty() { String::new() } else { format!(" [{}]", files.join(", ")) };
        let (name, kind, level) = (memory.name(), &content.kind, memory.trust.level().name());
        format!("{name} {kind}, {level}, {clock}: {text}.{files}{}", self.doubts(memory))
    }

    /// A memory by title, with the cost of reading it: `m12 decision, agent, 14:05, ~90 tokens: Use Valkey`
    fn in_short(&self, memory: &Memory) -> String {
        let (content, clock) = (&memory.content, (self.clock)(memory.made_at));
        let tokens = content.text().len().div_ceil(4);
        let (name, kind, level) = (memory.name(), &content.kind, memory.trust.level().name());
        let doubts = self.doubts(memory);
        format!("{name} {kind}, {level}, {clock}, ~{tokens} tokens: {}{doubts}", content.title)
    }

    /// Reasons not to rely on the memory, in parentheses.
    fn doubts(&self, memory: &Memory) -> String {
        let trust = match memory.trust {
            MemoryTrust::Web => Some("from the web".to_owned()),
            MemoryTrust::Tool => Some("from a tool's output".to_owned()),
            MemoryTrust::Team | MemoryTrust::Agent | MemoryTrust::Person => None,
        };
        let stale = (self.stale)(memory).map(|why| format!("stale: {why}"));
        let whose = memory.owner().map(|whose| format!("from {whose}"));
        let doubts: Vec<String> = stale.into_iter().chain(whose).chain(trust).collect();
        if doubts.is_empty() { String::new() } else { format!(" ({})", doubts.join("; ")) }
    }
}

struct Ranked {
    memory: Memory,
    score: u64,
    /// Whether it is related to the current work.
    fits: bool,
}

fn ranked(memories: Vec<Memory>, here: &CurrentWork) -> Vec<Ranked> {
    let prompt_words = words(&here.prompt);
    let shared: Vec<BTreeSet<&str>> =
        memories.iter().map(|memory| shared_words(&memory.content.text(), &prompt_words)).collect();
    let rarity = WordRarity::of(&shared);
    let scored = memories.into_iter().zip(&shared).map(|(memory, shared)| {
        let fit = rarity.weight(shared) + place_score(&memory, here);
        Ranked { fits: fit > 0, score: fit * 100 + base_score(&memory), memory }
    });
    let mut ranked: Vec<Ranked> = scored.collect();
    let newest = |it: &Ranked| (it.memory.made_at, it.memory.number);
    ranked.sort_by_key(|it| std::cmp::Reverse((it.fits, it.score, newest(it))));
    // Unrelated memories only form the index, which is sorted by time.
    let first_other = ranked.iter().position(|it| !it.fits).unwrap_or(ranked.len());
    ranked[first_other..].sort_by_key(|it| std::cmp::Reverse(newest(it)));
    ranked
}

/// Scores shared files high, and a shared branch that is not the trunk a little.
fn place_score(memory: &Memory, here: &CurrentWork) -> u64 {
    let files = memory.content.files.iter().filter(|(path, _)| here.files.contains(path)).count() as u64;
    let branch = memory.source.as_ref().and_then(|source| source.branch.as_deref());
    let is_trunk = |branch: &str| matches!(branch, "main" | "master" | "trunk" | "develop");
    let same = branch.is_some_and(|branch| !is_trunk(branch) && here.branch.as_deref() == Some(branch));
    files.min(3) * 4 + u64::from(same) * 3
}

/// The base score: decisions, preferences and traps above plain changes.
fn base_score(memory: &Memory) -> u64 {
    let by_type = match memory.content.kind.as_str() {
        "preference" => 40,
        "decision" | "gotcha" => 30,
        "security" => 25,
        "discovery" | "bugfix" => 15,
        _ => 5,
    };
    let by_trust = match memory.trust {
        MemoryTrust::Person => 20,
        MemoryTrust::Agent => 10,
        MemoryTrust::Team => 7,
        MemoryTrust::Tool => 5,
        MemoryTrust::Web => 0,
    };
    by_type + by_trust + u64::from(memory.confidence.as_percent()) / 10 + u64::from(memory.found.min(5))
}

/// Document frequency of the prompt's words among the candidates: a word that all contain carries no information.
struct WordRarity<'a> {
    frequency: BTreeMap<&'a str, usize>,
    all: usize,
}

impl<'a> WordRarity<'a> {
    fn of(shared: &[BTreeSet<&'a str>]) -> WordRarity<'a> {
        let mut frequency = BTreeMap::new();
        for word in shared.iter().flatten() {
            *frequency.entry(*word).or_insert(0) += 1;
        }
        WordRarity { frequency, all: shared.len() }
    }

    /// The score of the words that a memory shares with the prompt, each weighted by its rarity.
    fn weight(&self, shared: &BTreeSet<&str>) -> u64 {
        let weight = |word: &&str| {
            let frequency = self.frequency.get(*word).copied().unwrap_or(0);
            let is_rare = frequency * 3 <= self.all.max(3);
            if is_rare { 3 } else { u64::from(frequency * 2 <= self.all) }
        };
        shared.iter().map(weight).sum()
    }
}

/// Those of the prompt's words that a text contains. An agent waits: nothing is allocated for the others.
fn shared_words<'a>(text: &str, prompt_words: &'a BTreeSet<String>) -> BTreeSet<&'a str> {
    let (mut shared, mut stem) = (BTreeSet::new(), String::new());
    let letters = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= 3);
    for word in letters.take_while(|_| !prompt_words.is_empty()) {
        stem.clear();
        stem.extend(word.chars().flat_map(char::to_lowercase).take(STEM));
        if let Some(known) = prompt_words.get(&stem).filter(|_| !STOP_WORDS.contains(&&*word.to_lowercase()))
        {
            shared.insert(known.as_str());
        }
    }
    shared
}

/// Words of three letters and more without stop words, cut to `STEM` characters so that forms of one word match.
fn words(text: &str) -> BTreeSet<String> {
    let split = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let kept = split.filter(|word| word.chars().count() >= 3 && !STOP_WORDS.contains(&word.as_str()));
    kept.map(|word| word.chars().take(STEM).collect()).collect()
}

/// Length of the shared prefix of a word's forms.
const STEM: usize = 6;

const STOP_WORDS: [&str; 48] = [
    "the", "and", "for", "that", "this", "with", "from", "are", "was", "were", "not", "you", "your", "can",
    "has", "have", "had", "but", "all", "any", "its", "our", "out", "use", "used", "now", "one", "two",
    "how", "why", "what", "when", "where", "which", "who", "will", "would", "should", "could", "please",
    "make", "made", "into", "then", "than", "there", "also", "like",
];

#[cfg(test)]
mod tests;
