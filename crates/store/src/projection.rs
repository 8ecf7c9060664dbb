//! Projects journal events into database rows, exactly once and in order.
//!
//! One transaction reads the offset, applies `core::step` to each event after it, and saves rows and the new offset
//! together. It does not matter which process does it, nor how often one dies while doing it.

use crate::database::set_aside;
use crate::home::DataFolder;
use crate::journal::{self, JournalChunk, JournalRecord};
use crate::lock::ProjectionLock;
use crate::tables::projects::StoredProject;
use crate::tables::sessions::StoredSession;
use crate::{Result, Store, StoreError, marks, shared};
use rusqlite::{Transaction, TransactionBehavior};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use towline_core::effect::Effect;
use towline_core::event::{Event, EventKind};
use towline_core::fault::{FaultKind, FaultRecord};
use towline_core::id::{SessionKey, Uid};
use towline_core::inherit::InheritState;
use towline_core::project::ProjectIdentity;
use towline_core::seat::Seat;
use towline_core::session::{Session, SessionState};
use towline_core::step::{StepInput, step};
use towline_core::time::Timestamp;

/// Limits of one apply, and the values that it must not read itself.
pub struct ProjectionLimits<'a> {
    /// Called between transactions: whether there is time for another one.
    pub has_time: &'a dyn Fn() -> bool,
    pub now: Timestamp,
    /// The machine's id if it has none yet.
    pub new_machine: Uid,
    /// How long to wait for a process that uses the database without the apply lock.
    pub patience: Duration,
}

#[derive(Debug, Default)]
pub struct Projected {
    pub events: usize,
    pub effects: Vec<Effect>,
    /// Whether every record of the journal is now in the database.
    pub caught_up: bool,
    /// The sessions of the last events, as their rows are now.
    pub sessions: BTreeMap<SessionKey, Session>,
    /// After the last event, no continuation was open or unreported. False also if no event asked.
    pub is_without_hops: bool,
}

/// Bytes of journal per transaction: small enough to stop in time, large enough to be fast.
const CHUNK: u64 = 256 * 1024;

impl Store {
    /// Opens the database and applies the journal to it. A damaged database is moved aside and rebuilt.
    pub fn open_and_apply(
        home: &DataFolder,
        lock: &ProjectionLock,
        limits: &ProjectionLimits<'_>,
    ) -> Result<(Store, Projected)> {
        match Store::try_open_and_apply(home, lock, limits) {
            Err(StoreError::Damaged { source }) => {
                rebuild(home, lock, limits.now, &source.to_string())?;
                Store::try_open_and_apply(home, lock, limits)
            }
            other => other,
        }
    }

    fn try_open_and_apply(
        home: &DataFolder,
        lock: &ProjectionLock,
        limits: &ProjectionLimits<'_>,
    ) -> Result<(Store, Projected)> {
        let store = Store::open(home, lock, limits.patience, limits.new_machine)?;
        let applied = store.apply_journal(limits)?;
        Ok((store, applied))
    }

    /// Applies until it has caught up or time is up.
    pub fn apply_journal(&self, limits: &ProjectionLimits<'_>) -> Result<Projected> {
        let mut applied = Projected::default();
        loop {
            applied.caught_up = self.apply_chunk(limits.now, &mut applied)?;
            if applied.caught_up || !(limits.has_time)() {
                return Ok(applied);
            }
        }
    }

    pub fn backlog_bytes(&self) -> Result<u64> {
        let (from, segments) = self.unapplied()?;
        Ok(segments.bytes_after(from))
    }

    /// Applies one chunk in one transaction; returns whether it has caught up.
    fn apply_chunk(&self, now: Timestamp, applied: &mut Projected) -> Result<bool> {
        // Not deferred: SQLite does not wait for a lock that it wants in the middle of a transaction.
        let transaction = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        let (from, segments) = self.unapplied()?;
        let chunk = journal::read_from(&segments, from, CHUNK).map_err(|source| self.folder_error(source))?;
        let mut batch = ProjectionBatch::new(self);
        for record in &chunk.records {
            match record {
                JournalRecord::Event(event) => batch.apply(event)?,
                JournalRecord::Fault(fault) => self.add_fault(fault)?,
            }
        }
        self.add_read_faults(&chunk, now)?;
        let working = batch.save()?;
        if chunk.next != from {
            self.move_applied_position(from, chunk.next, &segments)?;
        }
        transaction.commit()?;
        for session in &working {
            marks::raise(&self.home, session);
        }
        applied.events += batch.events;
        applied.effects.append(&mut batch.effects);
        applied.is_without_hops = batch.is_without_hops;
        applied.sessions = batch.sessions.into_iter().map(|(key, stored)| (key, stored.session)).collect();
        Ok(chunk.ended_by != journal::ChunkEnd::Limit)
    }

    /// Records a fault for journal records that could not be read.
    fn add_read_faults(&self, chunk: &JournalChunk, now: Timestamp) -> Result<()> {
        let fault = |detail| FaultRecord { at: now, kind: FaultKind::Journal, detail };
        if chunk.unreadable > 0 {
            let detail =
                format!("{} records of the journal were whole but could not be understood", chunk.unreadable);
            self.add_fault(&fault(detail))?;
        }
        if chunk.torn_bytes > 0 {
            let detail =
                "parts of the journal were torn (a hook was killed while it wrote, or the disk was full)";
            self.add_fault(&fault(detail.to_owned()))?;
        }
        Ok(())
    }

    pub(crate) fn folder_error(&self, source: std::io::Error) -> StoreError {
        StoreError::Folder { path: self.home.journal(), source }
    }
}

/// Moves the database aside and appends a fault about it to the journal, from which the next open rebuilds it.
/// Data captured from transcripts is not in the journal; capture reads the transcripts again.
pub fn rebuild(home: &DataFolder, lock: &ProjectionLock, now: Timestamp, cause: &str) -> Result<()> {
    let failed = |source| StoreError::Folder { path: home.folder().to_owned(), source };
    let aside = set_aside(home, lock, now).map_err(failed)?;
    let detail = format!("the database was rebuilt ({cause}); the old one is kept at {}", aside.display());
    let fault = JournalRecord::Fault(FaultRecord { at: now, kind: FaultKind::Rebuilt, detail });
    journal::append(home, &[fault]).map_err(|error| failed(std::io::Error::other(error)))
}

/// The sessions and seats that one transaction touches, loaded once and saved once.
struct ProjectionBatch<'a> {
    store: &'a Store,
    sessions: BTreeMap<SessionKey, StoredSession>,
    /// Sessions changed since they were last saved, with their saved values.
    changed_sessions: BTreeMap<SessionKey, StoredSession>,
    seats: BTreeMap<String, (Uid, Seat)>,
    changed_seats: BTreeSet<String>,
    /// Whether this batch looked for a project's row, which may have changed it.
    has_asked_projects: bool,
    effects: Vec<Effect>,
    events: usize,
    is_without_hops: bool,
}

impl<'a> ProjectionBatch<'a> {
    fn new(store: &'a Store) -> Self {
        ProjectionBatch {
            store,
            sessions: BTreeMap::new(),
            changed_sessions: BTreeMap::new(),
            seats: BTreeMap::new(),
            changed_seats: BTreeSet::new(),
            has_asked_projects: false,
            effects: vec![],
            events: 0,
            is_without_hops: false,
        }
    }

    fn apply(&mut self, event: &Event) -> Result<()> {
        if let EventKind::BatonCame(came) = &event.happening {
            return self.baton_came(event, came);
        }
        self.load_session(&event.session)?;
        // An event row needs its session's row; an event that was added before has no effect.
        if let Some(stored) = self.sessions.get(&event.session)
            && !self.store.add_event(stored.id, event)?
        {
            return Ok(());
        }
        let event = &*self.with_true_origin(event)?;
        let before = self.before(event)?;
        let inheriting = before.session.as_ref().map_or(InheritState::Nothing, |session| session.inheriting);
        let was_fresh = before.session.as_ref().and_then(|session| session.fresh_at).is_some();
        let after = step(before, event);
        if after.is_shared {
            shared::make(&self.store.home, &event.session);
        }
        self.effects.extend(after.effects);
        for seat in after.seat.into_iter().chain(after.left_seat) {
            let key = seat.place.key.clone();
            self.changed_seats.insert(key.clone());
            // A seat keeps the uid of the event that first mentioned it: one event may change two seats.
            let uid = self.seats.get(&key).map_or(event.uid, |(uid, _)| *uid);
            self.seats.insert(key, (uid, seat));
        }
        let Some(session) = after.session else { return Ok(()) };
        let is_fresh = session.fresh_at.is_some();
        let id = self.cache_session(session, event)?;
        if was_fresh != is_fresh {
            // Other machines learn of it through its batons.
            self.store.touch_batons(id)?;
        }
        if let Some(turn) = after.ended_turn {
            self.store.save_turn(id, &turn)?;
        }
        if let Some(wait) = after.ended_wait {
            self.store.add_wait(id, &wait)?;
        }
        if let Some(bookmark) = after.bookmark {
            self.store.add_bookmark(id, &bookmark)?;
        }
        self.apply_bookmark_change(event)?;
        self.events += 1;
        self.apply_to_intents(event)?;
        self.apply_to_hops(event)?;
        self.apply_to_heirs(event, inheriting)
    }

    fn before(&mut self, event: &Event) -> Result<StepInput> {
        let session = self.sessions.get(&event.session).map(|stored| stored.session.clone());
        let Some(place) = event.scene.as_ref().and_then(|scene| scene.place.as_ref()) else {
            return Ok(StepInput { session, ..StepInput::default() });
        };
        let seat = self.seat(&place.key)?;
        if let (EventKind::SessionEnded { .. }, Some(session)) = (&event.happening, &session) {
            let other = self.other_seat(&session.key, &place.key)?;
            let session = Some(session.clone());
            return Ok(StepInput { session, seat, former_seat: other, is_shared: true });
        }
        let former =
            session.as_ref().and_then(|session| session.seat.clone()).filter(|key| *key != place.key);
        let former_seat = match former {
            Some(key) => self.seat(&key)?,
            None => None,
        };
        let is_shared = former_seat.is_some() && shared::is_shared(&self.store.home, &event.session);
        Ok(StepInput { session, seat, former_seat, is_shared })
    }

    fn load_session(&mut self, key: &SessionKey) -> Result<()> {
        if !self.sessions.contains_key(key)
            && let Some(stored) = self.store.load_session(key)?
        {
            self.sessions.insert(key.clone(), stored);
        }
        Ok(())
    }

    fn seat(&mut self, key: &str) -> Result<Option<Seat>> {
        if !self.seats.contains_key(key)
            && let Some(stored) = self.store.stored_seat(key)?
        {
            self.seats.insert(key.to_owned(), stored);
        }
        Ok(self.seats.get(key).map(|(_, seat)| seat.clone()))
    }

    /// Another seat in which the session is open.
    fn other_seat(&mut self, session: &SessionKey, but: &str) -> Result<Option<Seat>> {
        let keys = self.store.seats_of(session)?;
        for key in keys.iter().filter(|key| *key != but) {
            // This batch may have changed it.
            let seat = self.seat(key)?;
            if seat.as_ref().is_some_and(|seat| seat.current.as_ref() == Some(session)) {
                return Ok(seat);
            }
        }
        Ok(None)
    }

    /// Caches a session until the end of the batch; inserts the row of a new one, and its first event, immediately.
    fn cache_session(&mut self, mut session: Session, event: &Event) -> Result<i64> {
        let known = self.sessions.get(&event.session);
        let mut project = known.and_then(|stored| stored.project);
        if let Some(traces) = event.scene.as_ref().and_then(|scene| scene.project.as_ref()) {
            let same = known.and_then(|stored| self.unchanged_project(stored, traces));
            self.has_asked_projects |= same.is_none();
            let row = same.map_or_else(|| self.store.project(traces, event.uid, event.at), Ok)?;
            let StoredProject { id, root, remote, name } = row;
            project = Some(id);
            // As it would be loaded: a second clone is the project that was seen first.
            let branch = traces.branch.clone();
            session.project = Some(ProjectIdentity { root, remote, name: Some(name), branch });
        }
        let id = match known {
            Some(stored) => stored.id,
            None => {
                let id = self.store.add_session(&session, project)?;
                self.store.add_event(id, event)?;
                id
            }
        };
        let is = StoredSession { id, project, session };
        if let Some(was) = self.sessions.insert(event.session.clone(), is) {
            self.changed_sessions.entry(event.session.clone()).or_insert(was);
        }
        Ok(id)
    }

    /// The row of the session's project, if a look at it would change nothing: a prompt's needs 1 % of its instructions.
    fn unchanged_project(&self, known: &StoredSession, traces: &ProjectIdentity) -> Option<StoredProject> {
        let (id, row) = (known.project?, known.session.project.as_ref()?);
        let name = row.name.as_deref()?;
        let has_its_remote = traces.remote.is_none() || traces.remote == row.remote;
        let is_same = has_its_remote && row.root == traces.root && name == traces.display_name();
        let stored = || StoredProject {
            id,
            root: row.root.clone(),
            remote: row.remote.clone(),
            name: name.to_owned(),
        };
        (is_same && !self.has_asked_projects).then(stored)
    }

    fn save_sessions(&mut self) -> Result<()> {
        for (key, was) in std::mem::take(&mut self.changed_sessions) {
            if let Some(is) = self.sessions.get(&key) {
                self.store.change_session(&was, is)?;
            }
        }
        Ok(())
    }

    /// Saves everything; lowers the marks of sessions that are not working first, and returns the working sessions.
    fn save(&mut self) -> Result<Vec<SessionKey>> {
        let mut working = vec![];
        for (key, stored) in &self.sessions {
            if stored.session.state == SessionState::Working {
                working.push(key.clone());
            } else {
                marks::lower(&self.store.home, key).map_err(|source| self.store.folder_error(source))?;
            }
        }
        self.save_sessions()?;
        for key in &self.changed_seats {
            let (uid, seat) = &self.seats[key];
            self.store.save_seat(*uid, seat)?;
        }
        Ok(working)
    }
}

mod bookmark;
mod continuing;
mod inherit;
mod typing;

#[cfg(test)]
mod tests;
