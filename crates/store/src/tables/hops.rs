//! Hops: automatic continuations of work in a fresh session, with their handoff and outcome.
//!
//! The statement that changes a stage matches only an allowed previous one: an ended hop never changes its stage. Its
//! handoff stays and can still be edited.

use crate::columns::{Columns, both, from_row};
use crate::query::Query;
use crate::{Result, Store};
use rusqlite::Params;
use towline_core::continuing::{HandoffAuthor, Hop, HopIntents, HopRequest, HopTransition};
use towline_core::event::PromptOrigin;
use towline_core::id::{SessionKey, Uid};
use towline_core::session::Session;
use towline_core::text::SafeText;
use towline_core::time::Timestamp;

/// Ignores an existing hop: a journal may be read twice.
const ADD: &str = "
    insert into hops (uid, machine, revision, session, seat, author, ordinal, percent, began_at, stage, moved_at)
    values (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, 'asked', ?8) on conflict do nothing";

/// Moves a hop on only if it was waiting for the handoff; a later handoff only replaces the text.
const WRITE: &str = "
    update hops set revision = revision + 1, text = ?2, written_by = ?3, written_at = ?4,
        moved_at = case when stage = 'asked' then ?4 else moved_at end,
        stage = case when stage = 'asked' then 'written' else stage end
    where uid = ?1";

const MOVE: &str = "
    update hops set revision = revision + 1, stage = ?3, moved_at = ?4, why = ?5, successor = ifnull(?6, successor)
    where uid = ?1 and stage = ?2";

const TYPED: &str = "update hops set clear_intent = ?2, continue_intent = ?3 where uid = ?1";

/// The first session to receive the handoff stays.
const GIVE: &str = "
    update hops set revision = revision + 1, given_to = ?2, given_at = ?3 where uid = ?1 and given_at is null";

const MARK_REPORTED: &str =
    "update hops set revision = revision + 1, told_at = ?2 where uid = ?1 and told_at is null";

const COLUMNS: &str = "
    select h.uid, s.agent || ':' || s.session, h.seat, h.author, h.ordinal, h.percent, h.began_at, h.stage, h.moved_at,
        h.why, h.text, h.written_by, h.clear_intent, h.continue_intent, n.agent || ':' || n.session,
        g.agent || ':' || g.session, h.given_at, h.told_at
    from hops h join sessions s on s.id = h.session left join sessions n on n.id = h.successor
    left join sessions g on g.id = h.given_to";

/// By the index of stages, like the next one.
const OPEN: &str = "h.stage in ('asked', 'written', 'clearing', 'continuing')";
const UNREPORTED: &str = "h.stage in ('failed', 'stopped') and h.told_at is null";

#[derive(Clone, Debug, Default)]
pub struct HopFilter<'a> {
    pub seat: Option<&'a str>,
    /// The session that was continued, or the one that continues it.
    pub session: Option<&'a SessionKey>,
    pub limit: u32,
}

impl Store {
    pub(crate) fn add_hop(&self, uid: Uid, session: i64, asking: &HopRequest, at: Timestamp) -> Result<()> {
        let (author, ordinal, percent) = (asking.author.name(), asking.ordinal, asking.percent);
        let row = (uid.0, self.machine.0, session, &asking.seat, author, ordinal, percent, at.0);
        self.db.run(ADD, row)
    }

    pub(crate) fn write_handoff(
        &self,
        uid: Uid,
        text: &SafeText,
        by: HandoffAuthor,
        at: Timestamp,
    ) -> Result<()> {
        self.db.run(WRITE, (uid.0, text.as_str(), by.name(), at.0))
    }

    pub(crate) fn move_hop(&self, hop: &Hop, next: &HopTransition, at: Timestamp) -> Result<()> {
        let successor = next.successor.as_ref().map(|key| self.session_row_id(key)).transpose()?.flatten();
        let row = (hop.uid.0, hop.stage.name(), next.to.name(), at.0, &next.why, successor);
        self.db.run(MOVE, row)
    }

    pub(crate) fn type_for_hop(&self, uid: Uid, typed: HopIntents) -> Result<()> {
        self.db.run(TYPED, (uid.0, typed.clear.0, typed.go_on.0))
    }

    pub(crate) fn give_handoff(&self, uid: Uid, to: i64, at: Timestamp) -> Result<()> {
        self.db.run(GIVE, (uid.0, to, at.0))
    }

    pub(crate) fn mark_hop_reported(&self, uid: Uid, at: Timestamp) -> Result<()> {
        self.db.run(MARK_REPORTED, (uid.0, at.0))
    }

    fn session_row_id(&self, session: &SessionKey) -> Result<Option<i64>> {
        const QUERY: &str = "select id from sessions where agent = ?1 and session = ?2";
        self.db.first(QUERY, (session.agent.as_str(), session.id.as_str()))
    }

    pub fn hop(&self, uid: Uid) -> Result<Option<Hop>> {
        Ok(self.query_hops("where h.uid = ?1", [uid.0])?.pop())
    }

    /// Whether any hop has not ended or was not reported. The cheap query comes first: most users have no hops.
    pub fn has_active_hops(&self) -> Result<bool> {
        let afoot = format!(
            "select exists (select 1 from hops h where {OPEN}) or exists (select 1 from hops h where {UNREPORTED})"
        );
        Ok(self.has_hops()? && self.db.value::<bool>(&afoot, [])?)
    }

    fn has_hops(&self) -> Result<bool> {
        self.db.value("select exists (select 1 from hops)", [])
    }

    pub fn open_hops(&self) -> Result<Vec<Hop>> {
        self.query_hops(&format!("where {OPEN} order by h.id"), [])
    }

    /// Hops that failed or were stopped, and were not reported yet.
    pub fn unreported_hops(&self) -> Result<Vec<Hop>> {
        self.query_hops(&format!("where {UNREPORTED} order by h.id"), [])
    }

    /// The last hop that continues this session's work.
    pub fn last_hop_of(&self, session: &SessionKey) -> Result<Option<Hop>> {
        let condition = "where s.agent = ?1 and s.session = ?2 order by h.began_at desc, h.id desc limit 1";
        Ok(self.query_hops(condition, (session.agent.as_str(), session.id.as_str()))?.pop())
    }

    pub fn hop_to(&self, successor: &SessionKey) -> Result<Option<Hop>> {
        let condition = "where n.agent = ?1 and n.session = ?2 order by h.began_at desc, h.id desc limit 1";
        Ok(self.query_hops(condition, (successor.agent.as_str(), successor.id.as_str()))?.pop())
    }

    /// Hops, newest first.
    pub fn hops(&self, wanted: &HopFilter<'_>) -> Result<Vec<Hop>> {
        let session = wanted.session.map(ToString::to_string);
        self.query_hops(
            "where (?1 is null or h.seat = ?1)
             and (?2 is null or ?2 in (s.agent || ':' || s.session, n.agent || ':' || n.session))
             order by h.began_at desc, h.id desc limit ?3",
            (wanted.seat, session, wanted.limit),
        )
    }

    /// Since `since`: when hops began and compactions were requested in the seat, each with the time of its last move.
    pub fn own_actions(&self, seat: &str, since: Timestamp) -> Result<Vec<(Timestamp, Timestamp)>> {
        const QUERY: &str = "
            select began_at, moved_at from hops where seat = ?1 and began_at >= ?2
            union all
            select made_at, moved_at from intents where seat = ?1 and purpose = 'compact' and made_at >= ?2";
        self.db.all(QUERY, (seat, since.0))
    }

    /// When a compaction of this session was last requested.
    pub fn last_compaction_asked(&self, session: &SessionKey) -> Result<Option<Timestamp>> {
        const QUERY: &str = "
            select max(i.made_at) from intents i join sessions s on s.id = i.session
            where i.purpose = 'compact' and s.agent = ?1 and s.session = ?2";
        self.db.value(QUERY, (session.agent.as_str(), session.id.as_str()))
    }

    pub fn last_origin(&self, session: &Session) -> Result<Option<PromptOrigin>> {
        const QUERY: &str = "
            select t.origin from heard_turns t join sessions s on s.id = t.session
            where s.agent = ?1 and s.session = ?2 and t.ordinal = ?3";
        let row = (session.key.agent.as_str(), session.key.id.as_str(), session.turns);
        self.db.first(QUERY, row)
    }

    /// Most users have no hops, and preparing the query, which joins four tables, costs far more than asking whether there are any.
    fn query_hops(&self, condition: &str, params: impl Params) -> Result<Vec<Hop>> {
        if !self.has_hops()? {
            return Ok(vec![]);
        }
        self.db.all(&format!("{COLUMNS} {condition}"), params)
    }
}

from_row! { Hop {
    uid, session, asking, began_at, stage, moved_at, why, handoff: handoff, typed: typed, successor,
    given: both, told_at
} }
from_row!(HopRequest { seat, author, ordinal, percent });

fn handoff(columns: &mut Columns<'_>) -> rusqlite::Result<Option<(SafeText, HandoffAuthor)>> {
    let text: Option<SafeText> = columns.get()?;
    Ok(text.zip(columns.lenient(HandoffAuthor::named)?))
}

fn typed(columns: &mut Columns<'_>) -> rusqlite::Result<Option<HopIntents>> {
    Ok(both(columns)?.map(|(clear, go_on)| HopIntents { clear, go_on }))
}
