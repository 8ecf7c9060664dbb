//! Locates sessions: the process tree, terminals and multiplexers.
//!
//! Reads `/proc` and queries multiplexers. It knows no agent: the caller says how to recognise one. Only `driver`
//! types, and only `tmux_settings` changes a tmux server's settings, on request.

pub mod child;
pub mod driver;
pub mod person;
pub mod place;
pub mod process;
pub mod project;
pub mod repository;
pub mod tail;
pub mod tmux;
pub mod tmux_settings;
