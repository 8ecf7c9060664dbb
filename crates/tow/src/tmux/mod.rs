//! Towline inside a tmux server: the user's `@towline-*` options, and what is remembered of each server.
//!
//! Speaks to tmux only through `towline_terminal::tmux`. What an agent is doing is not decided here.

pub mod options;
