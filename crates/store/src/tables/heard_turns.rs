//! Turns as reported by hooks: one row each, saved when they begin, when they end, and at each apply in between.
//!
//! The columns written at the beginning of a turn are never changed.

use crate::columns::{Columns, from_row, values};
use crate::query::Query;
use crate::{Result, Store};
use towline_core::id::SessionKey;
use towline_core::session::{SessionTurn, TurnOutcome};
use towline_core::text::SafeText;
use towline_core::time::Timestamp;

/// All columns in the order of the table: hooks parse the names of columns at each prompt.
const FROM: &str = "select * from heard_turns";

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
    pub(crate) fn add_turn(&self, session: i64, turn: &SessionTurn) -> Result<()> {
        let (ended_at, outcome) = turn.ended.unzip();
        self.db.run(
            ADD,
            values! {
                turn.uid, self.machine, session, turn.ordinal, turn.id, turn.origin, turn.prompt,
                turn.started_at, ended_at, outcome,
                turn.tool_calls, turn.tool_failures, turn.steered
            },
        )
    }

    /// Updates a turn; inserts it if it does not exist yet.
    pub(crate) fn save_turn(&self, session: i64, turn: &SessionTurn) -> Result<()> {
        let (ended_at, outcome) = turn.ended.unzip();
        let changed = self.db.change(
            CHANGE,
            values! {
                session, turn.ordinal, ended_at, outcome, turn.tool_calls, turn.tool_failures, turn.steered
            },
        )?;
        if changed == 0 { self.add_turn(session, turn) } else { Ok(()) }
    }

    /// The session's turn that has not ended, by its ordinal, which is the session's last.
    pub(crate) fn open_turn(&self, session: i64, last_ordinal: u32) -> Result<Option<SessionTurn>> {
        // The session has no prompt yet.
        if last_ordinal == 0 {
            return Ok(None);
        }
        let query = format!("{FROM} where session = ?1 and ordinal = ?2 and ended_at is null");
        self.db.first(&query, (session, last_ordinal))
    }

    /// The session's last prompt, of any origin.
    pub fn last_prompt(&self, session: &SessionKey) -> Result<Option<SafeText>> {
        let query = format!("select prompt from heard_turns {OF_SESSION} order by ordinal desc limit 1");
        self.db.first(&query, (session.agent.as_str(), session.id.as_str()))
    }

    /// The turns of a session in order, as reported by its hooks.
    pub fn hook_turns(&self, session: &SessionKey) -> Result<Vec<SessionTurn>> {
        let query = format!("{FROM} {OF_SESSION} order by ordinal");
        self.db.all(&query, (session.agent.as_str(), session.id.as_str()))
    }
}

from_row! { SessionTurn {
    uid, ordinal: ordinal, id, origin, prompt, started_at, ended: ended, tool_calls, tool_failures, steered
} }

/// Behind `machine`, `revision` and `session`.
fn ordinal(columns: &mut Columns<'_>) -> rusqlite::Result<u32> {
    columns.skip(3);
    columns.get()
}

fn ended(columns: &mut Columns<'_>) -> rusqlite::Result<Option<(Timestamp, TurnOutcome)>> {
    let at: Option<Timestamp> = columns.get()?;
    let named = |name: &str| TurnOutcome::ALL.into_iter().find(|outcome| outcome.name() == name);
    let outcome = columns.lenient(named)?.unwrap_or(TurnOutcome::Abandoned);
    Ok(at.map(|at| (at, outcome)))
}
