//! Stores the memories found in a turn, each once, however often the turn is distilled.
//!
//! Distilling a turn again replaces its memories, except those the user has changed or that were found
//! elsewhere too. Memories that the user erased are not created again.

use super::Work;
use crate::memory::remember;
use towline_core::forget::PieceSource;
use towline_core::id::{IdHash, Uid};
use towline_core::memory::distil::DistilledMemory;
use towline_core::memory::suspicion::Suspicion;
use towline_core::memory::{Memory, MemoryAuthor, MemoryContent, MemoryDraft};
use towline_core::piece::TokenCounts;
use towline_store::StoreError;
use towline_store::archive::{NewMemory, TurnRow};

/// A stored memory of the turn.
struct TurnMemory {
    memory: Memory,
    /// Created by rules and never changed since.
    is_ours: bool,
}

impl TurnMemory {
    /// Whether it equals the new memory, also in trust: a subagent's calls may be captured later. A changed one is
    /// compared by its id alone.
    fn is(&self, new: &NewMemory) -> bool {
        let commit = self.memory.source.as_ref().and_then(|source| source.commit.as_ref());
        let says_the_same = || {
            words(&self.memory.content) == words(&new.content)
                && commit == new.commit.as_ref()
                && self.memory.cost == new.cost
                && self.memory.trust == new.trust
                && self.memory.quarantine == new.quarantine
        };
        self.memory.uid == new.uid && (!self.is_ours || says_the_same())
    }
}

impl Work<'_> {
    /// Replaces the turn's stored memories by the new ones. Returns how many are new.
    pub(super) fn keep(&self, turn: &TurnRow, found: Vec<DistilledMemory>) -> Result<u32, StoreError> {
        let known = self.known(turn)?;
        if found.is_empty() && known.is_empty() {
            return Ok(0);
        }
        let new = self.new_memories(turn, found)?;
        for kept in known.iter().filter(|kept| kept.is_ours && !new.iter().any(|new| kept.is(new))) {
            // The memories it had replaced hold again.
            self.known_memories.forget();
            for replaced in self.archive.memories_replaced_by(kept.memory.number)? {
                self.archive.undo_memory(replaced, turn.at)?;
            }
            self.archive.drop_memory(kept.memory.number)?;
        }
        let mut made = 0;
        for memory in new.iter().filter(|new| !known.iter().any(|kept| kept.is(new))) {
            made += u32::from(self.add(turn, memory)?);
        }
        Ok(made)
    }

    fn known(&self, turn: &TurnRow) -> Result<Vec<TurnMemory>, StoreError> {
        let kept = |memory: Memory| {
            let is_untouched = self.archive.memory_trace(memory.number)?.len() == 1;
            let is_ours = memory.maker == MemoryAuthor::Rules && is_untouched;
            Ok(TurnMemory { memory, is_ours })
        };
        self.archive
            .memories_of(self.conversation, turn.ordinal..=turn.ordinal)?
            .into_iter()
            .map(kept)
            .collect()
    }

    fn new_memories(
        &self,
        turn: &TurnRow,
        found: Vec<DistilledMemory>,
    ) -> Result<Vec<NewMemory>, StoreError> {
        let turns = turn.ordinal..=turn.ordinal;
        let (project, mut cost) = (self.archive.project_of(self.conversation)?, 0);
        for usage in self.archive.usage(self.conversation, turns.clone())? {
            cost += worked(usage.tokens);
        }
        let commit = self.archive.commits(self.conversation, turns)?.pop().map(|commit| commit.hash);
        let session = &self.conversation.session;
        let new = found.into_iter().filter_map(|found| {
            let content = MemoryContent::of(found.draft)?;
            let named = [&session.to_string(), &turn.uid.to_string(), content.kind.as_str(), &content.title];
            Some(NewMemory {
                uid: Uid::derived(turn.at, &named),
                content,
                project,
                session: Some(session.clone()),
                turn: Some(turn.ordinal),
                branch: self.conversation.branch.clone(),
                commit: commit.clone(),
                maker: MemoryAuthor::Rules,
                trust: found.trust,
                confidence: found.confidence,
                cost,
                at: turn.at,
                valid_from: turn.at,
                quarantine: found.suspicion.map(Suspicion::why).map(str::to_owned),
            })
        });
        Ok(new.filter(|new| !self.is_forgotten(new)).collect())
    }

    /// Whether the user erased this memory or the time it belongs to.
    fn is_forgotten(&self, new: &NewMemory) -> bool {
        let gone = self.archive.forgotten().of(&self.conversation.session, &[]);
        let mark = IdHash::of(&new.uid.to_string());
        gone.is_some_and(|gone| gone.is_piece_erased(mark, new.at, PieceSource::Session))
    }

    /// Returns whether it is new. The same words in another turn count as found again, once per turn.
    fn add(&self, turn: &TurnRow, new: &NewMemory) -> Result<bool, StoreError> {
        let Some(number) = self.archive.find_same_memory(&new.content, new.project)? else {
            let kept = self.known_memories.keep(self.archive, new, turn.at)?;
            return Ok(!matches!(kept, remember::Kept::FoundAgain(_) | remember::Kept::Forgotten));
        };
        let is_counted = self.archive.memory_trace(number)?.iter().any(|trace| trace.at == turn.at);
        if !is_counted {
            self.archive.found_memory_again(number, turn.at)?;
        }
        Ok(false)
    }
}

/// Normalises the content as the archive returns it, with files as a set.
fn words(content: &MemoryContent) -> Option<MemoryDraft> {
    let mut draft = MemoryContent::of(content.clone().into_draft())?.into_draft();
    draft.files.sort();
    draft.files.dedup();
    Some(draft)
}

/// The tokens processed for the first time; cache reads were paid for before.
fn worked(tokens: TokenCounts) -> u64 {
    tokens.input + tokens.cache_write + tokens.output
}
