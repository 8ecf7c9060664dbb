//! Intents: what was meant to be typed, when and why, and how it ended.
//!
//! A stage is changed by the statement that finds the one it may follow: what has ended stays as it ended.

use super::batons::key;
use super::heard_turns::kept;
use super::sessions::{session_key, word};
use crate::{Store, StoreError};
use rusqlite::{OptionalExtension, Row};
use towline_core::id::{SessionKey, Uid};
use towline_core::time::Timestamp;
use towline_core::typing::{Intent, Purpose, Stage, Wish};

/// A journal that is read twice must not make it twice.
const ADD: &str = "
    insert into intents (uid, machine, revision, session, seat, purpose, text, after_intent, made_at, expires_at, stage, moved_at)
    values (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'waiting', ?8) on conflict do nothing";

/// Where typing begins, when and into which session is kept beside it.
const MOVE: &str = "
    update intents set revision = revision + 1, stage = ?3, moved_at = ?4, why = ?5,
        typing_at = case when ?3 = 'typing' then ?4 else typing_at end,
        typed_into = case when ?3 = 'typing' then ?6 else typed_into end,
        led_to = case when ?3 = 'confirmed' then ?6 else led_to end
    where uid = ?1 and stage = ?2";

const COLUMNS: &str = "
    select i.uid, s.agent || ':' || s.session, i.seat, i.purpose, i.text, i.after_intent, i.made_at, i.expires_at, i.stage,
        i.moved_at, i.typing_at, i.why, t.agent || ':' || t.session, l.agent || ':' || l.session
    from intents i join sessions s on s.id = i.session left join sessions t on t.id = i.typed_into
    left join sessions l on l.id = i.led_to";

/// As the index has it.
const OPEN: &str = "i.stage in ('waiting', 'typing', 'typed')";

/// Which intents are asked for.
#[derive(Clone, Debug, Default)]
pub struct WantedIntents<'a> {
    pub seat: Option<&'a str>,
    /// Made for it, or typed into it.
    pub session: Option<&'a SessionKey>,
    pub since: Option<Timestamp>,
    pub limit: u32,
}

/// What becomes of an intent, and by which session's row.
pub(crate) struct Move<'a> {
    pub intent: &'a Intent,
    pub to: Stage,
    pub why: Option<&'a str>,
    pub at: Timestamp,
    pub session: i64,
}

impl Store {
    pub(crate) fn add_intent(
        &self,
        uid: Uid,
        session: i64,
        wish: &Wish,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.db.prepare_cached(ADD)?.execute(rusqlite::params![
            uid.0,
            self.machine.0,
            session,
            wish.seat,
            wish.purpose.name(),
            wish.text.as_str(),
            wish.after.map(|before| before.0),
            at.0,
            wish.expires_at.0,
        ])?;
        Ok(())
    }

    pub(crate) fn move_intent(&self, moved: &Move<'_>) -> Result<(), StoreError> {
        let Move { intent, to, why, at, session } = moved;
        let row = (intent.uid.0, intent.stage.name(), to.name(), at.0, why, session);
        self.db.prepare_cached(MOVE)?.execute(row)?;
        Ok(())
    }

    pub fn intent(&self, uid: Uid) -> Result<Option<Intent>, StoreError> {
        let mut statement = self.db.prepare_cached(&format!("{COLUMNS} where i.uid = ?1"))?;
        Ok(statement.query_row([uid.0], intent).optional()?)
    }

    /// Those of a seat of which something may still become, oldest first.
    pub fn open_intents(&self, seat: &str) -> Result<Vec<Intent>, StoreError> {
        let query = format!("{COLUMNS} where {OPEN} and i.seat = ?1 order by i.made_at, i.id");
        let mut statement = self.db.prepare_cached(&query)?;
        Ok(statement.query_map([seat], intent)?.collect::<Result<_, _>>()?)
    }

    /// The seats for which something waits, or is in flight.
    pub fn seats_with_intents(&self) -> Result<Vec<String>, StoreError> {
        let query = format!("select distinct i.seat from intents i where {OPEN} order by i.seat");
        let mut statement = self.db.prepare_cached(&query)?;
        Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Intents, newest first.
    pub fn intents(&self, wanted: &WantedIntents<'_>) -> Result<Vec<Intent>, StoreError> {
        let query = format!(
            "{COLUMNS} where (?1 is null or i.seat = ?1) and i.made_at >= ?3
             and (?2 is null or ?2 in (s.agent || ':' || s.session, t.agent || ':' || t.session))
             order by i.made_at desc, i.id desc limit ?4"
        );
        let mut statement = self.db.prepare_cached(&query)?;
        let session = wanted.session.map(ToString::to_string);
        let since = wanted.since.map_or(i64::MIN, |since| since.0);
        let rows = statement.query_map((wanted.seat, session, since, wanted.limit), intent)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn intent(row: &Row<'_>) -> rusqlite::Result<Intent> {
    let wish = Wish {
        seat: row.get(2)?,
        purpose: word(row, 3, Purpose::named)?,
        text: kept(&row.get::<_, String>(4)?),
        after: row.get::<_, Option<[u8; 16]>>(5)?.map(Uid),
        expires_at: Timestamp(row.get(7)?),
    };
    Ok(Intent {
        uid: Uid(row.get(0)?),
        session: key(row, 1)?,
        wish,
        made_at: Timestamp(row.get(6)?),
        stage: word(row, 8, Stage::named)?,
        moved_at: Timestamp(row.get(9)?),
        typing_at: row.get::<_, Option<i64>>(10)?.map(Timestamp),
        why: row.get(11)?,
        into: session_key(row, 12)?,
        led_to: session_key(row, 13)?,
    })
}
