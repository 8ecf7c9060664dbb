//! Where a session sits: the process tree, terminals and multiplexers.
//!
//! Reads `/proc` and asks multiplexers. It knows no agent: who looks for one says how to recognise it. Only
//! `driver` types, and nothing but a tmux server's settings is changed, when asked to.

pub mod driver;
pub mod place;
pub mod process;
pub mod project;
pub mod repository;
pub mod tail;
pub mod tmux;
pub mod tmux_settings;
