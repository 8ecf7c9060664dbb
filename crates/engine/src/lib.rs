//! The application layer: what a hook, a command, an HTTP route or an MCP tool does, as typed functions.
//!
//! Functions take an `Env` (clock, paths, ids) and return data. Nothing here prints, parses a command line or renders
//! JSON for a client. Modules are listed bottom up: each may use those above its line, never those below, and
//! `cargo xtask tidy` checks it.

pub mod runtime;

pub mod index;

pub mod memory;

pub mod capture;

pub mod status;

pub mod handoff;

pub mod notify;

pub mod ingest;

pub mod background;

pub mod erase;

pub mod sync;

pub mod query;

pub mod curate;
