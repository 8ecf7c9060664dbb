//! Applied events: small, in order per session, kept for the retention period.
//!
//! Never changed once added: only inserted, read and expired.

use crate::columns::from_row;
use crate::query::Query;
use crate::{Result, Store};
use towline_core::event::{Event, EventKind};
use towline_core::id::{SessionKey, Uid};
use towline_core::time::Timestamp;

/// Ignores an existing event: a journal that is read twice must not count twice.
const ADD: &str = "
    insert into events (session, uid, at, kind, tool, subagent) values (?1, ?2, ?3, ?4, ?5, ?6)
    on conflict do nothing";

/// The first six bytes of a uid are its time, so expiry scans only each session's oldest rows.
const EXPIRE: &str = "delete from events where session = ?1 and uid < ?2";

/// A hook that answers a prompt gives both events the same time.
const PROMPTED_SEATS: &str = "
    select f.at, f.tool, h.prompt from events f join heard_turns h on h.session = f.session and h.started_at = f.at
    where f.session = (select id from sessions where agent = ?1 and session = ?2)
        and f.kind = 'seat_found' and f.tool is not null order by f.uid";

const HAS: &str = "
    select exists (select 1 from events where uid = ?3 and session =
        (select id from sessions where agent = ?1 and session = ?2))";

const OF_SESSION: &str = "
    select e.kind, case e.kind when 'seat_found' then null else e.tool end, e.at, e.subagent from events e join sessions s on s.id = e.session
    where s.agent = ?1 and s.session = ?2 order by e.uid";

/// One applied event, with the fields that are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    pub kind: String,
    pub tool: Option<String>,
    pub at: Timestamp,
    pub subagent: Option<String>,
}

from_row!(EventRow { kind, tool, at, subagent });

/// A prompt whose seat is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatPrompt {
    pub at: Timestamp,
    pub seat: String,
    pub prompt: String,
}

from_row!(SeatPrompt { at, seat, prompt });

/// The key of the seat that an event found; stored in the place of a tool's name.
fn found_seat(event: &Event) -> Option<&str> {
    let place = event.scene.as_ref()?.place.as_ref()?;
    (event.happening == EventKind::SeatFound).then_some(place.key.as_str())
}

impl Store {
    /// Returns whether the event is new.
    pub(crate) fn add_event(&self, session: i64, event: &Event) -> Result<bool> {
        let tool = event.happening.tool().filter(|tool| !tool.is_blank()).map(|tool| tool.as_str());
        let tool = tool.or_else(|| found_seat(event));
        let subagent = event.subagent.as_ref().map(|id| id.as_str());
        let row = (session, event.uid.0, event.at.0, event.happening.name(), tool, subagent);
        Ok(self.db.change(ADD, row)? == 1)
    }

    /// Deletes events from before `before`, about `most` of them; returns how many.
    pub(crate) fn expire_events(&self, before: Timestamp, most: usize) -> Result<usize> {
        let mut cutoff = [0u8; 16];
        cutoff[..6].copy_from_slice(&before.0.max(0).to_be_bytes()[2..]);
        let mut expired = 0;
        for id in self.db.all::<i64>("select id from sessions where started_at < ?1", [before.0])? {
            expired += self.db.change(EXPIRE, (id, cutoff))?;
            if expired >= most {
                break;
            }
        }
        Ok(expired)
    }

    /// In which seats a session was prompted, as far as its hooks said so, in order.
    pub fn prompted_seats(&self, session: &SessionKey) -> Result<Vec<SeatPrompt>> {
        self.db.all(PROMPTED_SEATS, (session.agent.as_str(), session.id.as_str()))
    }

    /// Whether this event of a session was applied.
    pub fn has_event(&self, session: &SessionKey, event: Uid) -> Result<bool> {
        self.db.value(HAS, (session.agent.as_str(), session.id.as_str(), event.0))
    }

    /// The events of a session in order.
    pub fn events(&self, session: &SessionKey) -> Result<Vec<EventRow>> {
        self.db.all(OF_SESSION, (session.agent.as_str(), session.id.as_str()))
    }

    pub fn count_events(&self) -> Result<u64> {
        self.db.value("select count(*) from events", [])
    }
}
