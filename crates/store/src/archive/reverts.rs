//! Reverted turns, and turns that were only cut to make room.
//!
//! Deletes no turn: a reverted turn is marked, whether it is read before the revert or after it.

use super::{Archive, Conversation};
use crate::Result;
use crate::query::Query;
use towline_core::time::Timestamp;

pub(super) const ADD_REVERT: &str =
    "insert or ignore into reverts (conversation, from_place, at) values (?1, ?2, ?3)";
const REVERT: &str = "
    update turns set revision = revision + 1, reverted = 1
    where conversation = ?1 and place >= ?2 and at < ?3 and reverted = 0";

/// Turns cut to make room were not undone: their revert is dropped, so that turns read later are not marked either.
const DROP_REVERT: &str = "
    delete from reverts where conversation = ?1
        and at = (select max(at) from reverts where conversation = ?1 and at <= ?2)";
const STAND: &str = "
    update turns set revision = revision + 1, reverted = 0
    where conversation = ?1 and reverted = 1 and not exists (
        select 1 from reverts r where r.conversation = ?1 and r.from_place <= turns.place and r.at > turns.at)";

const DROP_REVERTS: &str = "delete from reverts where conversation = ?1";

/// A turn is reverted by a later prompt that went back to before it.
const REVERTED_BY: &str = "
    select t.ordinal, r.at from turns t join reverts r
        on r.conversation = t.conversation and r.from_place <= t.place and r.at > t.at
    where t.conversation = ?1 and t.reverted = 1";

impl Archive {
    /// The reverted turns of a conversation, with the time of each prompt that reverted them.
    pub fn reverted_by(&self, conversation: &Conversation) -> Result<Vec<(u32, Timestamp)>> {
        self.db.all(REVERTED_BY, [conversation.id])
    }

    /// Returns how many turns are reverted by it now.
    pub(super) fn revert(&self, conversation: i64, from: u64, at: Timestamp) -> Result<usize> {
        let row = (conversation, from.cast_signed(), at.0);
        self.db.change(ADD_REVERT, row)?;
        self.db.change(REVERT, row)
    }

    /// Before a conversation is read again whose reverts may have been taken back.
    pub(super) fn drop_reverts(&self, conversation: i64) -> Result<()> {
        self.db.change(DROP_REVERTS, [conversation])?;
        self.db.run(STAND, [conversation])
    }

    pub(super) fn make_room(&self, conversation: i64, at: Timestamp) -> Result<()> {
        self.db.change(DROP_REVERT, (conversation, at.0))?;
        self.db.run(STAND, [conversation])
    }
}
