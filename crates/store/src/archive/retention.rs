//! Retention: deletes old rows kind by kind, and the oldest details when the archive is too large.
//!
//! Works in small steps while no agent waits; may be interrupted and repeated at any point. The caller repeats it until
//! nothing is left to do.

use super::{Archive, SWEPT_TO};
use crate::Result;
use crate::database::release_pages;
use crate::query::Query;
use towline_core::time::Timestamp;

const DAY_MS: i64 = 86_400_000;

/// Conversations and free pages processed in one step.
const AT_ONCE: u32 = 50;
const PAGES_AT_ONCE: u32 = 1_000;

/// Retention periods in days (0 means forever), and the size limit of the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveRetention {
    pub words_days: u32,
    pub details_days: u32,
    pub thinking_days: u32,
    pub most_mb: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchiveSizes {
    pub conversations: u64,
    pub turns: u64,
    pub bodies: u64,
    pub details: u64,
    pub memories: u64,
    pub bytes: u64,
}

const OLD: &str =
    "select id from conversations where last_at < ?1 and expired not in ('details', ?2) limit ?3";
const OLDEST_WITH_DETAILS: &str =
    "select id from conversations where expired <> 'details' order by last_at limit 1";
const OLD_WORDS: &str = "select id from conversations where last_at < ?1 limit ?2";
const SET_EXPIRED: &str = "update conversations set expired = ?2, revision = revision + 1 where id = ?1";
const DROP_DETAILS: &str = "delete from details where conversation = ?1";
const DROP_THINKING: &str = "delete from details where conversation = ?1 and kind = 'thinking'";

/// Deletes a conversation, its own row last. The offsets of its files stay, so that deleted rows are not captured
/// again.
pub(super) const DROP_CONVERSATION: [&str; 13] = [
    DROP_DETAILS,
    "delete from bodies where conversation = ?1",
    "delete from usage where conversation = ?1",
    "delete from files where conversation = ?1",
    "delete from commits where conversation = ?1",
    "delete from reverts where conversation = ?1",
    "delete from turns where conversation = ?1",
    "update sources set conversation = null where conversation = ?1",
    // Memories outlive their conversation, and still name their session.
    "update memories set conversation = null where conversation = ?1",
    "delete from summaries where conversation = ?1",
    "delete from jobs where conversation = ?1",
    "insert into changes (what, row, from_turn) values ('conversation', ?1, 0)",
    "delete from conversations where id = ?1",
];

impl Archive {
    /// Deletes some expired rows. Returns the number of conversations affected; 0 once none is left.
    pub fn expire(&self, retention: ArchiveRetention, now: Timestamp) -> Result<u32> {
        let before = |days: u32| now.plus_ms(-(i64::from(days) * DAY_MS));
        let mut changed = 0;
        if retention.words_days > 0 {
            let old = self.db.all(OLD_WORDS, (before(retention.words_days).0, AT_ONCE))?;
            changed += self.each_in_transaction(&old, |id| self.drop_conversation(id))?;
        }
        if retention.details_days > 0 {
            let old = self.db.all(OLD, (before(retention.details_days).0, "details", AT_ONCE))?;
            changed += self.each_in_transaction(&old, |id| self.strip(id, DROP_DETAILS, "details"))?;
        }
        if retention.thinking_days > 0 {
            let old = self.db.all(OLD, (before(retention.thinking_days).0, "thinking", AT_ONCE))?;
            changed += self.each_in_transaction(&old, |id| self.strip(id, DROP_THINKING, "thinking"))?;
        }
        changed += self.shrink(retention.most_mb * 1024 * 1024)?;
        Ok(changed)
    }

    /// Gives some of the free pages back to the file system. Returns how many are left.
    pub fn release_pages(&self) -> Result<u64> {
        release_pages(&self.db, PAGES_AT_ONCE)?;
        if !self.is_swept()? {
            // Pages from the end of the file took the places of free ones, with their unused bytes.
            self.set_fact(SWEPT_TO, "1")?;
        }
        self.tidy_at_times()?;
        Ok(self.db.pragma_query_value(None, "freelist_count", |row| row.get::<_, i64>(0))?.cast_unsigned())
    }

    pub fn sizes(&self) -> Result<ArchiveSizes> {
        // The highest id approximates the row count: counting would read every page.
        let top = |table: &str| -> Result<u64> {
            let query = format!("select ifnull(max(id), 0) from {table}");
            self.db.value(&query, [])
        };
        Ok(ArchiveSizes {
            conversations: top("conversations")?,
            turns: top("turns")?,
            bodies: top("bodies")?,
            details: top("details")?,
            memories: self.count_memories()?,
            bytes: self.used_bytes()?,
        })
    }

    /// The highest row of a turn, which approximates their number.
    pub fn last_turn_row(&self) -> Result<u64> {
        self.db.value("select ifnull(max(id), 0) from turns", [])
    }

    /// Memories are few enough to count; 0 if an older version wrote the archive last.
    fn count_memories(&self) -> Result<u64> {
        if !self.has_memory_tables()? {
            return Ok(0);
        }
        self.db.value("select count(*) from memories", [])
    }

    /// Deletes the details of the oldest conversations until the archive fits.
    fn shrink(&self, most_bytes: u64) -> Result<u32> {
        let mut changed = 0;
        while changed < AT_ONCE && self.used_bytes()? > most_bytes {
            let Some(id) = self.db.first(OLDEST_WITH_DETAILS, [])? else { break };
            changed += self.each_in_transaction(&[id], |id| self.strip(id, DROP_DETAILS, "details"))?;
        }
        Ok(changed)
    }

    fn used_bytes(&self) -> Result<u64> {
        let number = |name: &str| self.db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let pages = number("page_count")? - number("freelist_count")?;
        Ok((pages * number("page_size")?).cast_unsigned())
    }

    /// One transaction per conversation, so that other writers get their turn.
    fn each_in_transaction(&self, ids: &[i64], act: impl Fn(i64) -> Result<()>) -> Result<u32> {
        for id in ids {
            let transaction = self.db.unchecked_transaction()?;
            act(*id)?;
            transaction.commit()?;
            self.tidy_at_times()?;
        }
        Ok(u32::try_from(ids.len()).unwrap_or(u32::MAX))
    }

    fn strip(&self, id: i64, statement: &str, expired: &str) -> Result<()> {
        self.db.change(statement, [id])?;
        self.db.change(SET_EXPIRED, (id, expired))?;
        self.note_change("conversation", id, Some(0))
    }

    pub(super) fn drop_conversation(&self, id: i64) -> Result<()> {
        for statement in DROP_CONVERSATION {
            self.db.change(statement, [id])?;
        }
        Ok(())
    }
}
