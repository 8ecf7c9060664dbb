//! Assigns rows that were read before their turn to that turn, by their time.
//!
//! Only moves rows between turns, never changes their content.

use super::Archive;
use crate::Result;
use crate::query::Query;

/// A subagent's file may be read before the file of its session.
const ADOPT_SUBAGENTS: &str = "
    update details set turn = (
        select ifnull(max(t.ordinal), 0) from turns t where t.conversation = details.conversation and t.at <= details.at)
    where subagent is not null and turn = 0";

const NOTE_SUBAGENTS: &str = "
    insert into changes (what, row, from_turn)
    select 'conversation', conversation, 0 from details where subagent is not null and turn = 0 group by conversation";

/// A client may write its first answer before the prompt that it answers: a row that precedes the first turn but is
/// newer than its start belongs to it.
const ADOPT_BODIES: &str = "
    update bodies set turn = 1, place = t.place + 1 from turns t
    where bodies.conversation = ?1 and bodies.turn = 0 and t.conversation = ?1 and t.ordinal = 1 and bodies.at > t.at";
const ADOPT_DETAILS: &str = "
    update details set turn = 1, place = t.place + 1 from turns t
    where details.conversation = ?1 and details.turn = 0 and details.subagent is null
        and t.conversation = ?1 and t.ordinal = 1 and details.at > t.at";
const ADOPT_USAGE: &str = "
    update usage set turn = 1 from turns t
    where usage.conversation = ?1 and usage.turn = 0 and usage.subagent is null
        and t.conversation = ?1 and t.ordinal = 1 and usage.at > t.at";

impl Archive {
    /// Assigns the details of subagents whose files were read before those of their sessions.
    pub fn seat_subagents(&self) -> Result<()> {
        self.db.execute(NOTE_SUBAGENTS, [])?;
        self.db.execute(ADOPT_SUBAGENTS, [])?;
        Ok(())
    }

    /// Moves rows that the client wrote before the first prompt into the first turn.
    pub(super) fn adopt_early_rows(&self, conversation: i64) -> Result<()> {
        for adopt in [ADOPT_BODIES, ADOPT_DETAILS, ADOPT_USAGE] {
            self.db.change(adopt, [conversation])?;
        }
        Ok(())
    }
}
