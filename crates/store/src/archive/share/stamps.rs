//! When each register of a row was last written.
//!
//! A change of a memory is stamped in the transaction that makes it, whether or not anybody shares it: it may be shared
//! later. Nothing is stamped that did not change.

use crate::StoreError;
use crate::archive::Archive;
use rusqlite::OptionalExtension;
use serde_json::Value;
use towline_core::id::Uid;
use towline_core::share::Stamp;

/// What may be written of a row by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::archive) enum Part {
    Words,
    Pin,
    Standing,
    Hold,
    Presence,
}

impl Part {
    const OF_MEMORY: [Part; 5] = [Part::Words, Part::Pin, Part::Standing, Part::Hold, Part::Presence];

    fn name(self) -> &'static str {
        match self {
            Part::Words => "words",
            Part::Pin => "pin",
            Part::Standing => "standing",
            Part::Hold => "hold",
            Part::Presence => "presence",
        }
    }

    /// Its columns, as a trace names them.
    fn columns(self) -> &'static [&'static str] {
        match self {
            Part::Words => &[
                "type",
                "title",
                "subtitle",
                "facts",
                "narrative",
                "concepts",
                "valid_from",
                "confidence",
                "files",
            ],
            Part::Pin => &["pinned_at"],
            Part::Standing => &["superseded_uid", "superseded_at", "superseded_why"],
            Part::Hold => &["quarantine"],
            Part::Presence => &["presence"],
        }
    }
}

const STAMP: &str = "select count, machine from stamps where uid = ?1 and register = ?2";
const SET: &str = "insert or replace into stamps (uid, register, count, machine) values (?1, ?2, ?3, ?4)";
const CLEAR: &str = "delete from stamps where uid = ?1 and register = ?2";

impl Archive {
    pub(in crate::archive) fn stamp(&self, uid: Uid, part: Part) -> Result<Option<Stamp>, StoreError> {
        let stamp = |row: &rusqlite::Row<'_>| {
            Ok(Stamp { count: row.get::<_, i64>(0)?.cast_unsigned(), machine: Uid(row.get(1)?) })
        };
        Ok(self.db.prepare_cached(STAMP)?.query_row((uid.0, part.name()), stamp).optional()?)
    }

    pub(in crate::archive) fn set_stamp(&self, uid: Uid, part: Part, stamp: Stamp) -> Result<(), StoreError> {
        let row = (uid.0, part.name(), stamp.count.cast_signed(), stamp.machine.0);
        self.db.prepare_cached(SET)?.execute(row)?;
        Ok(())
    }

    pub(in crate::archive) fn clear_stamp(&self, uid: Uid, part: Part) -> Result<(), StoreError> {
        self.db.prepare_cached(CLEAR)?.execute((uid.0, part.name()))?;
        Ok(())
    }

    /// Written here once more. `before` is what holds where nothing is noted.
    pub(in crate::archive) fn stamp_again(
        &self,
        uid: Uid,
        part: Part,
        before: Stamp,
    ) -> Result<Stamp, StoreError> {
        let stamp = self.stamp(uid, part)?.unwrap_or(before).next(self.machine);
        self.set_stamp(uid, part, stamp)?;
        Ok(stamp)
    }

    /// The words of a memory are written once more, whether or not they are others.
    pub(in crate::archive) fn stamp_words(&self, number: i64) -> Result<(), StoreError> {
        let (uid, machine) = self.made_by(number)?;
        self.stamp_again(uid, Part::Words, first(Some(()), machine))?;
        Ok(())
    }

    /// Words, and what stands beside them, were cleaned.
    pub(in crate::archive) fn stamp_scrubbed(&self, number: i64) -> Result<(), StoreError> {
        let Some(row) = self.row_as_told(number)? else { return Ok(()) };
        let row = serde_json::from_str::<Value>(&row).unwrap_or_default();
        let (uid, machine) = self.made_by(number)?;
        for part in [Part::Words, Part::Standing, Part::Hold] {
            let unstamped = unstamped(part, &row, machine);
            if self.stamp(uid, part)?.unwrap_or(unstamped) != Stamp::NEVER {
                self.stamp_again(uid, part, unstamped)?;
            }
        }
        Ok(())
    }

    fn made_by(&self, number: i64) -> Result<(Uid, Uid), StoreError> {
        const WHO: &str = "select uid, machine from memories where id = ?1";
        let who = |row: &rusqlite::Row<'_>| Ok((Uid(row.get(0)?), Uid(row.get(1)?)));
        Ok(self.db.prepare_cached(WHO)?.query_row([number], who)?)
    }

    /// Its words go from wherever else they are: nothing that was written before that was known brings them back.
    pub(super) fn stamp_emptied(&self, uid: Uid, before: Stamp) -> Result<(), StoreError> {
        let known = self.stamp(uid, Part::Words)?.unwrap_or(before);
        let stamp = Stamp { count: known.count.saturating_add(Stamp::AHEAD), machine: self.machine };
        self.set_stamp(uid, Part::Words, stamp)
    }

    /// Stamps what is no longer as it was before, as the memory's row was told then and is told now.
    pub(in crate::archive) fn stamp_changes(&self, number: i64, before: &str) -> Result<(), StoreError> {
        let after = self.row_as_told(number)?;
        let Some(after) = after.filter(|after| after != before) else { return Ok(()) };
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        let (before, after) = (read(before), read(&after));
        let (uid, machine) = self.made_by(number)?;
        // With its presence, what the hub has of its words becomes nothing, or the same once more.
        let is_moved = before["presence"] != after["presence"];
        if is_moved && after["presence"] == "private" {
            self.stamp_emptied(uid, first(Some(()), machine))?;
        }
        for part in Part::OF_MEMORY {
            let is_other = part.columns().iter().any(|column| before[*column] != after[*column]);
            if is_other || part == Part::Words && is_moved {
                self.stamp_again(uid, part, unstamped(part, &before, machine))?;
            }
        }
        Ok(())
    }
}

/// What holds for a register of a memory that nobody wrote again.
fn unstamped(part: Part, row: &Value, machine: Uid) -> Stamp {
    let is_set = match part {
        Part::Words => true,
        Part::Pin => !row["pinned_at"].is_null(),
        Part::Standing => !row["superseded_at"].is_null(),
        Part::Hold => !row["quarantine"].is_null(),
        Part::Presence => row["presence"] == "private",
    };
    first(is_set.then_some(()), machine)
}

/// The stamp of what was set once where it was made, or never.
pub(super) fn first<T>(value: Option<T>, machine: Uid) -> Stamp {
    value.map_or(Stamp::NEVER, |_| Stamp::NEVER.next(machine))
}
