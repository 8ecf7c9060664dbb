//! Inheritances: every decision about which session's work a session continues, and whether it was delivered.
//!
//! A decision is never changed; only its delivery time is added.

use crate::columns::{Columns, from_row};
use crate::query::Query;
use crate::{Result, Store};
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
    update inheritances set revision = revision + 1, given_at = ?2 where uid = ?1 and given_at is null";

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
    ) -> Result<()> {
        let candidates: Vec<String> = decision.candidates.iter().map(ToString::to_string).collect();
        let (way, reason) = (decision.way.name(), &decision.reason);
        // A session of another machine has no row here.
        let far = decision.machine.as_ref().and(decision.from.as_ref()).map(ToString::to_string);
        let candidates = candidates.join(" ");
        let machine = &decision.machine;
        let row = (uid.0, self.machine.0, heir, from, way, reason, candidates, at.0, far, machine);
        self.db.run(ADD, row)
    }

    /// The decision that is still to be delivered to the session or to its user.
    pub fn inheritance_to_give(&self, heir: &SessionKey) -> Result<Option<Inheritance>> {
        let newest = self.newest_inheritance(heir)?;
        Ok(newest.filter(|newest| newest.given_at.is_none() && newest.way.is_to_be_given()))
    }

    /// Marks only the decision, not its heir.
    pub(crate) fn mark_decision_given(&self, decision: Uid, at: Timestamp) -> Result<()> {
        self.db.run(GIVE, (decision.0, at.0))
    }

    /// The way in which the session's inheritance was last decided.
    pub fn way_of(&self, heir: &SessionKey) -> Result<Option<InheritRule>> {
        Ok(self.newest_inheritance(heir)?.map(|newest| newest.way))
    }

    /// The session of this machine whose work the session continues.
    pub fn predecessor_of(&self, heir: &SessionKey) -> Result<Option<SessionKey>> {
        let newest = self.newest_inheritance(heir)?.filter(|newest| newest.machine.is_none());
        Ok(newest.and_then(|newest| newest.from))
    }

    fn newest_inheritance(&self, heir: &SessionKey) -> Result<Option<Inheritance>> {
        let query = format!("{COLUMNS} {NEWEST_OF_HEIR}");
        self.db.first(&query, (heir.agent.as_str(), heir.id.as_str()))
    }

    /// The last session that continued this one's work without a baton.
    pub(crate) fn last_successor(&self, session: i64) -> Result<Option<(SessionKey, Timestamp)>> {
        self.db.first(LAST_HEIR, [session])
    }

    /// Decisions, newest first.
    pub fn inheritances(&self, wanted: &InheritanceFilter<'_>) -> Result<Vec<Inheritance>> {
        let query = format!(
            "{COLUMNS} where (?1 is null or ?1 in (h.agent || ':' || h.session, f.agent || ':' || f.session, i.far))
             and (?2 is null or p.name = ?2) order by i.decided_at desc, i.uid desc limit ?3"
        );
        let session = wanted.session.map(ToString::to_string);
        self.db.all(&query, (session, wanted.project, wanted.limit))
    }
}

from_row! { Inheritance {
    uid, heir, from, way, reason, candidates: candidates, decided_at, given_at, project, machine
} }

fn candidates(columns: &mut Columns<'_>) -> rusqlite::Result<Vec<SessionKey>> {
    let keys: String = columns.get()?;
    Ok(keys.split(' ').filter_map(|key| SessionKey::parse(key).ok()).collect())
}
