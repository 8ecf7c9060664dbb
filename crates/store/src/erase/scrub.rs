//! Applies the current redaction rules to the journal and to the database projected from it.
//!
//! Both are small: each is scrubbed completely, and atomically.

use super::records::with_texts;
use super::rows::{DROP_UNUSED_PROJECTS, ErasedSessionRows};
use super::{EraseMode, EraseReport};
use crate::archive::ScrubRules;
use crate::journal::{self, JournalEntry, JournalRecord, Rewrite};
use crate::lock::ProjectionLock;
use crate::{Store, StoreError};
use rusqlite::{Row, Transaction, TransactionBehavior};
use std::collections::BTreeSet;
use towline_core::event::Event;
use towline_core::id::SessionKey;
use towline_core::text::{SafeText, SecretPolicy, TextPolicy};

/// For each text column, the query that reads it and the statement that updates it.
const TEXTS: [(&str, &str); 9] = [
    ("select id, text from hops where text is not null", "update hops set text = ?2 where id = ?1"),
    ("select id, text from intents", "update intents set text = ?2 where id = ?1"),
    ("select rowid, prompt from heard_turns", "update heard_turns set prompt = ?2 where rowid = ?1"),
    (
        "select id, prompt from sessions where prompt is not null",
        "update sessions set prompt = ?2 where id = ?1",
    ),
    (
        "select id, answer from sessions where answer is not null",
        "update sessions set answer = ?2 where id = ?1",
    ),
    (
        "select id, last_error from jobs where last_error is not null",
        "update jobs set last_error = ?2 where id = ?1",
    ),
    (
        "select id, label from bookmarks where label is not null",
        "update bookmarks set label = ?2 where id = ?1",
    ),
    (
        "select id, branch from bookmarks where branch is not null",
        "update bookmarks set branch = ?2 where id = ?1",
    ),
    (
        "select id, commit_id from bookmarks where commit_id is not null",
        "update bookmarks set commit_id = ?2 where id = ?1",
    ),
];

/// A fault with a secret in its text is deleted.
const FAULTS: &str = "select distinct detail from faults";
const DROP_FAULT: &str = "delete from faults where detail = ?1";
const FOLDERS: &str = "select id, agent || ':' || session, folder from sessions where folder is not null";

impl Store {
    /// Counts what would change, and changes nothing.
    pub fn preview_scrub(&self, cleaner: &ScrubRules<'_>) -> Result<EraseReport, StoreError> {
        let excluded = self.excluded_sessions(cleaner)?;
        let mut decide = |entry: JournalEntry<'_>| fate(entry, cleaner, &excluded);
        let journal =
            journal::preview_rewrite(&self.home, &mut decide).map_err(|source| self.folder_error(source))?;
        Ok(EraseReport { rows: self.scrub_rows(cleaner, EraseMode::Rehearsal)?, journal })
    }

    /// Scrubs the journal and the database. Everything in the journal must have been applied: see `settle`.
    pub fn scrub(&self, lock: &ProjectionLock, cleaner: &ScrubRules<'_>) -> Result<EraseReport, StoreError> {
        let excluded = self.excluded_sessions(cleaner)?;
        let journal = self.rewrite_journal(lock, &mut |entry| fate(entry, cleaner, &excluded))?;
        let rows = self.scrub_rows(cleaner, EraseMode::ForGood)?;
        super::files::forget_sessions(&self.home, &excluded).map_err(|source| self.folder_error(source))?;
        Ok(EraseReport { rows, journal })
    }

    fn excluded_sessions(&self, cleaner: &ScrubRules<'_>) -> Result<BTreeSet<SessionKey>, StoreError> {
        Ok(self.excluded_rows(cleaner)?.into_iter().map(|(_, key)| key).collect())
    }

    fn excluded_rows(&self, cleaner: &ScrubRules<'_>) -> Result<Vec<(i64, SessionKey)>, StoreError> {
        let mut statement = self.db.prepare(FOLDERS)?;
        let known = |row: &Row<'_>| {
            Ok((row.get::<_, i64>(0)?, crate::tables::batons::key(row, 1)?, row.get::<_, String>(2)?))
        };
        let rows = statement.query_map([], known)?.collect::<Result<Vec<_>, _>>()?;
        let excluded = rows.into_iter().filter(|(_, _, folder)| (cleaner.is_excluded_folder)(folder));
        Ok(excluded.map(|(id, key, _)| (id, key)).collect())
    }

    fn scrub_rows(
        &self,
        cleaner: &ScrubRules<'_>,
        erasing: EraseMode,
    ) -> Result<ErasedSessionRows, StoreError> {
        self.db.pragma_update(None, "secure_delete", true)?;
        let transaction = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        let mut erased = ErasedSessionRows::default();
        for (id, _) in self.excluded_rows(cleaner)? {
            self.drop_session(id, &mut erased)?;
        }
        self.db.execute(DROP_UNUSED_PROJECTS, [])?;
        for (find, change) in TEXTS {
            let text = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
            let rows = self.db.prepare(find)?.query_map([], text)?.collect::<Result<Vec<_>, _>>()?;
            for (id, text) in rows {
                if let Some(clean) = (cleaner.clean)(&text) {
                    erased.others += self.db.execute(change, (id, clean))?;
                }
            }
        }
        let detail = |row: &Row<'_>| row.get::<_, String>(0);
        let faults = self.db.prepare(FAULTS)?.query_map([], detail)?.collect::<Result<Vec<_>, _>>()?;
        for fault in faults.iter().filter(|fault| (cleaner.clean)(fault).is_some()) {
            erased.others += self.db.execute(DROP_FAULT, [fault])?;
        }
        match erasing {
            EraseMode::ForGood => transaction.commit()?,
            EraseMode::Rehearsal => transaction.rollback()?,
        }
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
    let after = with_texts(event, &|text| clean(text.as_str()).map_or(text, |clean| kept(&clean)));
    if after == before { Rewrite::Keep } else { Rewrite::Replace(JournalRecord::Event(after)) }
}

/// Text that was just cleaned is already truncated.
fn kept(clean: &str) -> SafeText {
    SafeText::new(clean, TextPolicy { longest_bytes: usize::MAX / 8, secrets: SecretPolicy::Kept })
}
