//! Rows that were read before the turn they belong to, and find it by the time at which they were written.
//!
//! Moves rows between turns and nothing else: what they say stays as it was taken in.

use super::Archive;
use crate::StoreError;

/// A helper's file may be read before that of its session.
const SEAT_HELPERS: &str = "
    update details set turn = (
        select ifnull(max(t.ordinal), 0) from turns t where t.conversation = details.conversation and t.at <= details.at)
    where subagent is not null and turn = 0";

const NOTE_HELPERS: &str = "
    insert into changes (what, row, from_turn)
    select 'conversation', conversation, 0 from details where subagent is not null and turn = 0 group by conversation";

/// A client may write its first answer before the prompt that it answers: what stands before the first turn and came after it
/// belongs to it.
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
    /// Finds the turns of helpers whose files were read before those of their sessions.
    pub fn seat_helpers(&self) -> Result<(), StoreError> {
        self.db.execute(NOTE_HELPERS, [])?;
        self.db.execute(SEAT_HELPERS, [])?;
        Ok(())
    }

    /// Gives the first turn what its client wrote before its prompt.
    pub(super) fn seat_early(&self, conversation: i64) -> Result<(), StoreError> {
        for adopt in [ADOPT_BODIES, ADOPT_DETAILS, ADOPT_USAGE] {
            self.db.prepare_cached(adopt)?.execute([conversation])?;
        }
        Ok(())
    }
}
