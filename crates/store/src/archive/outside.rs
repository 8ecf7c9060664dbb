//! Which turns brought text from outside into their session, as the distiller noted it.
//!
//! A note belongs to its turn and is erased with it. What counts as outside is decided elsewhere.

use super::{Archive, Conversation, TurnRow};
use crate::Result;
use crate::query::Query;
use towline_core::memory::MemoryTrust;

/// The notes of the turns before one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutsideTexts {
    /// The least trusted text among them.
    pub least: Option<MemoryTrust>,
    /// Turns without a note.
    pub unread: Vec<u32>,
}

const BEFORE: &str = "
    select ordinal, outside from turns
    where conversation = ?1 and ordinal < ?2 and outside is not '' order by ordinal";
const NOTE: &str = "
    update turns set outside = ?3 where conversation = ?1 and ordinal = ?2 and outside is not ?3";
/// An agent's notes from the turn on may repeat what came in.
const NOTES_SINCE: &str = "
    select id from memories
    where maker = 'agent' and session = (select agent || ':' || session from conversations where id = ?1)
        and trust = 'agent' and made_at >= ?2";
const LOWER: &str = "update memories set revision = revision + 1, trust = ?2 where id = ?1";
const ROOT: &str = "
    select p.root from conversations c join projects p on p.id = c.project where c.id = ?1";

impl Archive {
    /// The notes of the turns before `turn`. A note that this version cannot read means the least trust.
    pub fn outside_before(&self, conversation: &Conversation, turn: u32) -> Result<OutsideTexts> {
        let notes: Vec<(u32, Option<String>)> = self.db.all(BEFORE, (conversation.id, turn))?;
        let mut texts = OutsideTexts::default();
        for (ordinal, note) in notes {
            match note {
                None => texts.unread.push(ordinal),
                Some(name) => {
                    let trust = MemoryTrust::named(&name).unwrap_or(MemoryTrust::Web);
                    texts.least = Some(texts.least.map_or(trust, |least| least.and(trust)));
                }
            }
        }
        Ok(texts)
    }

    /// Notes the least trusted text from outside that came in this turn, if any did, and lowers the trust of what the
    /// agent noted since.
    pub fn note_outside(&self, turn: &TurnRow, trust: Option<MemoryTrust>) -> Result<()> {
        if let Some(trust) = trust {
            for number in self.db.all::<i64>(NOTES_SINCE, (turn.conversation, turn.at.0))? {
                self.db.run(LOWER, (number, trust.name()))?;
                self.stamp_memory_text(number)?;
                self.note_change("memory", number, None)?;
            }
        }
        self.db.run(NOTE, (turn.conversation, turn.ordinal, trust.map_or("", MemoryTrust::name)))
    }

    /// The folder of the project that a conversation belongs to.
    pub fn project_root(&self, conversation: &Conversation) -> Result<Option<String>> {
        let root: Option<String> = self.db.first(ROOT, [conversation.id])?;
        Ok(root.map(|root| root.strip_suffix("/.git").unwrap_or(&root).to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    #[test]
    fn notes_of_earlier_turns_are_found_and_turns_without_one_are_named() {
        let bench = Bench::new();
        bench.session("agent:s1", "app", &[(1, 2), (3, 4), (5, 6)]);
        let archive = &bench.archive;
        let conversation = archive.latest_conversations(None, 1).unwrap().remove(0);
        let turns = archive.turns(&conversation, 0, 9).unwrap();
        let before = |turn| archive.outside_before(&conversation, turn).unwrap();
        assert_eq!(before(3), OutsideTexts { least: None, unread: vec![1, 2] });
        archive.note_outside(&turns[0], Some(MemoryTrust::Tool)).unwrap();
        archive.note_outside(&turns[1], None).unwrap();
        assert_eq!(before(3), OutsideTexts { least: Some(MemoryTrust::Tool), unread: vec![] });
        assert_eq!(before(1), OutsideTexts::default());
        archive.note_outside(&turns[1], Some(MemoryTrust::Web)).unwrap();
        assert_eq!(before(3).least, Some(MemoryTrust::Web));
        assert!(archive.project_root(&conversation).unwrap().is_some());
    }
}
