//! Several machines and a hub: real PostgreSQL servers, with TLS and with vectors, and a home for each machine.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]
#![expect(clippy::disallowed_methods, reason = "how long something takes is part of what is tested")]

mod batons;
mod exchange;
mod meaning;
mod outage;
mod proposing;
mod secret;
mod setting_up;
mod talk;
mod teammates;
mod withdrawing;
mod world;
