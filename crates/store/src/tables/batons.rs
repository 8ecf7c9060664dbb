//! Batons: the note that a session's work goes on in the next one.
//!
//! A baton is taken once: the statement that takes it finds none that is taken or dropped.

use super::sessions::session_key;
use crate::{Store, StoreError};
use rusqlite::{OptionalExtension, Row};
use towline_core::id::{SessionKey, Uid};
use towline_core::inherit::{Baton, HOUR_MS, Reach};
use towline_core::session::Session;
use towline_core::time::Timestamp;

/// Does nothing for a baton that is there already: a journal that is read twice must not pass it twice.
const PASS: &str = "
    insert into batons (uid, machine, revision, session, seat, project, passed_at) values (?1, ?2, 1, ?3, ?4, ?5, ?6)
    on conflict do nothing";

const DROP: &str = "
    update batons set revision = revision + 1, dropped_at = ?2
    where session = ?1 and passed_at <= ?2 and taken_by is null and dropped_at is null";

const TAKE: &str = "
    update batons set revision = revision + 1, taken_by = ?2, taken_at = ?3
    where uid = ?1 and taken_by is null and dropped_at is null";

const TAKE_ALL: &str = "
    update batons set revision = revision + 1, taken_by = ?2, taken_at = ?3
    where session = ?1 and taken_by is null and dropped_at is null";

/// Those of a day: one that has expired is still worth a word to whoever would have taken it.
const AROUND: &str = "
    select b.uid, s.agent || ':' || s.session, b.seat, b.project = ?3, b.passed_at, s.fresh_at from batons b
    join sessions s on s.id = b.session
    where b.taken_by is null and b.dropped_at is null and b.passed_at > ?1 and (b.seat = ?2 or b.project = ?3)
    order by b.passed_at";

const ALL: &str = "
    select b.uid, s.agent || ':' || s.session, b.seat, p.name, b.passed_at, h.agent || ':' || h.session, b.taken_at,
        b.dropped_at
    from batons b join sessions s on s.id = b.session left join projects p on p.id = b.project
    left join sessions h on h.id = b.taken_by";

const DAY_MS: i64 = 24 * HOUR_MS;

/// A baton and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownBaton {
    pub uid: Uid,
    pub session: SessionKey,
    pub seat: Option<String>,
    pub project: Option<String>,
    pub passed_at: Timestamp,
    pub taken: Option<(SessionKey, Timestamp)>,
    pub dropped_at: Option<Timestamp>,
}

/// A session by its row.
#[derive(Clone, Copy)]
pub(crate) struct Passer<'a> {
    pub id: i64,
    pub project: Option<i64>,
    pub session: &'a Session,
}

impl Store {
    /// A session has one baton: what it passed before is replaced.
    pub(crate) fn pass_baton(&self, uid: Uid, by: Passer<'_>, at: Timestamp) -> Result<(), StoreError> {
        self.drop_batons(by.id, at)?;
        let row = (uid.0, self.machine.0, by.id, by.session.seat.as_deref(), by.project, at.0);
        self.db.prepare_cached(PASS)?.execute(row)?;
        Ok(())
    }

    pub(crate) fn drop_batons(&self, session: i64, at: Timestamp) -> Result<(), StoreError> {
        self.db.prepare_cached(DROP)?.execute((session, at.0))?;
        Ok(())
    }

    pub(crate) fn take_baton(&self, baton: Uid, heir: i64, at: Timestamp) -> Result<(), StoreError> {
        self.db.prepare_cached(TAKE)?.execute((baton.0, heir, at.0))?;
        Ok(())
    }

    pub(crate) fn take_batons_of(&self, session: i64, heir: i64, at: Timestamp) -> Result<(), StoreError> {
        self.db.prepare_cached(TAKE_ALL)?.execute((session, heir, at.0))?;
        Ok(())
    }

    /// The batons that a session of this seat and project might have taken; whether they are withdrawn is as saved.
    pub(crate) fn batons_around(&self, heir: Passer<'_>) -> Result<Vec<Baton>, StoreError> {
        let since = heir.session.started_at.plus_ms(-DAY_MS);
        let mut statement = self.db.prepare_cached(AROUND)?;
        let rows = statement.query_map((since.0, heir.session.seat.as_deref(), heir.project), baton)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// All batons that somebody could take now, oldest first.
    pub fn open_batons(&self, now: Timestamp) -> Result<Vec<KnownBaton>, StoreError> {
        let query = format!(
            "{ALL} where b.taken_by is null and b.dropped_at is null and b.passed_at >= ?1 order by b.passed_at"
        );
        let mut statement = self.db.prepare_cached(&query)?;
        let rows = statement.query_map([now.plus_ms(-HOUR_MS).0], known)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The baton that a session has passed and nobody has taken.
    pub fn open_baton_of(&self, session: &SessionKey) -> Result<Option<KnownBaton>, StoreError> {
        let query = format!(
            "{ALL} where b.taken_by is null and b.dropped_at is null and s.agent = ?1 and s.session = ?2
             order by b.passed_at desc limit 1"
        );
        let mut statement = self.db.prepare_cached(&query)?;
        Ok(statement.query_row((session.agent.as_str(), session.id.as_str()), known).optional()?)
    }

    /// Every baton ever passed, oldest first.
    pub fn batons(&self) -> Result<Vec<KnownBaton>, StoreError> {
        let mut statement = self.db.prepare_cached(&format!("{ALL} order by b.passed_at, b.uid"))?;
        Ok(statement.query_map([], known)?.collect::<Result<_, _>>()?)
    }
}

fn baton(row: &Row<'_>) -> rusqlite::Result<Baton> {
    let is_same = row.get::<_, Option<bool>>(3)?.unwrap_or(false);
    Ok(Baton {
        uid: Uid(row.get(0)?),
        session: key(row, 1)?,
        seat: row.get(2)?,
        reach: if is_same { Reach::SameProject } else { Reach::OtherProject },
        passed_at: Timestamp(row.get(4)?),
        is_withdrawn: row.get::<_, Option<i64>>(5)?.is_some(),
    })
}

fn known(row: &Row<'_>) -> rusqlite::Result<KnownBaton> {
    let taken_at: Option<i64> = row.get(6)?;
    Ok(KnownBaton {
        uid: Uid(row.get(0)?),
        session: key(row, 1)?,
        seat: row.get(2)?,
        project: row.get(3)?,
        passed_at: Timestamp(row.get(4)?),
        taken: session_key(row, 5)?.zip(taken_at.map(Timestamp)),
        dropped_at: row.get::<_, Option<i64>>(7)?.map(Timestamp),
    })
}

/// A session's key that cannot be missing.
pub(crate) fn key(row: &Row<'_>, column: usize) -> rusqlite::Result<SessionKey> {
    session_key(row, column)?.ok_or_else(|| super::sessions::unknown(column))
}
