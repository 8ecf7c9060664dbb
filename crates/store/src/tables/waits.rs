//! Finished waits: when which agent could not continue without its user, and for how long.
//!
//! A row is inserted when a wait ends and never changed. A wait that still lasts is in its session's row.

use crate::columns::from_row;
use crate::query::Query;
use crate::{Result, Store};
use towline_core::id::SessionKey;
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

const OF_SESSION: &str = "
    select s.agent, p.name, w.reason, w.began_at, w.ended_at from waits w
    join sessions s on s.id = w.session left join projects p on p.id = s.project
    where s.agent = ?1 and s.session = ?2 order by w.began_at";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitRow {
    pub agent: String,
    pub project: Option<String>,
    pub reason: String,
    pub began_at: Timestamp,
    pub ended_at: Timestamp,
}

impl Store {
    pub(crate) fn add_wait(&self, session: i64, wait: &UserWait) -> Result<()> {
        let reason = wait.reason.name();
        let row = (wait.uid.0, self.machine.0, session, reason, wait.began_at.0, wait.ended_at.0);
        self.db.run(ADD, row)
    }

    /// The waits that ended at or after `since`, in the order in which they began.
    pub fn waits(&self, since: Timestamp) -> Result<Vec<WaitRow>> {
        self.db.all(SINCE, [since.0])
    }

    /// The waits of a session, in the order in which they began.
    pub fn waits_of(&self, session: &SessionKey) -> Result<Vec<WaitRow>> {
        self.db.all(OF_SESSION, (session.agent.as_str(), session.id.as_str()))
    }
}

from_row!(WaitRow { agent, project, reason, began_at, ended_at });
