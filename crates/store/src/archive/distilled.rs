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
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn the_memories_of_a_turn_are_found_by_an_index() {
        let plan = Bench::new().plan(&format!("{MEMORY} {OF_TURNS}"));
        assert!(plan.contains("memories_by_turn (conversation=? AND turn>? AND turn<?)"), "{plan}");
    }
}
