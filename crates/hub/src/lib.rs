//! The hub client: rows shared by a user's machines, or a team, in a PostgreSQL database.
//!
//! Calls block, at most for the configured patience, and run one transaction at a time. Knows nothing of this machine's
//! archive or of the meaning of a row's text. Reads no clock, no environment and no settings.

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

pub use address::{HubAddress, HubPassword, Tls};
pub use error::{HubError, Result};
pub use meaning::{Embedding, EmbeddingSupport, VECTOR_LENGTH};
pub use schema::{Extension, HubSchema, HubStatus, InitOptions, InitOutcome, VERSION};
pub use search::{CANDIDATES, HubCandidate, HubQuery};
pub use seats::{FleetMachine, FleetSeat};
pub use team::{HubProject, Machine, Member, MemberRole, Membership, ProjectVisibility, Team, TeamMachine};
pub use travel::{OutgoingRow, PulledPage, PushOutcome};

use link::HubConn;
use std::time::Duration;

/// A connection to a hub. After a missed deadline every call fails as closed: connect again.
pub struct HubClient {
    link: HubConn,
    /// The hub's schema version, read on first use.
    schema: Option<HubSchema>,
    has_vectors: Option<bool>,
}

#[derive(Clone, Copy)]
enum Need {
    Read,
    Write,
}

impl HubClient {
    /// Connects. `patience` is how long this, and each call, may take.
    pub fn connect(
        address: &HubAddress,
        secret: Option<&HubPassword>,
        patience: Duration,
    ) -> Result<HubClient> {
        Ok(HubClient { link: HubConn::open(address, secret, patience)?, schema: None, has_vectors: None })
    }

    /// Names the hub in an error.
    fn place(&self) -> String {
        self.link.address().to_string()
    }
}
