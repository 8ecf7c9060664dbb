//! The viewer in a real browser: every view, what can be changed, what is heard live, what nobody may do to it.
//!
//! Pictures of each view are left in the target folder (`tmp/viewer`), for who wants to look at them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests report by panicking")]

mod acting;
mod desk;
mod live;
mod looks;
mod memories;
mod opening;
mod proposed;
mod reading;
#[path = "../sitter/mod.rs"]
mod sitter;
#[expect(dead_code, reason = "shared with the tests of the hub, which use all of it")]
#[path = "../hub/world.rs"]
mod world;
#[path = "../distil/written.rs"]
mod written;
