//! Turns as reported by hooks: one row each, saved when they begin, when they end, and at each apply in between.
//!
//! The columns written at the beginning of a turn are never changed.

use crate::query::{Query, parse_column};
use crate::{Store, StoreError};
use rusqlite::Row;
use towline_core::event::PromptOrigin;
use towline_core::id::{SessionKey, TurnId, Uid};
use towline_core::session::{SessionTurn, TurnOutcome};
use towline_core::text::{SafeText, SecretPolicy, TextPolicy};
use towline_core::time::Timestamp;

const COLUMNS: &str =
    "uid, ordinal, turn, origin, prompt, started_at, ended_at, outcome, tool_calls, tool_failures, steered";

/// An existing row means that the journal was read twice: it is left as it is.
const ADD: &str = "
    insert into heard_turns (uid, machine, revision, session, ordinal, turn, origin, prompt, started_at, ended_at, outcome,
                       tool_calls, tool_failures, steered)
    values (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
    on conflict do nothing";

/// Leaves the columns written at the beginning; updates only the later ones.
const CHANGE: &str = "
    update heard_turns set revision = revision + 1, ended_at = ?3, outcome = ?4, tool_calls = ?5, tool_failures = ?6,
        steered = ?7
    where session = ?1 and ordinal = ?2";

const OF_SESSION: &str = "where session = (select id from sessions where agent = ?1 and session = ?2)";

impl Store {
    pub(crate) fn add_turn(&self, session: i64, turn: &SessionTurn) -> Result<(), StoreError> {
        self.db.change(
            ADD,
            rusqlite::params![
                turn.uid.0,
                self.machine.0,
                session,
                turn.ordinal,
                turn.id.as_ref().map(TurnId::as_str),
                turn.origin.name(),
                turn.prompt.as_str(),
                turn.started_at.0,
                turn.ended.map(|(at, _)| at.0),
                turn.ended.map(|(_, outcome)| outcome.name()),
                turn.tool_calls,
                turn.tool_failures,
                turn.steered,
            ],
        )?;
        Ok(())
    }

    /// Updates a turn; inserts it if it does not exist yet.
    pub(crate) fn save_turn(&self, session: i64, turn: &SessionTurn) -> Result<(), StoreError> {
        let changed = self.db.change(
            CHANGE,
            (
                session,
                turn.ordinal,
                turn.ended.map(|(at, _)| at.0),
                turn.ended.map(|(_, outcome)| outcome.name()),
                turn.tool_calls,
                turn.tool_failures,
                turn.steered,
            ),
        )?;
        if changed == 0 { self.add_turn(session, turn) } else { Ok(()) }
    }

    /// The session's turn that has not ended, by its ordinal, which is the session's last.
    pub(crate) fn open_turn(
        &self,
        session: i64,
        last_ordinal: u32,
    ) -> Result<Option<SessionTurn>, StoreError> {
        // The session has no prompt yet.
        if last_ordinal == 0 {
            return Ok(None);
        }
        let query = format!(
            "select {COLUMNS} from heard_turns where session = ?1 and ordinal = ?2 and ended_at is null"
        );
        self.db.first(&query, (session, last_ordinal), turn)
    }

    /// The session's last prompt, of any origin.
    pub fn last_prompt(&self, session: &SessionKey) -> Result<Option<SafeText>, StoreError> {
        let query = format!("select prompt from heard_turns {OF_SESSION} order by ordinal desc limit 1");
        let text = |row: &Row<'_>| row.get::<_, String>(0);
        let key = (session.agent.as_str(), session.id.as_str());
        let found = self.db.first(&query, key, text)?;
        Ok(found.map(|prompt| kept(&prompt)))
    }

    /// The turns of a session in order, as reported by its hooks.
    pub fn hook_turns(&self, session: &SessionKey) -> Result<Vec<SessionTurn>, StoreError> {
        let query = format!("select {COLUMNS} from heard_turns {OF_SESSION} order by ordinal");
        self.db.all(&query, (session.agent.as_str(), session.id.as_str()), turn)
    }
}

/// Stored text is already truncated and redacted.
pub(super) fn kept(text: &str) -> SafeText {
    SafeText::new(text, TextPolicy { longest_bytes: usize::MAX / 8, secrets: SecretPolicy::Kept })
}

fn turn(row: &Row<'_>) -> rusqlite::Result<SessionTurn> {
    let ended_at: Option<i64> = row.get(6)?;
    let outcome = match row.get::<_, Option<String>>(7)?.as_deref() {
        Some("completed") => TurnOutcome::Completed,
        Some("failed") => TurnOutcome::Failed,
        Some("interrupted") => TurnOutcome::Interrupted,
        _ => TurnOutcome::Abandoned,
    };
    Ok(SessionTurn {
        uid: Uid(row.get(0)?),
        ordinal: row.get(1)?,
        id: row.get::<_, Option<String>>(2)?.and_then(|id| TurnId::parse(&id).ok()),
        origin: parse_column(row, 3, PromptOrigin::named)?,
        prompt: kept(&row.get::<_, String>(4)?),
        started_at: Timestamp(row.get(5)?),
        ended: ended_at.map(|at| (Timestamp(at), outcome)),
        tool_calls: row.get(8)?,
        tool_failures: row.get(9)?,
        steered: row.get(10)?,
    })
}
