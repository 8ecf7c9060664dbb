//! The hub as this machine uses it: where it is, how it is spoken to, and when.
//!
//! Nothing of it runs in a hook, and nobody waits for it who did not ask for it. The archive is never held while the
//! network is waited for.

pub mod address;
mod backoff;
mod link;
mod password;
mod row;
mod seats;
mod state;

pub use link::{Link, NoLink, reach};
pub use row::row_json;
pub use seats::tell_seats;
pub use state::Known;

use crate::capture;
use crate::edge::{Edge, host_name};
use std::time::Duration;
use towline_hub::{Machine, Membership};

/// How long whoever writes the archive is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// This machine, as the hub is told of it.
pub fn machine(edge: &Edge) -> Result<Machine, NoLink> {
    let writable = capture::open(edge, PATIENCE)?.ok_or(NoLink::Busy)?;
    let name = Known::of(&writable.archive)?.machine.unwrap_or_else(host_name);
    Ok(Machine { id: writable.archive.machine(), name })
}

/// Remembers who we are to the team that was joined.
pub fn note_joined(edge: &Edge, membership: &Membership, machine: &Machine) -> Result<(), NoLink> {
    let writable = capture::open(edge, PATIENCE)?.ok_or(NoLink::Busy)?;
    writable.archive.set_fact("hub person", &membership.person)?;
    Ok(state::note_machine(&writable.archive, &machine.name)?)
}
