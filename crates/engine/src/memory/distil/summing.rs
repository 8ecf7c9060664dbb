//! Summarises a session from its memories and its last turns.
//!
//! Reads a bounded number of turns, however long the session is. Keeps a model's summary until there are
//! turns that it does not cover.

use super::{Work, gather};
use crate::memory::outside;
use crate::memory::turn_content::TurnContent;
use crate::memory::work::work_of;
use towline_core::capture::Speaker;
use towline_core::event::PromptOrigin;
use towline_core::memory::distil::{DistilTurn, MemoryExcerpt, SessionMaterial, summary};
use towline_core::memory::{Memory, MemoryAuthor, Summary};
use towline_store::StoreError;
use towline_store::archive::{KeptSummary, TurnRow};

/// The number of last turns whose prompts are read.
const LATEST: usize = 40;

impl Work<'_> {
    pub(super) fn summarize_session(&self) -> Result<(), StoreError> {
        let (archive, conversation) = (self.archive, self.conversation);
        let turns = archive.last_turns(conversation, LATEST)?;
        let Some(last_row) = turns.last() else { return Ok(()) };
        let kept = archive.summary(conversation)?;
        let is_better =
            |kept: &KeptSummary| kept.maker != MemoryAuthor::Rules && kept.turn >= last_row.ordinal;
        if kept.as_ref().is_some_and(is_better) {
            return Ok(());
        }
        let Some(new) = self.summed(&turns, last_row)? else { return Ok(()) };
        let is_same = |kept: &KeptSummary| {
            (&kept.summary, kept.turn, kept.trust) == (&new.summary, new.turn, new.trust)
        };
        if !kept.as_ref().is_some_and(is_same) {
            archive.put_summary(conversation, &new)?;
        }
        Ok(())
    }

    /// Returns `None` if the session has no results.
    fn summed(&self, turns: &[TurnRow], last_row: &TurnRow) -> Result<Option<KeptSummary>, StoreError> {
        let (archive, conversation) = (self.archive, self.conversation);
        let asked = self.asked(turns)?;
        let memories = archive.memories_of(conversation, 0..=u32::MAX)?;
        let files = archive.files(conversation, 0..=u32::MAX)?;
        let commits = archive.commits(conversation, 0..=u32::MAX)?;
        let before_last = turns.len().checked_sub(2).and_then(|at| turns.get(at));
        let gathered = |row: &TurnRow| -> Result<DistilTurn<'_>, StoreError> {
            let outside = outside::before(archive, conversation, row.ordinal + 1)?;
            let content = TurnContent::of(archive, row)?;
            Ok(DistilTurn { outside, ..gather::turn(self.config, conversation, row, content)? })
        };
        let last: DistilTurn<'_> = gathered(last_row)?;
        let before: Option<DistilTurn<'_>> = before_last.map(gathered).transpose()?;
        let summed = summary(&SessionMaterial {
            asked: asked.iter().map(String::as_str).collect(),
            known: memories.iter().filter(|memory| memory.is_current()).map(known).collect(),
            files: files.iter().map(|file| (file.path.as_str(), file.how)).collect(),
            commits: &commits,
            last: Some(&last),
            before_last: before.as_ref(),
            work: &work_of(archive, conversation)?,
        });
        let rest = [&summed.draft.investigated, &summed.draft.learned, &summed.draft.completed];
        let rest = rest.into_iter().chain([&summed.draft.next_steps, &summed.draft.notes]);
        if rest.into_iter().all(String::is_empty) {
            return Ok(None);
        }
        Ok(Summary::of(&summed.draft).map(|summary| KeptSummary {
            summary,
            session: conversation.session.clone(),
            turn: last_row.ordinal,
            maker: MemoryAuthor::Rules,
            trust: summed.trust,
            at: last_row.until,
        }))
    }

    /// The user's first prompt and the latest ones.
    fn asked(&self, turns: &[TurnRow]) -> Result<Vec<String>, StoreError> {
        let first = self.archive.turns(self.conversation, 1, 1)?;
        let is_earlier = |row: &&TurnRow| turns.first().is_none_or(|known| row.ordinal < known.ordinal);
        let mut asked = vec![];
        for row in
            first.iter().filter(is_earlier).chain(turns).filter(|row| row.origin == PromptOrigin::Human)
        {
            let said = self.archive.bodies(row)?.into_iter().filter(|body| body.speaker == Speaker::Person);
            asked.extend(said.map(|body| body.text));
        }
        Ok(asked)
    }
}

fn known(memory: &Memory) -> MemoryExcerpt<'_> {
    MemoryExcerpt {
        kind: memory.content.kind.as_str(),
        title: &memory.content.title,
        trust: memory.trust,
        facts: &memory.content.facts,
        concepts: &memory.content.concepts,
    }
}
