//! The client side of the hub: connection, sync, sharing, export; and the export of telemetry.
//!
//! Never runs in a hook, and only commands that need the hub wait for it. The archive is never held
//! while waiting for the network.

mod amount;
mod backoff;
pub mod batons;
mod exchange;
pub mod export;
pub mod incoming;
mod leaving;
mod link;
mod meaning;
pub mod otlp;
pub mod outgoing;
mod password;
pub mod proposed;
mod row;
mod seats;
mod state;
mod team;
#[cfg(test)]
mod tests;
mod words;

pub use amount::Amount;
pub use exchange::{Exchanged, exchange, exchange_if_due, preview};
pub use leaving::{counted as counted_own, forget_hub};
pub use link::{Link, NoLink, open_hands};
pub use meaning::{Agreement, agreement, model_here};
pub use row::row_json;
pub use state::Known;
pub use team::{Former, Wanted as TeamQuestion, ask as ask_team};

use crate::capture::Wishes;
use crate::runtime::env::host_name;
use crate::runtime::{Env, archive, settings, spawn};
use std::time::Duration;
use towline_hub::{Machine, MemberRole, Membership};
use towline_store::{Archive, StoreError};

/// The sharing user and their privacy settings.
#[derive(Clone, Copy)]
pub struct Sharing<'a> {
    /// The user's name in the team.
    pub person: &'a str,
    pub wishes: &'a Wishes,
}

/// How long to wait for another writer of the archive.
const PATIENCE: Duration = Duration::from_secs(10);

/// This machine's id and name for the hub.
pub fn machine(env: &Env) -> Result<Machine, NoLink> {
    let writable = archive::open(env, PATIENCE)?.ok_or(NoLink::Busy)?;
    let name = Known::of(&writable.archive)?.machine.unwrap_or_else(host_name);
    Ok(Machine { id: writable.archive.machine(), name })
}

/// Stores the user's name and the machine's name in the joined team.
pub fn note_joined(env: &Env, membership: &Membership, machine: &Machine) -> Result<(), NoLink> {
    let writable = archive::open(env, PATIENCE)?.ok_or(NoLink::Busy)?;
    writable.archive.set_person(&membership.person)?;
    writable.archive.set_admin(membership.rights == MemberRole::Admin)?;
    Ok(state::note_machine(&writable.archive, &machine.name)?)
}

/// How many changes are queued for the hub.
pub fn waiting(env: &Env) -> Result<u64, NoLink> {
    let Some(archive) = Archive::read(&env.home, PATIENCE)? else { return Ok(0) };
    Ok(waiting_in(&archive)?)
}

/// The same in an open archive.
pub fn waiting_in(archive: &Archive) -> Result<u64, StoreError> {
    Ok(u64::try_from(outgoing::waiting(archive)?).unwrap_or(0))
}

/// Starts `tow data work` if a sync is due or telemetry is exported. For commands that have just written and are about to
/// exit.
pub fn nudge(env: &Env) {
    if otlp::is_on(env) || is_due(env, Duration::from_millis(300)).unwrap_or(false) {
        spawn::start_detached(env);
    }
}

/// Whether a hub was joined and a sync with it is due.
fn is_due(env: &Env, patience: Duration) -> Result<bool, StoreError> {
    let wanted = settings(env).hub;
    if !wanted.is_joined() {
        return Ok(false);
    }
    let archive = Archive::read(&env.home, patience)?;
    archive.map_or(Ok(false), |archive| Ok(Known::of(&archive)?.is_due(wanted.every_s, env.later().now)))
}
