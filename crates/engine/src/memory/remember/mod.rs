//! Stores memories: adds a new one, merges it with a known one, or replaces outdated ones.
//!
//! Every producer of memories goes through `keep`. `core::memory::likeness` compares the texts; this module
//! only applies trust: a less trusted memory never changes, completes or replaces a more trusted one, and a
//! user's words are never merged into another source's. Each step leaves a trace that allows undo.

mod form;
mod known;
mod named;

pub use form::{form, read_form};
pub use known::KnownMemories;
pub use named::{is_memory_id, memories_named, no_memory, numbers, open, type_named};

use std::collections::BTreeSet;
use towline_core::memory::{
    Likeness, Memory, MemoryAuthor, MemoryContent, MemoryDraft, MemoryTrust, MemoryType, Tokenized, likeness,
    new_facts,
};
use towline_core::time::Timestamp;
use towline_store::archive::{MemoryFilter, MemoryOccurrence, MemoryQuery, NewMemory};
use towline_store::{Archive, StoreError};

/// The outcome of keeping a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Stored under this number, now or by an earlier call with the same id.
    New(i64),
    /// An existing memory says the same; its count was increased.
    FoundAgain(i64),
    /// It replaces older memories.
    Replaced { old: Vec<Replaced>, new: i64 },
    /// It was true until the newer memory `by` replaced it.
    Outdated { new: i64, by: i64 },
    /// The user has erased it.
    Forgotten,
}

/// A memory that no longer holds, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    pub number: i64,
    pub why: String,
}

impl Kept {
    /// The memory that now holds the content.
    pub fn number(&self) -> Option<i64> {
        match self {
            Kept::New(number) | Kept::FoundAgain(number) => Some(*number),
            Kept::Replaced { new, .. } | Kept::Outdated { new, .. } => Some(*new),
            Kept::Forgotten => None,
        }
    }
}

/// Stores a memory atomically. Repeating the call with the same id changes nothing.
pub fn keep(archive: &Archive, new: &NewMemory, now: Timestamp) -> Result<Kept, StoreError> {
    keep_by(archive, new, now, &alike)
}

/// Like `keep`, for bulk additions: only memories with the same words count as known.
pub fn store_bulk(archive: &Archive, new: &NewMemory, now: Timestamp) -> Result<Kept, StoreError> {
    keep_by(archive, new, now, &|_, _| Ok(Alike::default()))
}

/// Known memories that are related to a new one.
#[derive(Default)]
struct Alike {
    same: Option<Memory>,
    /// Older ones that no longer hold, with the reason.
    replaced: Vec<(Memory, String)>,
    /// A newer one that holds instead of the new memory, with the reason.
    newer: Option<(Memory, String)>,
}

type Find<'f> = &'f dyn Fn(&Archive, &NewMemory) -> Result<Alike, StoreError>;

fn keep_by(archive: &Archive, new: &NewMemory, now: Timestamp, find: Find<'_>) -> Result<Kept, StoreError> {
    archive.in_transaction(|| {
        if let Some(known) = archive.memory_by_uid(new.uid)? {
            return Ok(Kept::New(known));
        }
        if new.maker != MemoryAuthor::Person && archive.is_memory_forgotten(new)? {
            return Ok(Kept::Forgotten);
        }
        let word_by_word = archive.find_same_memory(&new.content, new.project)?;
        let word_by_word = word_by_word.map(|number| archive.memory(number)).transpose()?.flatten();
        // Equal titles are not enough: the contents must agree, too.
        let known = word_by_word.filter(|memory| {
            is_level(memory, new) && likeness(&new.content, &memory.content) == Likeness::Same
        });
        let alike =
            if known.is_some() { Alike { same: known, ..Alike::default() } } else { find(archive, new)? };
        match alike.same {
            Some(memory) => merge(archive, &memory, new, now),
            None => add(archive, alike, new, now),
        }
    })
}

/// Quarantined memories are compared only with quarantined ones.
fn is_level(memory: &Memory, new: &NewMemory) -> bool {
    memory.quarantine.is_some() == new.quarantine.is_some() && memory.superseded.is_none()
}

/// The newest memories per query that are compared; older ones are skipped.
const MOST: u32 = 150;
const MOST_BY_NAME: u32 = 30;
const NAMES: usize = 6;

/// Finds a memory that says the same, else all that the new one replaces or is replaced by.
fn alike(archive: &Archive, new: &NewMemory) -> Result<Alike, StoreError> {
    alike_among(archive, new, candidates(archive, new)?)
}

fn alike_among(archive: &Archive, new: &NewMemory, candidates: Vec<Memory>) -> Result<Alike, StoreError> {
    let mut found = Alike::default();
    let ours = Tokenized::of(&new.content);
    for memory in candidates {
        let is_newer = new.valid_from >= memory.valid_from;
        let theirs = Tokenized::of(&memory.content);
        match if is_newer { ours.likeness_to(&theirs) } else { theirs.likeness_to(&ours) } {
            Likeness::Same => return Ok(Alike { same: Some(memory), ..Alike::default() }),
            Likeness::Replaces { .. } if new.quarantine.is_some() => {}
            Likeness::Replaces { why } if is_newer => {
                if may_replace(archive, new, &memory)? {
                    found.replaced.push((memory, why));
                }
            }
            Likeness::Replaces { why } if found.newer.is_none() && memory.trust >= new.trust => {
                found.newer = Some((memory, why));
            }
            Likeness::Replaces { .. } | Likeness::Other => {}
        }
    }
    Ok(found)
}

/// Only the user may replace a memory that is pinned, and only the user's words one that the user edited.
fn may_replace(archive: &Archive, new: &NewMemory, known: &Memory) -> Result<bool, StoreError> {
    let is_pin_safe = known.pinned_at.is_none() || new.maker == MemoryAuthor::Person;
    let is_users = new.trust == MemoryTrust::Person;
    Ok(new.trust >= known.trust && is_pin_safe && (is_users || !archive.is_curated(known.number)?))
}

/// Candidates of the same project: of the same type, or about the same files or concepts.
fn candidates(archive: &Archive, new: &NewMemory) -> Result<Vec<Memory>, StoreError> {
    let only = if new.quarantine.is_some() { MemoryFilter::HeldBack } else { MemoryFilter::Standing };
    let all = MemoryQuery { project: new.project, only, limit: MOST, ..MemoryQuery::default() };
    let mut found = vec![];
    for kind in kinds(&new.content.kind) {
        found.extend(archive.memories(&MemoryQuery { kind: Some(&kind), ..all.clone() })?);
    }
    let few = MemoryQuery { limit: MOST_BY_NAME, ..all };
    for (path, _) in new.content.files.iter().take(NAMES) {
        found.extend(archive.memories(&MemoryQuery { file: Some(path), ..few.clone() })?);
    }
    for concept in new.content.concepts.iter().take(NAMES) {
        found.extend(archive.memories(&MemoryQuery { concept: Some(concept), ..few.clone() })?);
    }
    let mut seen = BTreeSet::new();
    // A memory without a project is compared only with others without one.
    found.retain(|memory| {
        memory.project.is_some() == new.project.is_some()
            && is_level(memory, new)
            && seen.insert(memory.number)
    });
    Ok(found)
}

/// The same choice may be recorded as any of three types, and may give up a trap.
fn kinds(kind: &MemoryType) -> Vec<MemoryType> {
    const CHOICES: [&str; 3] = ["decision", "preference", "change"];
    let is_choice = CHOICES.contains(&kind.as_str());
    let all = CHOICES.into_iter().chain(["gotcha"]);
    let others = all.filter(|other| is_choice && *other != kind.as_str());
    std::iter::once(kind.clone()).chain(others.filter_map(MemoryType::parse)).collect()
}

fn merge(archive: &Archive, known: &Memory, new: &NewMemory, now: Timestamp) -> Result<Kept, StoreError> {
    if new.maker == MemoryAuthor::Person && known.maker != MemoryAuthor::Person {
        let why = "a person said it in their own words".to_owned();
        return add(archive, Alike { replaced: vec![(known.clone(), why)], ..Alike::default() }, new, now);
    }
    if new.maker == MemoryAuthor::Person && is_told_anew(&new.content, &known.content) {
        let why = "a person told it anew".to_owned();
        return add(archive, Alike { replaced: vec![(known.clone(), why)], ..Alike::default() }, new, now);
    }
    let finding = MemoryOccurrence { uid: new.uid, session: new.session.as_ref(), turn: new.turn };
    let content = completed(known, new).unwrap_or_else(|| known.content.clone());
    archive.merge_memory(known.number, &content, now, &finding)?;
    Ok(Kept::FoundAgain(known.number))
}

/// Whether the narrative differs, so that merging would lose the user's words.
fn is_told_anew(new: &MemoryContent, known: &MemoryContent) -> bool {
    !new.narrative.is_empty() && new.narrative != known.narrative
}

/// Adds missing facts if the new memory is trusted enough and no proposal is open: the user decides on a text that stays as
/// it is. The user may also add files and concepts.
fn completed(known: &Memory, new: &NewMemory) -> Option<MemoryContent> {
    let is_persons = new.maker == MemoryAuthor::Person;
    let is_fixed = known.maker == MemoryAuthor::Person || known.proposed_at.is_some();
    if new.trust < known.trust || (is_fixed && !is_persons) {
        return None;
    }
    let mut draft: MemoryDraft = known.content.clone().into_draft();
    draft.facts.extend(new_facts(&new.content, &known.content));
    if is_persons {
        let named = |path: &str| known.content.files.iter().any(|(known, _)| known == path);
        draft.files.extend(new.content.files.iter().filter(|(path, _)| !named(path)).cloned());
        draft.concepts.extend(new.content.concepts.iter().cloned());
    }
    MemoryContent::of(draft)
}

fn add(archive: &Archive, alike: Alike, new: &NewMemory, now: Timestamp) -> Result<Kept, StoreError> {
    let number = archive.add_memory(new)?;
    let mut old = vec![];
    for (known, why) in alike.replaced {
        archive.replace_memory(known.number, number, now, &why)?;
        if known.pinned_at.is_some() {
            archive.pin_memory(number, Some(now), now)?;
        }
        old.push(Replaced { number: known.number, why });
    }
    if let Some((newer, why)) = alike.newer {
        archive.replace_memory(number, newer.number, now, &why)?;
        return Ok(Kept::Outdated { new: number, by: newer.number });
    }
    Ok(if old.is_empty() { Kept::New(number) } else { Kept::Replaced { old, new: number } })
}

#[cfg(test)]
mod tests;
