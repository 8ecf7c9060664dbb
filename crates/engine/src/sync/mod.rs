//! The hub as this machine uses it: where it is, how it is spoken to, and when.
//!
//! Nothing of it runs in a hook, and nobody waits for it who did not ask for it. The archive is never held while the
//! network is waited for.

mod backoff;
pub mod batons;
pub mod export;
pub mod incoming;
mod leaving;
mod link;
mod meaning;
pub mod outgoing;
mod password;
mod row;
mod seats;
mod state;
mod sync;
mod team;
#[cfg(test)]
mod tests;
mod words;

pub use leaving::{counted as counted_own, forget_hub};
pub use link::{Link, NoLink, reach};
pub use meaning::{Agreement, agreement, model_here};
pub use row::row_json;
pub use state::Known;
pub use sync::{Amount, Exchanged, exchange, exchange_if_due, preview};
pub use team::{Former, Wanted as TeamQuestion, ask as ask_team};

use crate::capture::Wishes;
use crate::runtime::archive;
use crate::runtime::config::settings;
use crate::runtime::env::Env;
use crate::runtime::env::host_name;
use crate::runtime::spawn;
use std::time::Duration;
use towline_hub::{Machine, Membership};
use towline_store::{Archive, StoreError};

/// Who shares, and what they want kept to themselves.
#[derive(Clone, Copy)]
pub struct Sharing<'a> {
    /// What the team calls this person.
    pub person: &'a str,
    pub wishes: &'a Wishes,
}

/// How long whoever writes the archive is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// This machine, as the hub is told of it.
pub fn machine(env: &Env) -> Result<Machine, NoLink> {
    let writable = archive::open(env, PATIENCE)?.ok_or(NoLink::Busy)?;
    let name = Known::of(&writable.archive)?.machine.unwrap_or_else(host_name);
    Ok(Machine { id: writable.archive.machine(), name })
}

/// Remembers who we are to the team that was joined.
pub fn note_joined(env: &Env, membership: &Membership, machine: &Machine) -> Result<(), NoLink> {
    let writable = archive::open(env, PATIENCE)?.ok_or(NoLink::Busy)?;
    writable.archive.set_person(&membership.person)?;
    Ok(state::note_machine(&writable.archive, &machine.name)?)
}

/// How many changes wait to be looked at for the hub.
pub fn waiting(env: &Env) -> Result<u64, NoLink> {
    let Some(archive) = Archive::read(&env.home, PATIENCE)? else { return Ok(0) };
    Ok(u64::try_from(outgoing::waiting(&archive)?).unwrap_or(0))
}

/// Starts `tow work` if an exchange is due. For who has just written something and ends.
pub fn nudge(env: &Env) {
    let is_due = || -> Result<bool, StoreError> {
        let wanted = settings(env).hub;
        if !wanted.is_joined() {
            return Ok(false);
        }
        let archive = Archive::read(&env.home, Duration::from_millis(300))?;
        archive.map_or(Ok(false), |archive| Ok(Known::of(&archive)?.is_due(wanted.every_s, env.later().now)))
    };
    if is_due().unwrap_or(false) {
        spawn::start_detached();
    }
}
