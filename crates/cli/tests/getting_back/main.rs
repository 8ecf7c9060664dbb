//! What was captured, got back by a person or a model: recorded conversations, the real binary, a fixed clock and zone.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod detail;
mod export;
mod live;
mod sessions;
mod show;
mod turns;
mod world;
