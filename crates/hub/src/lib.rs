//! The hub: what a person's machines, or a team, share, in a PostgreSQL database.
//!
//! Blocks its caller, for at most its patience, and never more than one question at a time. Knows nothing of the archive
//! of this machine, and what words of a row mean not at all. Reads no clock, no environment and no settings.

mod address;
mod columns;
mod error;
mod link;
mod meaning;
mod own;
mod schema;
mod search;
mod seats;
mod team;
mod tls;
mod travel;
mod value;

pub use address::{Address, Secret, Tls};
pub use error::HubError;
pub use meaning::{Meaning, Meanings, VECTOR_LENGTH};
pub use schema::{Extension, Initialised, Schema, Standing, VERSION, Wanted};
pub use search::{Asked, CANDIDATES, Candidate};
pub use seats::{FleetMachine, FleetSeat};
pub use team::{HubProject, Machine, Member, Membership, Reach, Rights, Team};
pub use travel::{Outgoing, Pulled, Pushed};

use link::Link;
use std::time::Duration;

/// A connection to a hub. After a missed deadline every call says that it is closed: connect anew.
pub struct Hub {
    link: Link,
    /// What was found when it was first asked.
    schema: Option<Schema>,
    has_vectors: Option<bool>,
}

/// What a call is about to do.
#[derive(Clone, Copy)]
enum Need {
    Read,
    Write,
}

impl Hub {
    /// Connects. `patience` is how long this, and each call, may take.
    pub fn connect(address: &Address, secret: Option<&Secret>, patience: Duration) -> Result<Hub, HubError> {
        Ok(Hub { link: Link::open(address, secret, patience)?, schema: None, has_vectors: None })
    }

    fn refused(&self, why: &str) -> HubError {
        HubError::Refused { place: self.link.address().to_string(), why: why.to_owned() }
    }

    fn not_a_member(&self, why: &str) -> HubError {
        HubError::NotAMember { place: self.link.address().to_string(), why: why.to_owned() }
    }
}
