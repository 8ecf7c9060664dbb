//! The list of changes, for consumers that derive data from the archive.
//!
//! A change is recorded in the transaction that makes it. It names the row to read again, never its old content.

use super::Archive;
use crate::Result;
use crate::query::Query;

/// A row to read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveChange {
    /// The turns of a conversation from this one on; the conversation may be deleted.
    Conversation {
        row: i64,
        from_turn: u32,
    },
    /// A memory that was made, changed or dropped.
    Memory {
        number: i64,
    },
    Summary {
        conversation: i64,
    },
}

const NOTE: &str = "insert into changes (what, row, from_turn) values (?1, ?2, ?3)";
const AFTER: &str = "select seq, what, row, from_turn from changes where seq > ?1 order by seq limit ?2";
const NEWEST: &str =
    "select seq, what, row, from_turn from changes where seq > ?1 order by seq desc limit ?2";
const CHANGED_TURNS: &str = "
    select count(*) from (
        select 1 from (
            select row, min(from_turn) as first from changes
            where seq > ?1 and what = 'conversation' group by row
        ) c join turns t on t.conversation = c.row and t.ordinal >= c.first limit ?2)";
/// The highest number ever assigned, whether or not its row still exists.
const LAST: &str = "select ifnull((select seq from sqlite_sequence where name = 'changes'), 0)";
const DROP: &str = "delete from changes where seq <= ?1";
/// The fact that holds the number up to which changes were pruned.
const PRUNED: &str = "changes gone up to";

impl Archive {
    pub(super) fn note_change(&self, kind: &str, row: i64, from_turn: Option<i64>) -> Result<()> {
        self.db.run(NOTE, (kind, row, from_turn))
    }

    /// Changes after this number, in order, each with its own number.
    pub fn changes_after(&self, seq: i64, most: u32) -> Result<Vec<(i64, ArchiveChange)>> {
        self.changes(AFTER, seq, most)
    }

    /// The same, newest first.
    pub fn newest_changes_after(&self, seq: i64, most: u32) -> Result<Vec<(i64, ArchiveChange)>> {
        self.changes(NEWEST, seq, most)
    }

    fn changes(&self, query: &str, seq: i64, most: u32) -> Result<Vec<(i64, ArchiveChange)>> {
        let found: Vec<(i64, String, i64, Option<u32>)> = self.db.all(query, (seq, most))?;
        let known =
            found.iter().filter_map(|(seq, kind, row, from)| Some((*seq, change(kind, *row, *from)?)));
        Ok(known.collect())
    }

    /// The number of turns that changed after this number, at most `most`.
    pub fn count_turns_changed_after(&self, seq: i64, most: u32) -> Result<u64> {
        self.db.value(CHANGED_TURNS, (seq, most))
    }

    /// The number of the last change ever recorded.
    pub fn last_change(&self) -> Result<i64> {
        self.db.value(LAST, [])
    }

    /// The cursor of a consumer, by its name; `None` if it never read.
    pub fn read_up_to(&self, reader: &str) -> Result<Option<i64>> {
        Ok(self.fact(&format!("read up to by {reader}"))?.and_then(|seq| seq.parse().ok()))
    }

    pub fn note_read_up_to(&self, reader: &str, seq: i64) -> Result<()> {
        self.set_fact(&format!("read up to by {reader}"), &seq.to_string())
    }

    /// Prunes changes that all consumers have read, and records that, for a consumer that returns late.
    pub fn forget_changes_up_to(&self, seq: i64) -> Result<()> {
        self.in_transaction(|| {
            let pruned = seq.min(self.last_change()?);
            if pruned > self.last_pruned_change()? {
                self.db.change(DROP, [pruned])?;
                self.set_fact(PRUNED, &pruned.to_string())?;
            }
            Ok(())
        })
    }

    /// Whether all changes after `seq` still exist. A consumer whose cursor was pruned rebuilds from scratch.
    pub fn holds_changes_after(&self, seq: i64) -> Result<bool> {
        Ok((self.last_pruned_change()?..=self.last_change()?).contains(&seq))
    }

    /// The number of the last pruned change.
    pub fn last_pruned_change(&self) -> Result<i64> {
        Ok(self.fact(PRUNED)?.and_then(|pruned| pruned.parse().ok()).unwrap_or(0))
    }
}

/// `None` for a kind of a newer version.
fn change(kind: &str, row: i64, from_turn: Option<u32>) -> Option<ArchiveChange> {
    match kind {
        "conversation" => Some(ArchiveChange::Conversation { row, from_turn: from_turn.unwrap_or(0) }),
        "memory" => Some(ArchiveChange::Memory { number: row }),
        "summary" => Some(ArchiveChange::Summary { conversation: row }),
        _ => None,
    }
}
