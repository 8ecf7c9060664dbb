//! Changes memories and bookmarks by command: remember, edit, pin, decide on proposals, hold, release, supersede, undo, hide.
//!
//! Refuses before it changes anything, and returns the memories as they are afterwards. Prints nothing.

mod actor;
mod bookmark;
mod change;
mod dismiss;
mod remember;
mod team;

pub use actor::{Actor, Unproven};
pub use bookmark::{BookmarkListing, list_bookmark};
pub use change::{ChangedMemory, MemoryChange, MemoryEdit, change, current};
pub use dismiss::dismiss;
pub use remember::{Proposal, RememberRequest, Remembered, remember};
pub use team::{ForgottenOfOthers, ProposalPart, of_others, propose_forgetting, withdraw_proposals};

use crate::ingest::live;
use crate::query::ownership;
use crate::runtime::{Env, Failure};
use towline_core::id::SessionKey;

/// The session of the agent that runs this command, if there is one.
fn calling_session(env: &Env) -> Result<Option<SessionKey>, Failure> {
    let Some(store) = live::store(env)? else { return Ok(None) };
    Ok(ownership::of_caller(&store)?.map(|session| session.key))
}
