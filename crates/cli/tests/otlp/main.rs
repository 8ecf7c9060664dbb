//! Telemetry through the real binary, to a receiver that parses the real protocol: what is sent, what never is, and what
//! happens when the receiver fails.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests report by panicking")]
#![expect(clippy::disallowed_methods, reason = "runs a receiver, and times what waits for it")]

mod failing;
mod receiver;
mod silent;
mod told;
mod world;
