//! Where a session sits: the process tree, terminals and multiplexers.
//!
//! Reads `/proc` and asks multiplexers. It knows no agent: who looks for one says how to recognise it. It types nothing,
//! and changes nothing but a tmux server's settings, when asked to.

pub mod place;
pub mod process;
pub mod project;
pub mod tail;
pub mod tmux;
pub mod tmux_settings;
