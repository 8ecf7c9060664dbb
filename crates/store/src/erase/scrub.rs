//! Applies the current redaction rules to the journal and to the database projected from it.
//!
//! Both are small: each is scrubbed completely, and atomically.

use super::records::with_texts;
use super::rows::{DROP_UNUSED_PROJECTS, ErasedSessionRows};
use super::{EraseMode, EraseReport};
use crate::archive::ScrubRules;
use crate::columns::stored_text;
use crate::journal::{self, JournalEntry, JournalRecord, Rewrite};
use crate::lock::ProjectionLock;
use crate::query::Query;
use crate::{Result, Store};
use rusqlite::{Transaction, TransactionBehavior};
use std::collections::BTreeSet;
use towline_core::event::Event;
use towline_core::id::SessionKey;

/// The text columns: table, key, column.
const TEXTS: [(&str, Key, &str); 9] = [
    ("hops", ROW, "text"),
    ("intents", ROW, "text"),
    ("heard_turns", ["session", "ordinal"], "prompt"),
    ("sessions", ROW, "prompt"),
    ("sessions", ROW, "answer"),
    ("jobs", ROW, "last_error"),
    ("bookmarks", ROW, "label"),
    ("bookmarks", ROW, "branch"),
    ("bookmarks", ROW, "commit_id"),
];

/// The columns that name a row.
type Key = [&'static str; 2];
const ROW: Key = ["id", "id"];

/// A fault with a secret in its text is deleted.
const FAULTS: &str = "select distinct detail from faults";
const DROP_FAULT: &str = "delete from faults where detail = ?1";
const FOLDERS: &str = "select id, agent || ':' || session, folder from sessions where folder is not null";

impl Store {
    /// Counts what would change, and changes nothing.
    pub fn preview_scrub(&self, cleaner: &ScrubRules<'_>) -> Result<EraseReport> {
        let excluded = self.excluded_sessions(cleaner)?;
        let mut decide = |entry: JournalEntry<'_>| fate(entry, cleaner, &excluded);
        let journal =
            journal::preview_rewrite(&self.home, &mut decide).map_err(|source| self.folder_error(source))?;
        Ok(EraseReport { rows: self.scrub_rows(cleaner, EraseMode::Rehearsal)?, journal })
    }

    /// Scrubs the journal and the database. Everything in the journal must have been applied: see `settle`.
    pub fn scrub(&self, lock: &ProjectionLock, cleaner: &ScrubRules<'_>) -> Result<EraseReport> {
        let excluded = self.excluded_sessions(cleaner)?;
        let journal = self.rewrite_journal(lock, &mut |entry| fate(entry, cleaner, &excluded))?;
        let rows = self.scrub_rows(cleaner, EraseMode::ForGood)?;
        super::files::forget_sessions(&self.home, &excluded).map_err(|source| self.folder_error(source))?;
        Ok(EraseReport { rows, journal })
    }

    fn excluded_sessions(&self, cleaner: &ScrubRules<'_>) -> Result<BTreeSet<SessionKey>> {
        Ok(self.excluded_rows(cleaner)?.into_iter().map(|(_, key)| key).collect())
    }

    fn excluded_rows(&self, cleaner: &ScrubRules<'_>) -> Result<Vec<(i64, SessionKey)>> {
        let rows: Vec<(i64, SessionKey, String)> = self.db.all(FOLDERS, [])?;
        let excluded = rows.into_iter().filter(|(_, _, folder)| (cleaner.is_excluded_folder)(folder));
        Ok(excluded.map(|(id, key, _)| (id, key)).collect())
    }

    fn scrub_rows(&self, cleaner: &ScrubRules<'_>, erasing: EraseMode) -> Result<ErasedSessionRows> {
        self.db.pragma_update(None, "secure_delete", true)?;
        let transaction = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        let mut erased = ErasedSessionRows::default();
        for (id, _) in self.excluded_rows(cleaner)? {
            self.drop_session(id, &mut erased)?;
        }
        self.db.execute(DROP_UNUSED_PROJECTS, [])?;
        for (table, [first, second], column) in TEXTS {
            let find = format!("select {first}, {second}, {column} from {table} where {column} is not null");
            let change = format!("update {table} set {column} = ?3 where {first} = ?1 and {second} = ?2");
            for (first, second, text) in self.db.all::<(i64, i64, String)>(&find, [])? {
                if let Some(clean) = (cleaner.clean)(&text) {
                    erased.others += self.db.change(&change, (first, second, clean))?;
                }
            }
        }
        let faults: Vec<String> = self.db.all(FAULTS, [])?;
        for fault in faults.iter().filter(|fault| (cleaner.clean)(fault).is_some()) {
            erased.others += self.db.execute(DROP_FAULT, [fault])?;
        }
        erasing.end(transaction)?;
        Ok(erased)
    }
}

fn fate(entry: JournalEntry<'_>, cleaner: &ScrubRules<'_>, excluded: &BTreeSet<SessionKey>) -> Rewrite {
    let clean = cleaner.clean;
    match entry {
        JournalEntry::Bytes(bytes) if clean(&String::from_utf8_lossy(bytes)).is_some() => Rewrite::Remove,
        JournalEntry::Bytes(_) => Rewrite::Keep,
        JournalEntry::Record(JournalRecord::Fault(fault)) if clean(&fault.detail).is_some() => {
            Rewrite::Remove
        }
        JournalEntry::Record(JournalRecord::Fault(_)) => Rewrite::Keep,
        JournalEntry::Record(JournalRecord::Event(event)) if excluded.contains(&event.session) => {
            Rewrite::Remove
        }
        JournalEntry::Record(JournalRecord::Event(event)) => cleaned(event, clean),
    }
}

fn cleaned(event: Event, clean: &dyn Fn(&str) -> Option<String>) -> Rewrite {
    let before = event.clone();
    let after = with_texts(event, &|text| clean(text.as_str()).map_or(text, |clean| stored_text(&clean)));
    if after == before { Rewrite::Keep } else { Rewrite::Replace(JournalRecord::Event(after)) }
}
