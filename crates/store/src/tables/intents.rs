//! Intents: text to be typed, with time, purpose and outcome.
//!
//! The statement that changes a stage matches only an allowed previous one: an ended intent never changes its stage.

use crate::columns::{from_row, values};
use crate::query::Query;
use crate::{Result, Store};
use towline_core::id::{SessionKey, Uid};
use towline_core::time::Timestamp;
use towline_core::typing::{Intent, IntentRequest, IntentStage};

/// Ignores an existing intent: a journal may be read twice.
const ADD: &str = "
    insert into intents (uid, machine, revision, session, seat, purpose, text, after_intent, made_at, expires_at, stage, moved_at)
    values (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'waiting', ?8) on conflict do nothing";

/// When typing begins, its time and session are stored too.
const MOVE: &str = "
    update intents set revision = revision + 1, stage = ?3, moved_at = ?4, why = ?5,
        typing_at = case when ?3 = 'typing' then ?4 else typing_at end,
        typed_into = case when ?3 = 'typing' then ?6 else typed_into end,
        led_to = case when ?3 = 'confirmed' then ?6 else led_to end
    where uid = ?1 and stage = ?2";

const COLUMNS: &str = "
    select i.uid, s.agent || ':' || s.session, i.seat, i.purpose, i.text, i.after_intent, i.expires_at, i.made_at, i.stage,
        i.moved_at, i.typing_at, i.why, t.agent || ':' || t.session, l.agent || ':' || l.session
    from intents i join sessions s on s.id = i.session left join sessions t on t.id = i.typed_into
    left join sessions l on l.id = i.led_to";

/// The condition of the partial index.
const OPEN: &str = "i.stage in ('waiting', 'typing', 'typed')";

#[derive(Clone, Debug, Default)]
pub struct IntentFilter<'a> {
    pub seat: Option<&'a str>,
    /// The session it was made for or typed into.
    pub session: Option<&'a SessionKey>,
    pub since: Option<Timestamp>,
    pub limit: u32,
}

/// A stage transition of an intent, with the row of the session that caused it.
pub(crate) struct IntentMove<'a> {
    pub intent: &'a Intent,
    pub to: IntentStage,
    pub why: Option<&'a str>,
    pub at: Timestamp,
    pub session: i64,
}

impl Store {
    pub(crate) fn add_intent(
        &self,
        uid: Uid,
        session: i64,
        wish: &IntentRequest,
        at: Timestamp,
    ) -> Result<()> {
        self.db.run(
            ADD,
            values! {
                uid, self.machine, session, wish.seat, wish.purpose, wish.text, wish.after, at,
                wish.expires_at
            },
        )
    }

    pub(crate) fn move_intent(&self, moved: &IntentMove<'_>) -> Result<()> {
        let IntentMove { intent, to, why, at, session } = moved;
        let row = (intent.uid.0, intent.stage.name(), to.name(), at.0, why, session);
        self.db.run(MOVE, row)
    }

    pub fn intent(&self, uid: Uid) -> Result<Option<Intent>> {
        self.db.first(&format!("{COLUMNS} where i.uid = ?1"), [uid.0])
    }

    /// The seat's intents that have not ended, oldest first.
    pub fn open_intents(&self, seat: &str) -> Result<Vec<Intent>> {
        let query = format!("{COLUMNS} where {OPEN} and i.seat = ?1 order by i.made_at, i.id");
        self.db.all(&query, [seat])
    }

    /// The seats with intents that have not ended.
    pub fn seats_with_intents(&self) -> Result<Vec<String>> {
        let query = format!("select distinct i.seat from intents i where {OPEN} order by i.seat");
        self.db.all(&query, [])
    }

    /// Intents, newest first.
    pub fn intents(&self, wanted: &IntentFilter<'_>) -> Result<Vec<Intent>> {
        let query = format!(
            "{COLUMNS} where (?1 is null or i.seat = ?1) and i.made_at >= ?3
             and (?2 is null or ?2 in (s.agent || ':' || s.session, t.agent || ':' || t.session))
             order by i.made_at desc, i.id desc limit ?4"
        );
        let session = wanted.session.map(ToString::to_string);
        let since = wanted.since.map_or(i64::MIN, |since| since.0);
        self.db.all(&query, (wanted.seat, session, since, wanted.limit))
    }
}

from_row!(Intent { uid, session, wish, made_at, stage, moved_at, typing_at, why, into, led_to });
from_row!(IntentRequest { seat, purpose, text, after, expires_at });
