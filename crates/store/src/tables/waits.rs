//! Finished waits: when which agent could not continue without its user, and for how long.
//!
//! A row is inserted when a wait ends and never changed. A wait that still lasts is in its session's row.

use crate::query::Query;
use crate::{Store, StoreError};
use rusqlite::Row;
use towline_core::session::UserWait;
use towline_core::time::Timestamp;

/// Ignores an existing wait: a journal that is read twice must not count twice.
const ADD: &str = "
    insert into waits (uid, machine, session, reason, began_at, ended_at) values (?1, ?2, ?3, ?4, ?5, ?6)
    on conflict do nothing";

const SINCE: &str = "
    select s.agent, p.name, w.reason, w.began_at, w.ended_at from waits w
    join sessions s on s.id = w.session left join projects p on p.id = s.project
    where w.ended_at >= ?1 order by w.began_at";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitRow {
    pub agent: String,
    pub project: Option<String>,
    pub reason: String,
    pub began_at: Timestamp,
    pub ended_at: Timestamp,
}

impl Store {
    pub(crate) fn add_wait(&self, session: i64, wait: &UserWait) -> Result<(), StoreError> {
        let reason = wait.reason.name();
        let row = (wait.uid.0, self.machine.0, session, reason, wait.began_at.0, wait.ended_at.0);
        self.db.change(ADD, row)?;
        Ok(())
    }

    /// The waits that ended at or after `since`, in the order in which they began.
    pub fn waits(&self, since: Timestamp) -> Result<Vec<WaitRow>, StoreError> {
        self.db.all(SINCE, [since.0], known_wait)
    }
}

fn known_wait(row: &Row<'_>) -> rusqlite::Result<WaitRow> {
    Ok(WaitRow {
        agent: row.get(0)?,
        project: row.get(1)?,
        reason: row.get(2)?,
        began_at: Timestamp(row.get(3)?),
        ended_at: Timestamp(row.get(4)?),
    })
}
