//! Our tools in the real clients: registered by `tow install`, or brought by the plugin.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests report by panicking")]

mod across;
mod desk;
mod machines;
mod plugin;
mod poisoned;
mod tools;
