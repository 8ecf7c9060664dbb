//! Archive queries of the distiller: conversations by row, and the memories made from their turns.
//!
//! Every query uses an index: a long history costs a turn no more than a short one.

use super::memories::MEMORY;
use super::{Archive, Conversation};
use crate::Result;
use crate::query::Query;
use std::ops::RangeInclusive;
use towline_core::memory::Memory;

const EXPIRED: &str = "select expired from conversations where id = ?1";
const OF_TURNS: &str = "where m.conversation = ?1 and m.turn between ?2 and ?3 order by m.turn, m.id";
const NOTE_ALL: &str = "
    insert into changes (what, row, from_turn) select 'conversation', id, 0 from conversations order by id";

/// The value of `expired` for a conversation whose details were deleted.
const WITHOUT_DETAILS: &str = "details";

impl Archive {
    /// Whether this machine captured it: every machine distils its own sessions.
    pub fn is_captured_here(&self, conversation: &Conversation) -> Result<bool> {
        const HERE: &str = "select machine = ?2 from conversations where id = ?1";
        self.db.value(HERE, (conversation.id, self.machine.0))
    }

    /// Whether retention deleted the details of a conversation: memories made from them cannot be made again.
    pub fn has_lost_details(&self, conversation: &Conversation) -> Result<bool> {
        let expired: Option<String> = self.db.first(EXPIRED, [conversation.id])?;
        Ok(expired.as_deref() == Some(WITHOUT_DETAILS))
    }

    /// The memories of these turns, in order.
    pub fn memories_of(
        &self,
        conversation: &Conversation,
        turns: RangeInclusive<u32>,
    ) -> Result<Vec<Memory>> {
        self.db.all(&format!("{MEMORY} {OF_TURNS}"), (conversation.id, *turns.start(), *turns.end()))
    }

    /// Records every conversation as changed, for a consumer's first run.
    pub fn note_all_conversations(&self) -> Result<()> {
        self.db.run(NOTE_ALL, [])
    }
}

#[cfg(test)]
mod tests {
    use super::super::ArchiveChange;
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn the_memories_of_a_turn_are_found_by_an_index() {
        let plan = Bench::new().plan(&format!("{MEMORY} {OF_TURNS}"));
        assert!(plan.contains("memories_by_turn (conversation=? AND turn>? AND turn<?)"), "{plan}");
    }

    #[test]
    fn every_conversation_can_be_noted_and_found_again() {
        let bench = Bench::new();
        bench.session("a:1", "boat", &[(0, 5)]);
        bench.session("a:2", "boat", &[(0, 5)]);
        let before = bench.archive.last_change().unwrap();
        bench.archive.note_all_conversations().unwrap();
        let changes = bench.archive.changes_after(before, 10).unwrap();
        assert_eq!(changes.len(), 2);
        for (_, change) in changes {
            let ArchiveChange::Conversation { row, from_turn: 0 } = change else { panic!("{change:?}") };
            let conversation = bench.archive.conversation_at(row).unwrap().unwrap();
            assert!(bench.archive.project_of(&conversation).unwrap().is_some());
            assert!(!bench.archive.has_lost_details(&conversation).unwrap());
        }
        assert_eq!(bench.archive.conversation_at(99).unwrap(), None);
    }
}
