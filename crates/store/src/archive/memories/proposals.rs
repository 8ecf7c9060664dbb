//! Proposals of agents to pin a memory: a mark on its row, and the user's answer.
//!
//! Whether the answer is the user's is checked elsewhere. Accepting vouches for the text as it is then.

use crate::Result;
use crate::archive::{Archive, Conversation};
use crate::query::Query;
use towline_core::time::Timestamp;

const PROPOSE: &str = "
    update memories set revision = revision + 1, proposed_at = ?2
    where id = ?1 and proposed_at is null and pinned_at is null and superseded_at is null";
/// A teammate's memory stays the teammate's.
const ACCEPT: &str = "
    update memories set revision = revision + 1, changed_at = ?2, pinned_at = ?2, proposed_at = null,
        trust = iif(person is null, 'person', trust)
    where id = ?1 and proposed_at is not null";
const REJECT: &str = "
    update memories set revision = revision + 1, changed_at = ?2, proposed_at = null
    where id = ?1 and proposed_at is not null";
const OPEN: &str = "
    select count(*) from memories where proposed_at is not null and superseded_at is null
        and pinned_at is null and (?1 is null or project = ?1)";
const HAS_TRACE: &str = "
    select exists (select 1 from memory_trace t, json_each(?2) w
        where t.memory = ?1 and t.undone_at is null and t.what = w.value)";

impl Archive {
    /// Marks it as proposed. False if it is pinned, replaced or proposed already.
    pub fn propose_memory(&self, number: i64, at: Timestamp) -> Result<bool> {
        self.change_memory(number, at, "proposed", "", || self.db.change(PROPOSE, (number, at.0)))
    }

    /// Pins a proposed memory; from now on it counts as the user's words.
    pub fn accept_memory(&self, number: i64, at: Timestamp) -> Result<bool> {
        self.change_memory(number, at, "accepted", "", || self.db.change(ACCEPT, (number, at.0)))
    }

    /// Removes the proposal. The memory stays what it is.
    pub fn reject_memory(&self, number: i64, at: Timestamp) -> Result<bool> {
        self.change_memory(number, at, "rejected", "", || self.db.change(REJECT, (number, at.0)))
    }

    /// The number of open proposals, in one project or in all.
    pub fn count_proposals(&self, project: Option<i64>) -> Result<u32> {
        self.db.value(OPEN, [project])
    }

    pub fn is_proposal_rejected(&self, number: i64) -> Result<bool> {
        self.db.value(HAS_TRACE, (number, r#"["rejected"]"#))
    }

    /// Whether the user edited, pinned or released it.
    pub fn is_curated(&self, number: i64) -> Result<bool> {
        self.db.value(HAS_TRACE, (number, r#"["edited", "pinned", "accepted", "released"]"#))
    }

    /// The row of its project; `None` if it belongs to all projects.
    pub fn memory_project(&self, number: i64) -> Result<Option<i64>> {
        let project: Option<Option<i64>> =
            self.db.first("select project from memories where id = ?1", [number])?;
        Ok(project.flatten())
    }

    pub fn is_of_project(&self, conversation: &Conversation, project: i64) -> Result<bool> {
        self.db.value("select project is ?2 from conversations where id = ?1", (conversation.id, project))
    }
}
