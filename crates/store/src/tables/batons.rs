//! Batons: the note that a session's work continues in the next one.
//!
//! A baton is taken at most once: the statement that takes it matches only one that is neither taken nor dropped.

use crate::columns::{Columns, both, from_row, values};
use crate::query::Query;
use crate::{Result, Store};
use towline_core::id::{SessionKey, Uid};
use towline_core::inherit::{Baton, BatonFate, BatonScope, HOUR_MS, RemoteBaton, RemoteOrigin};
use towline_core::session::Session;
use towline_core::time::Timestamp;

/// Ignores an existing baton: a journal that is read twice must not pass it twice.
const PASS: &str = "
    insert into batons (uid, machine, revision, session, seat, project, passed_at) values (?1, ?2, 1, ?3, ?4, ?5, ?6)
    on conflict do nothing";

const DROP: &str = "
    update batons set revision = revision + 1, dropped_at = ?2
    where session = ?1 and passed_at <= ?2 and taken_at is null and dropped_at is null";

const TAKE: &str = "
    update batons set revision = revision + 1, taken_by = ?2, taken_at = ?3
    where uid = ?1 and taken_at is null and dropped_at is null";

const TAKE_ALL: &str = "
    update batons set revision = revision + 1, taken_by = ?2, taken_at = ?3
    where session = ?1 and taken_at is null and dropped_at is null";

/// Increments the revision, so that other machines receive the changed baton.
const TOUCH: &str = "
    update batons set revision = revision + 1 where session = ?1 and taken_at is null and dropped_at is null";

/// Keeps the first `came_at`; of later updates, the one with the highest count wins.
const CAME: &str = "
    insert into batons (uid, machine, revision, far, called, came_at, withdrawn, project, passed_at)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    on conflict do update set revision = excluded.revision, withdrawn = excluded.withdrawn
        where far is not null and taken_at is null and dropped_at is null and revision < excluded.revision";

/// For batons of any machine: one that was passed here may have been taken elsewhere.
const OVER: &str = "
    update batons set revision = max(revision + 1, ?2), heir = ?3, taken_at = iif(?4, ?5, null),
        dropped_at = iif(?4, null, ?5)
    where uid = ?1 and taken_at is null and dropped_at is null";

/// Batons of the last day: an expired one is still mentioned to a session that would have taken it.
const AROUND: &str = "
    select b.uid, ifnull(b.far, s.agent || ':' || s.session), b.seat, b.project = ?3, b.passed_at,
        s.fresh_at is not null or b.withdrawn, b.called, b.came_at
    from batons b left join sessions s on s.id = b.session
    where b.taken_at is null and b.dropped_at is null and b.passed_at > ?1 and (b.seat = ?2 or b.project = ?3)
    order by b.passed_at";

/// The last baton of another machine that this session passed.
const FAR_OF: &str = "
    select b.uid, b.far, b.seat, 1, b.passed_at, b.withdrawn, b.called, b.came_at from batons b where b.far = ?1
    order by b.came_at desc, b.uid desc limit 1";

const FAR_NAMED: &str = "
    select distinct far from batons where far is not null
        and (far = ?1 or substr(far, -length(?1)) = ?1 or substr(far, instr(far, ':') + 1, length(?1)) = ?1)
    order by far limit 20";

const ALL: &str = "
    select b.uid, ifnull(b.far, s.agent || ':' || s.session), b.seat, p.name, b.passed_at,
        ifnull(b.heir, h.agent || ':' || h.session), b.taken_at, b.dropped_at, b.called, b.came_at, b.revision, b.machine
    from batons b left join sessions s on s.id = b.session left join projects p on p.id = b.project
    left join sessions h on h.id = b.taken_by";

const DAY_MS: i64 = 24 * HOUR_MS;

/// A baton and its current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatonRow {
    pub uid: Uid,
    pub session: SessionKey,
    pub seat: Option<String>,
    pub project: Option<String>,
    pub passed_at: Timestamp,
    /// The session that took it, if known.
    pub heir: Option<SessionKey>,
    pub taken_at: Option<Timestamp>,
    pub dropped_at: Option<Timestamp>,
    /// The machine it was passed on, if not this one.
    pub afar: Option<RemoteOrigin>,
    pub machine: Uid,
    /// How often the row was written.
    pub revision: u64,
}

impl BatonRow {
    /// The time until which it can be taken.
    pub fn until(&self) -> Timestamp {
        let came_at = self.afar.as_ref().map_or(self.passed_at, |afar| afar.came_at);
        self.passed_at.min(came_at).plus_ms(HOUR_MS)
    }

    pub fn is_over(&self) -> bool {
        self.taken_at.is_some() || self.dropped_at.is_some()
    }
}

/// A session with its row ids.
#[derive(Clone, Copy)]
pub(crate) struct SessionRow<'a> {
    pub id: i64,
    pub project: Option<i64>,
    pub session: &'a Session,
}

impl Store {
    /// Passes a baton; replaces the session's previous one, since a session has at most one.
    pub(crate) fn pass_baton(&self, uid: Uid, by: SessionRow<'_>, at: Timestamp) -> Result<()> {
        self.drop_batons(by.id, at)?;
        let row = (uid.0, self.machine.0, by.id, by.session.seat.as_deref(), by.project, at.0);
        self.db.run(PASS, row)
    }

    pub(crate) fn drop_batons(&self, session: i64, at: Timestamp) -> Result<()> {
        self.db.run(DROP, (session, at.0))
    }

    pub(crate) fn take_baton(&self, baton: Uid, heir: i64, at: Timestamp) -> Result<()> {
        self.db.run(TAKE, (baton.0, heir, at.0))
    }

    pub(crate) fn take_batons_of(&self, session: i64, heir: i64, at: Timestamp) -> Result<()> {
        self.db.run(TAKE_ALL, (session, heir, at.0))
    }

    /// Marks a session's batons as changed.
    pub(crate) fn touch_batons(&self, session: i64) -> Result<()> {
        self.db.run(TOUCH, [session])
    }

    /// Stores a baton of another machine, or a change of its state.
    pub(crate) fn baton_came(&self, session: &SessionKey, came: &RemoteBaton, at: Timestamp) -> Result<()> {
        let count = came.count.cast_signed();
        let heir = match &came.fate {
            BatonFate::Waits | BatonFate::Withdrawn => None,
            BatonFate::Taken { by } => by.as_ref().map(ToString::to_string),
            BatonFate::Dropped => None,
        };
        if came.fate.is_over() {
            let is_taken = came.fate != BatonFate::Dropped;
            self.db.change(OVER, (came.baton.0, count, heir, is_taken, at.0))?;
            return Ok(());
        }
        let project = self.project(&came.project, came.baton, at)?.id;
        self.db.run(
            CAME,
            values! {
                came.baton, came.machine, came.count, session, came.called, at, came.fate == BatonFate::Withdrawn,
                project, came.passed_at
            },
        )
    }

    /// The last baton of another machine that this session passed, in any state.
    pub(crate) fn remote_baton_of(&self, session: &SessionKey) -> Result<Option<Baton>> {
        self.db.first(FAR_OF, [session.to_string()])
    }

    /// Sessions of other machines that passed a baton and whose id begins or ends with `part`.
    pub fn remote_sessions_named(&self, part: &str) -> Result<Vec<SessionKey>> {
        self.db.all(FAR_NAMED, [part])
    }

    pub fn baton(&self, uid: Uid) -> Result<Option<BatonRow>> {
        self.db.first(&format!("{ALL} where b.uid = ?1"), [uid.0])
    }

    /// Open batons of other machines, newest first.
    pub fn remote_batons(&self, most: u32) -> Result<Vec<BatonRow>> {
        let query = format!(
            "{ALL} where b.far is not null and b.taken_at is null and b.dropped_at is null
             order by b.passed_at desc limit ?1"
        );
        self.db.all(&query, [most])
    }

    /// The batons that a session of this seat and project might have taken; whether they are withdrawn is as saved.
    pub(crate) fn batons_around(&self, heir: SessionRow<'_>) -> Result<Vec<Baton>> {
        let since = heir.session.started_at.plus_ms(-DAY_MS);
        self.db.all(AROUND, (since.0, heir.session.seat.as_deref(), heir.project))
    }

    /// All batons that can be taken now, oldest first.
    pub fn open_batons(&self, now: Timestamp) -> Result<Vec<BatonRow>> {
        let query = format!(
            "{ALL} where b.taken_at is null and b.dropped_at is null and b.withdrawn = 0
                 and min(b.passed_at, ifnull(b.came_at, b.passed_at)) >= ?1 order by b.passed_at"
        );
        self.db.all(&query, [now.plus_ms(-HOUR_MS).0])
    }

    pub fn open_baton_of(&self, session: &SessionKey) -> Result<Option<BatonRow>> {
        let query = format!(
            "{ALL} where b.taken_at is null and b.dropped_at is null and s.agent = ?1 and s.session = ?2
             order by b.passed_at desc limit 1"
        );
        self.db.first(&query, (session.agent.as_str(), session.id.as_str()))
    }

    /// Every baton ever passed, oldest first.
    pub fn batons(&self) -> Result<Vec<BatonRow>> {
        self.db.all(&format!("{ALL} order by b.passed_at, b.uid"), [])
    }
}

from_row!(Baton { uid, session, seat, reach: scope, passed_at, is_withdrawn, afar: origin });
from_row! { BatonRow {
    uid, session, seat, project, passed_at, heir, taken_at, dropped_at, afar: origin, revision, machine
} }

fn scope(columns: &mut Columns<'_>) -> rusqlite::Result<BatonScope> {
    let is_same: Option<bool> = columns.get()?;
    Ok(if is_same == Some(true) { BatonScope::SameProject } else { BatonScope::OtherProject })
}

/// Reads two columns: the machine's name, and when its baton arrived.
fn origin(columns: &mut Columns<'_>) -> rusqlite::Result<Option<RemoteOrigin>> {
    Ok(both(columns)?.map(|(machine, came_at)| RemoteOrigin { machine, came_at }))
}
