//! Inheritances: every decision about which session's work a session continues, and whether it was delivered.
//!
//! A decision is never changed; only its delivery time is added.

use super::batons::key;
use crate::query::{Query, parse_column, session_key};
use crate::{Store, StoreError};
use rusqlite::Row;
use towline_core::id::{SessionKey, Uid};
use towline_core::inherit::{InheritDecision, InheritRule};
use towline_core::time::Timestamp;

/// Ignores an existing decision: a journal may be read twice.
const ADD: &str = "
    insert into inheritances (uid, machine, revision, heir, from_session, way, reason, candidates, decided_at, far,
        far_machine)
    values (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) on conflict do nothing";

const COLUMNS: &str = "
    select i.uid, h.agent || ':' || h.session, ifnull(i.far, f.agent || ':' || f.session), i.way, i.reason, i.candidates,
        i.decided_at, i.given_at, p.name, i.far_machine
    from inheritances i join sessions h on h.id = i.heir left join sessions f on f.id = i.from_session
    left join projects p on p.id = h.project";

/// The newest decision counts: an older one that was not delivered is obsolete.
const NEWEST_OF_HEIR: &str = "where i.heir = (select id from sessions where agent = ?1 and session = ?2) order by i.decided_at desc, i.uid desc limit 1";

/// Keeps the first delivery time if the journal repeats it.
const GIVE: &str = "
    update inheritances set revision = revision + 1, given_at = ?2 where uid = ?1 and given_at is null returning heir";

/// Not if a later decision exists: that one is still due.
const SETTLE: &str = "
    update sessions set inheriting = 'settled' where id = ?1 and inheriting = 'due' and ?2 =
        (select uid from inheritances where heir = ?1 order by decided_at desc, uid desc limit 1)";

const LAST_HEIR: &str = "
    select h.agent || ':' || h.session, i.decided_at from inheritances i join sessions h on h.id = i.heir
    where i.from_session = ?1 and i.way in ('clear', 'fallback') order by i.decided_at desc limit 1";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inheritance {
    pub uid: Uid,
    pub heir: SessionKey,
    /// The session whose work is continued.
    pub from: Option<SessionKey>,
    /// The machine that session ran on, if not on this one.
    pub machine: Option<String>,
    pub way: InheritRule,
    pub reason: String,
    /// Sessions that were considered and not chosen.
    pub candidates: Vec<SessionKey>,
    pub decided_at: Timestamp,
    /// When it was delivered to the session or, if the user is to choose, to the user.
    pub given_at: Option<Timestamp>,
    /// The name of the heir's project.
    pub project: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct InheritanceFilter<'a> {
    /// As heir or as predecessor.
    pub session: Option<&'a SessionKey>,
    /// By the name of the heir's project.
    pub project: Option<&'a str>,
    pub limit: u32,
}

impl Store {
    pub(crate) fn add_inheritance(
        &self,
        uid: Uid,
        heir: i64,
        from: Option<i64>,
        decision: &InheritDecision,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let candidates: Vec<String> = decision.candidates.iter().map(ToString::to_string).collect();
        let (way, reason) = (decision.way.name(), &decision.reason);
        // A session of another machine has no row here.
        let far = decision.machine.as_ref().and(decision.from.as_ref()).map(ToString::to_string);
        let candidates = candidates.join(" ");
        let machine = &decision.machine;
        let row = (uid.0, self.machine.0, heir, from, way, reason, candidates, at.0, far, machine);
        self.db.change(ADD, row)?;
        Ok(())
    }

    /// The decision that is still to be delivered to the session or to its user.
    pub fn inheritance_to_give(&self, heir: &SessionKey) -> Result<Option<Inheritance>, StoreError> {
        let query = format!("{COLUMNS} {NEWEST_OF_HEIR}");
        let newest = self.db.first(&query, (heir.agent.as_str(), heir.id.as_str()), inheritance)?;
        Ok(newest.filter(|newest| newest.given_at.is_none() && newest.way.is_to_be_given()))
    }

    /// Marks a decision as delivered. The caller holds the apply lock, so that it is delivered once, and appends it to
    /// the journal too, for a rebuilt database.
    pub fn mark_given(&self, decision: Uid, at: Timestamp) -> Result<(), StoreError> {
        if let Some(heir) = self.mark_decision_given(decision, at)? {
            self.db.change(SETTLE, (heir, decision.0))?;
        }
        Ok(())
    }

    /// Marks only the decision; returns the heir's row if it was not delivered before. Applying updates sessions itself.
    pub(crate) fn mark_decision_given(
        &self,
        decision: Uid,
        at: Timestamp,
    ) -> Result<Option<i64>, StoreError> {
        self.db.first(GIVE, (decision.0, at.0), |row| row.get(0))
    }

    /// The way in which the session's inheritance was last decided.
    pub fn way_of(&self, heir: &SessionKey) -> Result<Option<InheritRule>, StoreError> {
        let query = format!("{COLUMNS} {NEWEST_OF_HEIR}");
        let newest = self.db.first(&query, (heir.agent.as_str(), heir.id.as_str()), inheritance)?;
        Ok(newest.map(|newest| newest.way))
    }

    /// The last session that continued this one's work without a baton.
    pub(crate) fn last_successor(&self, session: i64) -> Result<Option<(SessionKey, Timestamp)>, StoreError> {
        let heir = |row: &Row<'_>| Ok((key(row, 0)?, Timestamp(row.get(1)?)));
        self.db.first(LAST_HEIR, [session], heir)
    }

    /// Decisions, newest first.
    pub fn inheritances(&self, wanted: &InheritanceFilter<'_>) -> Result<Vec<Inheritance>, StoreError> {
        let query = format!(
            "{COLUMNS} where (?1 is null or ?1 in (h.agent || ':' || h.session, f.agent || ':' || f.session, i.far))
             and (?2 is null or p.name = ?2) order by i.decided_at desc, i.uid desc limit ?3"
        );
        let session = wanted.session.map(ToString::to_string);
        self.db.all(&query, (session, wanted.project, wanted.limit), inheritance)
    }
}

fn inheritance(row: &Row<'_>) -> rusqlite::Result<Inheritance> {
    let candidates: String = row.get(5)?;
    Ok(Inheritance {
        uid: Uid(row.get(0)?),
        heir: key(row, 1)?,
        from: session_key(row, 2)?,
        machine: row.get(9)?,
        way: parse_column(row, 3, InheritRule::parse)?,
        reason: row.get(4)?,
        candidates: candidates.split(' ').filter_map(|key| SessionKey::parse(key).ok()).collect(),
        decided_at: Timestamp(row.get(6)?),
        given_at: row.get::<_, Option<i64>>(7)?.map(Timestamp),
        project: row.get(8)?,
    })
}
