//! Ranks and formats the memories a session is given: pinned, relevant to the current work, an index of the rest.
//!
//! Every line states the level of its trust. Pure and deterministic. Recency decides only between equal scores. Only
//! `choose_for_file`, used for gotchas, filters superseded and quarantined memories; for prompts the store's SQL does.

mod ranking;

use super::distil::CAUSE;
use super::{Memory, MemoryContent, MemoryTrust};
use crate::compose::{MemorySection, MemorySectionKind};
use crate::id::SessionKey;
use crate::line::words::sentences;
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

use ranking::PromptWords;
pub use ranking::{BestMemories, Candidate, Ranking};

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
    /// The prompt: sentences that share words with it come first.
    pub prompt: &'a str,
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

const FACTS: usize = 3;

/// Selects from all memories about a file. `next_steps` are the open steps of earlier sessions, newest first.
pub fn choose_for_file(
    candidates: Vec<Memory>,
    next_steps: &[String],
    here: &CurrentWork,
    wording: MemoryFormatter<'_>,
) -> MemorySelection {
    let standing = candidates.into_iter().filter(Memory::is_current);
    let (pinned, rest): (Vec<Memory>, Vec<Memory>) = standing.partition(|memory| memory.pinned_at.is_some());
    let mut ranking = Ranking::new(here);
    rest.iter().for_each(|memory| ranking.add_memory(memory));
    let best = ranking.best();
    let mut rest: BTreeMap<i64, Memory> = rest.into_iter().map(|memory| (memory.number, memory)).collect();
    let mut take = |numbers: &[i64]| numbers.iter().filter_map(|number| rest.remove(number)).collect();
    let chosen = ChosenMemories { pinned, fitting: take(&best.fitting), others: take(&best.others) };
    format_memories(&chosen, next_steps, wording)
}

/// Memories to give, in order.
#[derive(Debug, Default)]
pub struct ChosenMemories {
    pub pinned: Vec<Memory>,
    /// Related to the current work: given with their facts.
    pub fitting: Vec<Memory>,
    /// Listed by title.
    pub others: Vec<Memory>,
}

/// Formats the chosen memories, with the next steps, in sections.
pub fn format_memories(
    chosen: &ChosenMemories,
    next_steps: &[String],
    wording: MemoryFormatter<'_>,
) -> MemorySelection {
    let ChosenMemories { pinned, fitting, others } = chosen;
    let whole = pinned.iter().chain(fitting);
    let learnt = whole.filter_map(learning_cost).collect();
    let words = PromptWords::of(wording.prompt);
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
            pinned.iter().map(|memory| wording.whole(memory, &words)),
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
            fitting.iter().map(|memory| wording.whole(memory, &words)),
        ),
        part(
            MemorySectionKind::Index,
            &format!("Other memories of this project ({more})"),
            "the rest, newest first",
            others.iter().map(|memory| wording.in_short(memory)),
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
    /// A memory with what matters of it: `m12 decision, agent, 14:05: Use Valkey. It is free. Redis is not.`
    fn whole(&self, memory: &Memory, words: &PromptWords) -> String {
        let (content, clock) = (&memory.content, (self.clock)(memory.made_at));
        let told = telling(content, words);
        let text =
            [content.title.as_str()].into_iter().chain(told).map(|one| one.trim_end_matches(['.', '。']));
        let text = text.collect::<Vec<_>>().join(". ");
        let (name, kind, level) = (memory.name(), &content.kind, memory.trust.level().name());
        format!("{name} {kind}, {level}, {clock}: {text}.{}", self.doubts(memory))
    }

    /// A memory by title and cause, with the cost of reading it: `m12 decision, agent, 14:05, ~90 tokens: Use Valkey`
    fn in_short(&self, memory: &Memory) -> String {
        let (content, clock) = (&memory.content, (self.clock)(memory.made_at));
        let tokens = content.text().len().div_ceil(4);
        let (name, kind, level) = (memory.name(), &content.kind, memory.trust.level().name());
        let doubts = self.doubts(memory);
        let cause = content.facts.iter().find(|fact| fact.starts_with(CAUSE));
        let cause = cause.map(|cause| format!(". {cause}")).unwrap_or_default();
        format!("{name} {kind}, {level}, {clock}, ~{tokens} tokens: {}{cause}{doubts}", content.title)
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

/// The sentences of a memory that matter beside its title: causes, then those that share words with the prompt, then
/// the others. Lists of files, commits and passed tests say nothing that the title does not.
fn telling<'c>(content: &'c MemoryContent, prompt: &PromptWords) -> Vec<&'c str> {
    const LISTS: [&str; 3] = ["Changed ", "Committed", "`"];
    let is_list =
        |fact: &str| LISTS.iter().any(|list| fact.starts_with(list)) && !fact.contains(" failed with");
    let facts = content.facts.iter().map(String::as_str).filter(|fact| !is_list(fact));
    let narrated =
        sentences(&content.narrative).map(str::trim).filter(|sentence| !content.title.contains(sentence));
    let shared = |text: &str| prompt.shared([text, "", "", ""]).len();
    let mut told: Vec<(bool, usize, &str)> =
        facts.map(|fact| (fact.starts_with(CAUSE), 1 + shared(fact), fact)).collect();
    told.extend(narrated.map(|text| (false, shared(text), text)).filter(|(_, shared, _)| *shared > 0));
    if told.is_empty() {
        told.extend(sentences(&content.narrative).next().map(|first| (false, 0, first.trim())));
    }
    told.sort_by_key(|(is_cause, shared, _)| std::cmp::Reverse((*is_cause, *shared)));
    told.into_iter().take(FACTS).map(|(_, _, text)| text).collect()
}

#[cfg(test)]
mod tests;
