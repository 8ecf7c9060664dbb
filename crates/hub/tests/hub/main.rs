//! The hub against real servers: Debian's, with TLS and SCRAM, and one with pgvector.
//!
//! Every test has its own server, which ends with it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests report by panicking")]

mod bench;
mod connecting;
mod functions;
mod meaning;
mod merging;
mod plans;
mod pool;
mod security;
mod versions;
