//! The server as browsers, programs and strangers meet it: every route, every check, the stream, hosts without hooks.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests drive processes and report by panicking"
)]

mod client;
mod fuzz;
mod hosts;
mod opening;
mod principals;
mod routes;
mod security;
mod stream;
mod world;
mod writing;
