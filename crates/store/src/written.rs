//! Labels and batons are in the journal and in the database, and each brings back what the other has lost.
//!
//! The database is rebuilt from the journal (`projection`); this file appends to the journal what only the database still
//! has. Reads every segment, so it is not for hooks. Never removes a record.

use crate::journal::frame::{self, ParsedFrame};
use crate::journal::{self, JournalRecord, Segments};
use crate::tables::bookmarks::{BookmarkFilter, BookmarkRow, DeletedBookmarks};
use crate::{Result, Store, StoreError};
use memchr::memmem::Finder;
use std::collections::{BTreeMap, BTreeSet};
use std::{fs, io};
use towline_core::event::{Event, EventKind, EventScene};
use towline_core::id::{SessionKey, Uid};
use towline_core::time::Timestamp;

/// The names of the events that the journal must hold, as they are written there.
const NAMES: [&str; 2] = ["\"bookmark_", "\"baton_passed"];

/// The writing of the user that the journal holds.
#[derive(Default)]
struct JournalledWriting {
    /// Labels and batons by their ids, which are those of their events.
    made: BTreeSet<Uid>,
    /// Whether a bookmark was last deleted or restored; absent if neither.
    deleted: BTreeMap<Uid, bool>,
}

impl JournalledWriting {
    fn read(segments: &Segments) -> io::Result<JournalledWriting> {
        let finders = NAMES.map(|name| Finder::new(name.as_bytes()));
        let mut found = JournalledWriting::default();
        for path in segments.paths() {
            let bytes = crate::home::if_exists(fs::read(path))?.unwrap_or_default();
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let length = match frame::next(rest) {
                    ParsedFrame::Newer => return Err(io::ErrorKind::Unsupported.into()),
                    ParsedFrame::Incomplete => rest.len(),
                    ParsedFrame::Torn { length } => length,
                    ParsedFrame::Frame { payload, length } => {
                        if finders.iter().any(|finder| finder.find(payload).is_some()) {
                            found.note(payload);
                        }
                        length
                    }
                };
                rest = &rest[length..];
            }
        }
        Ok(found)
    }

    fn note(&mut self, payload: &[u8]) {
        let Ok(JournalRecord::Event(event)) = serde_json::from_slice(payload) else { return };
        if matches!(event.happening, EventKind::BookmarkSet(_) | EventKind::BatonPassed) {
            self.made.insert(event.uid);
        }
        if let EventKind::BookmarkDeleted { bookmark } = event.happening {
            self.deleted.insert(bookmark, true);
        }
        if let EventKind::BookmarkRestored { bookmark } = event.happening {
            self.deleted.insert(bookmark, false);
        }
    }

    fn is_deleted(&self, bookmark: Uid) -> bool {
        self.deleted.get(&bookmark) == Some(&true)
    }
}

impl Store {
    /// Appends what the user wrote and the journal has lost, so that a rebuild brings it back. Returns the number of
    /// records. While an erase is in progress the journal lacks what the database still has: then nothing is appended.
    pub fn mend_journal(&self, now: Timestamp) -> Result<usize> {
        const ALL: u32 = u32::MAX;
        if self.home.erasing().exists() {
            return Ok(0);
        }
        let known = match JournalledWriting::read(&self.segments()?) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(0),
            read => read.map_err(|source| self.folder_error(source))?,
        };
        let deleted = DeletedBookmarks::Included;
        let mut lost = vec![];
        for row in self.bookmarks(&BookmarkFilter { session: None, project: None, deleted, most: ALL })? {
            if EventKind::BookmarkSet(row.bookmark.set.clone()).is_kept() {
                lost.extend(self.lost_of_bookmark(&row, &known)?);
            }
        }
        for baton in self.open_batons(now)? {
            if baton.afar.is_none() && !known.made.contains(&baton.uid) {
                lost.push(self.event(baton.uid, baton.passed_at, &baton.session, EventKind::BatonPassed)?);
            }
        }
        if lost.is_empty() {
            return Ok(0);
        }
        let records: Vec<JournalRecord> = lost.into_iter().map(JournalRecord::Event).collect();
        let failed =
            |error| StoreError::Folder { path: self.home.journal(), source: io::Error::other(error) };
        journal::append(&self.home, &records).map_err(failed)?;
        Ok(records.len())
    }

    /// Where a session runs, as an event would report it.
    pub(crate) fn scene_of(&self, session: &SessionKey) -> Result<Option<EventScene>> {
        Ok(self.session(session)?.map(|session| session.scene()))
    }

    fn lost_of_bookmark(&self, row: &BookmarkRow, known: &JournalledWriting) -> Result<Vec<Event>> {
        let (mut lost, bookmark) = (vec![], row.bookmark.uid);
        let is_made = known.made.contains(&bookmark);
        if !is_made {
            let set = EventKind::BookmarkSet(row.bookmark.set.clone());
            let event = self.event(bookmark, row.bookmark.at, &row.session, set)?;
            lost.push(Event { turn: row.bookmark.turn.clone(), ..event });
            if let Some(at) = row.placed_at {
                let context_tokens = row.bookmark.context_tokens;
                let placed = EventKind::BookmarkPlaced { bookmark, code: row.code.clone(), context_tokens };
                lost.push(self.event(derived(bookmark, at, 1), at, &row.session, placed)?);
            }
        }
        // A deletion has no effect if it comes before what it deletes.
        let is_deleted = is_made && known.is_deleted(bookmark);
        match row.deleted_at {
            Some(at) if !is_deleted => {
                let event = EventKind::BookmarkDeleted { bookmark };
                lost.push(self.event(derived(bookmark, at, 2), at, &row.session, event)?);
            }
            None if is_deleted => {
                let at = row.bookmark.at;
                let event = EventKind::BookmarkRestored { bookmark };
                lost.push(self.event(derived(bookmark, at, 3), at, &row.session, event)?);
            }
            Some(_) | None => {}
        }
        Ok(lost)
    }

    fn event(&self, uid: Uid, at: Timestamp, session: &SessionKey, happening: EventKind) -> Result<Event> {
        let scene = self.scene_of(session)?;
        Ok(Event { uid, at, session: session.clone(), subagent: None, turn: None, happening, scene })
    }
}

/// The id of an event about a bookmark, the same each time that it is lost. Begins with its time, as every id does.
fn derived(bookmark: Uid, at: Timestamp, part: u8) -> Uid {
    let mut bytes = bookmark.0;
    bytes[..6].copy_from_slice(&at.0.max(0).to_be_bytes()[2..]);
    bytes[15] ^= part << 5;
    Uid(bytes)
}
