//! Several machines and a hub: real PostgreSQL servers, with TLS and with vectors, and a home for each machine.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod exchange;
mod outage;
mod secret;
mod setting_up;
mod world;
