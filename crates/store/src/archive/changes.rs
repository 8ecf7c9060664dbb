//! What changed in the archive since somebody last looked: for whoever derives something from it.
//!
//! A change is noted in the transaction that makes it. It says where to look, never what was there.

use super::Archive;
use crate::StoreError;
use rusqlite::{OptionalExtension, Row};

/// One place to look at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The turns of a conversation from this one on; the conversation may be gone.
    Conversation { row: i64, from_turn: u32 },
    /// A memory that was made, changed or dropped.
    Memory { number: i64 },
    /// The summary of a conversation.
    Summary { conversation: i64 },
}

const NOTE: &str = "insert into changes (what, row, from_turn) values (?1, ?2, ?3)";
const AFTER: &str = "select seq, what, row, from_turn from changes where seq > ?1 order by seq limit ?2";
/// The highest number ever given, whether or not its row is still there.
const LAST: &str = "select ifnull((select seq from sqlite_sequence where name = 'changes'), 0)";
const DROP: &str = "delete from changes where seq <= ?1";
const PLACE: &str = "select cast(value as integer) from facts where name = ?1";
/// What it is called among the archive's facts how far changes are gone.
const GONE: &str = "changes gone up to";
const SAVE_PLACE: &str = "insert or replace into facts (name, value) values (?1, cast(?2 as text))";

impl Archive {
    pub(super) fn note_change(&self, what: &str, row: i64, from_turn: Option<i64>) -> Result<(), StoreError> {
        self.db.prepare_cached(NOTE)?.execute((what, row, from_turn))?;
        Ok(())
    }

    /// Changes behind this number, in order, each with its own.
    pub fn changes_after(&self, seq: i64, most: u32) -> Result<Vec<(i64, Change)>, StoreError> {
        let mut statement = self.db.prepare_cached(AFTER)?;
        let found = statement.query_map((seq, most), change)?.collect::<Result<Vec<_>, _>>()?;
        Ok(found.into_iter().filter_map(|(seq, change)| Some((seq, change?))).collect())
    }

    /// The number of the last change that there ever was.
    pub fn last_change(&self) -> Result<i64, StoreError> {
        Ok(self.db.prepare_cached(LAST)?.query_row([], |row| row.get(0))?)
    }

    /// How far somebody who derives something has come, by the name it goes by; `None` if it was never there.
    pub fn read_up_to(&self, reader: &str) -> Result<Option<i64>, StoreError> {
        let mut statement = self.db.prepare_cached(PLACE)?;
        Ok(statement.query_row([format!("read up to by {reader}")], |row| row.get(0)).optional()?)
    }

    pub fn note_read_up_to(&self, reader: &str, seq: i64) -> Result<(), StoreError> {
        self.db.prepare_cached(SAVE_PLACE)?.execute((format!("read up to by {reader}"), seq))?;
        Ok(())
    }

    /// Nobody asks for these any more. That they are gone is noted with it, for who comes late.
    pub fn forget_changes_up_to(&self, seq: i64) -> Result<(), StoreError> {
        self.as_one(|| {
            let gone = seq.min(self.last_change()?);
            if gone > self.changes_gone()? {
                self.db.prepare_cached(DROP)?.execute([gone])?;
                self.set_fact(GONE, &gone.to_string())?;
            }
            Ok(())
        })
    }

    /// Whether somebody who came this far finds all that changed since. Who does not begins anew.
    pub fn holds_changes_after(&self, seq: i64) -> Result<bool, StoreError> {
        Ok((self.changes_gone()?..=self.last_change()?).contains(&seq))
    }

    /// The last change that nobody is told of any more.
    pub fn changes_gone(&self) -> Result<i64, StoreError> {
        Ok(self.fact(GONE)?.and_then(|gone| gone.parse().ok()).unwrap_or(0))
    }
}

/// None for what a newer version noted.
fn change(row: &Row<'_>) -> rusqlite::Result<(i64, Option<Change>)> {
    let (what, at): (String, i64) = (row.get(1)?, row.get(2)?);
    let change = match what.as_str() {
        "conversation" => {
            let from_turn = row.get::<_, Option<u32>>(3)?.unwrap_or(0);
            Some(Change::Conversation { row: at, from_turn })
        }
        "memory" => Some(Change::Memory { number: at }),
        "summary" => Some(Change::Summary { conversation: at }),
        _ => None,
    };
    Ok((row.get(0)?, change))
}
