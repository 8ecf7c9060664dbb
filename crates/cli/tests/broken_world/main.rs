//! A hook in a broken world: it ends well and in time, what could be appended is folded later, and the doctor names the
//! fault and its mend.
#![expect(clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]
#![expect(clippy::disallowed_methods, reason = "starts, stops and times processes")]

#[path = "../common/mod.rs"]
mod common;

mod clock;
mod damage;
mod disk;
mod holder;
mod index;
mod locks;
mod places;
mod settings;
mod signals;
mod trials;
mod user;
mod world;
mod written;
mod year;
